// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Comparison, logic, and selection by it.
inline constexpr OperatorRow comparison[] = {
    // clang-format off
    {.schema = "aten.eq.Scalar(Tensor self, Scalar other) -> Tensor"sv,
     .complex_rule = R"(aten.eq.Scalar(self, other): logical_and($re(self) == other, $im(self) == 0))"sv},
    {.schema = "aten.eq.Tensor(Tensor self, Tensor other) -> Tensor"sv,
     .complex_rule = R"(aten.eq.Tensor(self, other): logical_and($re(self) == $re(other), $im(self) == $im(other)))"sv},
    {.schema = "aten.ge.Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.ge.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.rule = R"(aten.greater.Scalar = aten.gt.Scalar)"sv},
    {.rule = R"(aten.greater.Tensor = aten.gt.Tensor)"sv},
    {.rule = R"(aten.greater_equal.Scalar = aten.ge.Scalar)"sv},
    {.rule = R"(aten.greater_equal.Tensor = aten.ge.Tensor)"sv},
    {.schema = "aten.gt.Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.gt.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.rule = R"(aten.isclose.default(self, other, rtol=1e-05, atol=1e-08, equal_nan=false):
       e = self == other;
       n = equal_nan && isfloat(self) ? logical_or(e, logical_and(isnan(self), isnan(other))) : e;
       d = abs(self - other);
       rtol == 0 && atol == 0 ? n : logical_or(n, logical_and(isfinite(d), d <= abs(other * rtol) + atol)))"sv},
    {.rule = R"(aten.isfinite.default(self):
       isint(self) ? full(sizes(self), true, dtype=bool) : logical_not(logical_or(isinf(self), isnan(self))))"sv},
    {.schema = "aten.isinf.default(Tensor self) -> Tensor"sv,
     .complex_rule = R"(aten.isinf.default(self): logical_or(isinf($re(self)), isinf($im(self))))"sv},
    {.schema = "aten.isnan.default(Tensor self) -> Tensor"sv,
     .complex_rule = R"(aten.isnan.default(self): logical_or(isnan($re(self)), isnan($im(self))))"sv},
    {.rule = R"(aten.isneginf.default(self): isint(self) ? full(sizes(self), false, dtype=bool) : self == -inf)"sv},
    {.rule = R"(aten.isposinf.default(self): isint(self) ? full(sizes(self), false, dtype=bool) : self == inf)"sv},
    {.schema = "aten.le.Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.le.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.rule = R"(aten.less.Scalar = aten.lt.Scalar)"sv},
    {.rule = R"(aten.less.Tensor = aten.lt.Tensor)"sv},
    {.rule = R"(aten.less_equal.Scalar = aten.le.Scalar)"sv},
    {.rule = R"(aten.less_equal.Tensor = aten.le.Tensor)"sv},
    {.schema = "aten.logical_and.default(Tensor self, Tensor other) -> Tensor"sv,
     .complex_rule = R"(aten.logical_and.default(self, other): logical_and($is_nonzero(self), $is_nonzero(other)))"sv},
    {.schema = "aten.logical_not.default(Tensor self) -> Tensor"sv,
     .complex_rule = R"(aten.logical_not.default(self): logical_not($is_nonzero(self)))"sv},
    {.schema = "aten.logical_or.default(Tensor self, Tensor other) -> Tensor"sv,
     .complex_rule = R"(aten.logical_or.default(self, other): logical_or($is_nonzero(self), $is_nonzero(other)))"sv},
    {.schema = "aten.logical_xor.default(Tensor self, Tensor other) -> Tensor"sv,
     .complex_rule = R"(aten.logical_xor.default(self, other): logical_xor($is_nonzero(self), $is_nonzero(other)))"sv},
    {.schema = "aten.lt.Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.lt.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.ne.Scalar(Tensor self, Scalar other) -> Tensor"sv,
     .complex_rule = R"(aten.ne.Scalar(self, other): logical_not(eq.Scalar(self, other)))"sv},
    {.schema = "aten.ne.Tensor(Tensor self, Tensor other) -> Tensor"sv,
     .complex_rule = R"(aten.ne.Tensor(self, other): logical_not(eq.Tensor(self, other)))"sv},
    {.rule = R"(aten.not_equal.Scalar = aten.ne.Scalar)"sv},
    {.rule = R"(aten.not_equal.Tensor = aten.ne.Tensor)"sv},
    {.rule = R"(aten.signbit.default(self): isfloat(self) ? copysign.Tensor(ones_like(self), self) < 0 : self < 0)"sv},
    {.rule = R"(aten.where.Scalar(condition, self, other): where(condition, self, other))"sv},
    {.rule = R"(aten.where.ScalarOther(condition, self, other): where(condition, self, other))"sv},
    {.rule = R"(aten.where.ScalarSelf(condition, self, other): where(condition, self, other))"sv},
    {.rule = R"(aten.where.default(condition):
       n = nonzero(condition, sizes=[out[0], rank(condition)], as=int64);
       [i in range(0, rank(condition)): select.int(n, 1, i)])"sv},
    {.schema = "aten.where.self(Tensor condition, Tensor self, Tensor other) -> Tensor"sv,
     .complex_rule = R"(aten.where.self(condition, self, other):
       $z(where(condition, $re(self), $re(other)), where(condition, $im(self), $im(other))))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts comparison_facts[] = {
    // clang-format off
    {.name = "aten.eq"sv, .shape = ShapeRule::comparison, .result = ResultRule::boolean},
    {.name = "aten.ge"sv, .shape = ShapeRule::comparison, .result = ResultRule::boolean},
    {.name = "aten.greater"sv, .result = ResultRule::boolean},
    {.name = "aten.greater_equal"sv, .result = ResultRule::boolean},
    {.name = "aten.gt"sv, .shape = ShapeRule::comparison, .result = ResultRule::boolean},
    {.name = "aten.isfinite"sv, .result = ResultRule::boolean},
    {.name = "aten.isinf"sv, .shape = ShapeRule::predicate, .result = ResultRule::boolean},
    {.name = "aten.isnan"sv, .shape = ShapeRule::predicate, .result = ResultRule::boolean},
    {.name = "aten.isneginf"sv, .result = ResultRule::boolean},
    {.name = "aten.isposinf"sv, .result = ResultRule::boolean},
    {.name = "aten.le"sv, .shape = ShapeRule::comparison, .result = ResultRule::boolean},
    {.name = "aten.less"sv, .result = ResultRule::boolean},
    {.name = "aten.less_equal"sv, .result = ResultRule::boolean},
    {.name = "aten.logical_and"sv, .shape = ShapeRule::comparison, .result = ResultRule::boolean},
    {.name = "aten.logical_not"sv, .shape = ShapeRule::predicate, .result = ResultRule::boolean},
    {.name = "aten.logical_or"sv, .shape = ShapeRule::comparison, .result = ResultRule::boolean},
    {.name = "aten.logical_xor"sv, .shape = ShapeRule::comparison, .result = ResultRule::boolean},
    {.name = "aten.lt"sv, .shape = ShapeRule::comparison, .result = ResultRule::boolean},
    {.name = "aten.ne"sv, .shape = ShapeRule::comparison, .result = ResultRule::boolean},
    {.name = "aten.not_equal"sv, .result = ResultRule::boolean},
    {.name = "aten.signbit"sv, .result = ResultRule::boolean},
    {.name = "aten.where"sv, .shape = ShapeRule::where, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .result = ResultRule::promoted},
    // clang-format on
};

}  // namespace davit::operator_families
