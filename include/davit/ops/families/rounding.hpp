// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Rounding and limits.
inline constexpr OperatorRow rounding[] = {
    // clang-format off
    {.schema = "aten.ceil.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"sv,
     .rule = R"(aten.clamp.Tensor(self, min=none, max=none)!:
       t = cast(self, outtype);
       l = min == none ? t : maximum(t, cast(min, outtype));
       max == none ? l : minimum(l, cast(max, outtype)))"sv},
    {.schema = "aten.clamp.default(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"sv},
    {.schema = "aten.clamp_.default(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)"sv},
    {.rule = R"(aten.clamp_max.Tensor(self, max): minimum(self, max))"sv},
    {.rule = R"(aten.clamp_max.default(self, max): max == max ? clamp(self, none, max) : self + max)"sv},
    {.rule = R"(aten.clamp_min.Tensor(self, min): maximum(self, min))"sv},
    {.rule = R"(aten.clamp_min.default(self, min): min == min ? clamp(self, min) : self + min)"sv},
    {.rule = R"(aten.clip.Tensor = aten.clamp.Tensor)"sv},
    {.rule = R"(aten.clip.default = aten.clamp.default)"sv},
    {.rule = R"(aten.fix.default = aten.trunc.default)"sv},
    {.schema = "aten.floor.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.fmax.default(self, other):
       where(isnan(self), other, where(logical_or(isnan(other), self >= other), self, other)))"sv},
    {.rule = R"(aten.fmin.default(self, other):
       where(isnan(self), other, where(logical_or(isnan(other), self <= other), self, other)))"sv},
    {.rule = R"(aten.frac.default(self): self - trunc(self))"sv},
    {.schema = "aten.maximum.default(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.minimum.default(Tensor self, Tensor other) -> Tensor"sv},
    {.rule = R"(aten.nan_to_num.default(self, nan=none, posinf=none, neginf=none):
       t = dtype(self);
       m = t == float64 ? 1.7976931348623157e308 :
         t == float16 ? 65504.0 :
         t == bfloat16 ? 3.3895313892515355e38 :
         3.4028234663852886e38;
       high = posinf == none ? m : posinf;
       low = neginf == none ? -m : neginf;
       x = high == m || low == -m ? clamp(self, low == -m ? low : none, high == m ? high : none) : self;
       y = high == m ? x : where(self == inf, high, x);
       z = low == -m ? y : where(self == -inf, low, y);
       isint(self) ? clone(self) : where(isnan(self), nan == none ? 0.0 : nan, z))"sv,
     .complex_rule = R"(aten.nan_to_num.default(self, nan=none, posinf=none, neginf=none):
       view_as_complex(nan_to_num(view_as_real(self), nan, posinf, neginf)))"sv},
    {.schema = "aten.nextafter.default(Tensor self, Tensor other) -> Tensor"sv,
     .group = OperatorGroup::special_functions},
    {.rule = R"(aten.round.decimals(self, decimals)^:
       p = fold(a: 1.0; i in range(0, max(decimals, -decimals)): a * 10);
       decimals < 0 ? round(self / p) * p : round(self * p) / p)"sv},
    {.schema = "aten.round.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.trunc.default(Tensor self) -> Tensor"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts rounding_facts[] = {
    // clang-format off
    {.name = "aten.ceil"sv, .shape = ShapeRule::same, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.clamp"sv, .shape = ShapeRule::promoted, .range = RangeBound::maximum, .result = ResultRule::promoted,
     .promotes = true},
    {.name = "aten.clamp_max"sv, .promotes = true},
    {.name = "aten.clamp_min"sv, .promotes = true},
    {.name = "aten.floor"sv, .shape = ShapeRule::same, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.maximum"sv, .shape = ShapeRule::promoted, .range = RangeBound::maximum,
     .result = ResultRule::promoted},
    {.name = "aten.minimum"sv, .shape = ShapeRule::promoted, .range = RangeBound::maximum,
     .result = ResultRule::promoted},
    {.name = "aten.nextafter"sv, .promotes = true},
    {.name = "aten.round"sv, .shape = ShapeRule::same, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.trunc"sv, .shape = ShapeRule::same, .range = RangeBound::maximum, .keeps_nonfinite = true},
    // clang-format on
};

/// Forms in which programs write these operators, and others that become simpler.
inline constexpr PatternRow rounding_patterns[] = {
    // clang-format off
    {.example = "(x: [2, 3]) where(x == inf, 3, where(x == -inf, -3, where(isnan(x), 0, x)))"sv,
     .pattern = R"(where.self(eq.Scalar(x, inf), p: filled(#posinf),
         where.self(eq.Scalar(x, -inf), n: filled(#neginf), where.self(isnan(x), z: filled(#nan), x)))
       => nan_to_num(self=x, nan=nan, posinf=posinf, neginf=neginf)
       if floating(x) && dtype(x) == dtype(out) && rank(p) == 0 && rank(n) == 0 && rank(z) == 0)"sv,
     .use = PatternUse::composite, .worth_a_pass = true},
    // clang-format on
};

}  // namespace davit::operator_families
