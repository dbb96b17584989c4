// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Complex numbers and their parts.
inline constexpr OperatorRow complex_numbers[] = {
    // clang-format off
    {.complex_rule = R"(aten._conj.default(self): $z($re(self), -$im(self)))"sv},
    {.complex_rule = R"(aten._conj_physical.default = aten._conj.default)"sv},
    {.rule = R"(aten._neg_view.default = aten.neg.default)"sv},
    {.rule = R"(aten.angle.default(self):
       x = $of_floats(self);
       where(isnan(x), x, where(x < 0, full([], 3.141592653589793, dtype=dtype(x)), full([], 0.0, dtype=dtype(x)))))"sv,
     .complex_rule = R"(aten.angle.default(self): atan2($im(self), $re(self)))"sv},
    {.schema = "aten.complex.default(Tensor real, Tensor imag) -> Tensor"sv},
    {.rule = R"(aten.conj.default(self): self)"sv,
     .complex_rule = R"(aten.conj.default = aten._conj.default)"sv},
    {.rule = R"(aten.conj_physical.default(self): self)"sv,
     .complex_rule = R"(aten.conj_physical.default = aten._conj.default)"sv},
    {.complex_rule = R"(aten.imag.default(self): $im(self))"sv},
    {.rule = R"(aten.isreal.default(self): full(sizes(self), true, dtype=bool))"sv,
     .complex_rule = R"(aten.isreal.default(self): $im(self) == 0)"sv},
    {.schema = "aten.polar.default(Tensor abs, Tensor angle) -> Tensor"sv},
    {.rule = R"(aten.real.default(self): self)"sv,
     .complex_rule = R"(aten.real.default(self): $re(self))"sv},
    {.rule = R"(aten.resolve_conj.default(self): self)"sv},
    {.rule = R"(aten.resolve_neg.default(self): self)"sv},
    {.rule = R"(aten.sgn.default(self): iscomplex(self) ? fail(0) : sign(self))"sv,
     .complex_rule = R"(aten.sgn.default(self): a = abs(self); where(a == 0, 0.0, self / a))"sv},
    {.schema = "aten.view_as_complex.default(Tensor(a) self) -> Tensor(a)"sv},
    {.schema = "aten.view_as_real.default(Tensor(a) self) -> Tensor(a)"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts complex_numbers_facts[] = {
    // clang-format off
    {.name = "aten._conj"sv, .view = ViewKind::transpose},
    {.name = "aten._neg_view"sv, .view = ViewKind::transpose},
    {.name = "aten.complex"sv, .shape = ShapeRule::complex_of_parts},
    {.name = "aten.conj"sv, .view = ViewKind::transpose, .apart = true},
    {.name = "aten.conj_physical"sv, .view = ViewKind::unknown, .apart = true, .computes = true},
    {.name = "aten.imag"sv, .view = ViewKind::other},
    {.name = "aten.polar"sv, .shape = ShapeRule::complex_of_parts, .autocast = AutocastPolicy::full},
    {.name = "aten.real"sv, .view = ViewKind::other},
    {.name = "aten.resolve_conj"sv, .view = ViewKind::maybe_same},
    {.name = "aten.resolve_neg"sv, .view = ViewKind::maybe_same},
    {.name = "aten.view_as_complex"sv, .view = ViewKind::other, .shape = ShapeRule::complex_of_pairs,
     .autocast = AutocastPolicy::full},
    {.name = "aten.view_as_real"sv, .view = ViewKind::other, .shape = ShapeRule::pairs_of_complex},
    // clang-format on
};

}  // namespace davit::operator_families
