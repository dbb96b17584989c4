// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Powers, exponentials, logarithms, trigonometric and hyperbolic functions.
inline constexpr OperatorRow elementary_functions[] = {
    // clang-format off
    {.schema = "aten.acos.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.acosh.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.arccos.default = aten.acos.default)"sv},
    {.rule = R"(aten.arccosh.default = aten.acosh.default)"sv},
    {.rule = R"(aten.arcsin.default = aten.asin.default)"sv},
    {.rule = R"(aten.arcsinh.default = aten.asinh.default)"sv},
    {.rule = R"(aten.arctan.default = aten.atan.default)"sv},
    {.rule = R"(aten.arctan2.default = aten.atan2.default)"sv},
    {.rule = R"(aten.arctanh.default = aten.atanh.default)"sv},
    {.schema = "aten.asin.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.asinh.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.atan.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.atan2.default(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.atan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"sv},
    {.schema = "aten.atanh.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.cos.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.cosh.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.deg2rad.default(self): self * 0.017453292519943295)"sv},
    {.schema = "aten.exp.default(Tensor self) -> Tensor"sv,
     .complex_rule = R"(aten.exp.default(self): polar(exp($re(self)), $im(self)))"sv},
    {.rule = R"(aten.exp2.default(self): pow.Scalar(2.0, self, as=isint(self) ? float32 : dtype(self)))"sv},
    {.schema = "aten.expm1.default(Tensor self) -> Tensor"sv,
     .complex_rule = R"(aten.expm1.default(self):
       a = $re(self);
       b = $im(self);
       s = sin(b / 2);
       $z(expm1(a) * cos(b) - s * s * 2, exp(a) * sin(b)))"sv},
    {.rule = R"(aten.float_power.Scalar(self, exponent): pow.Scalar(float(self), cast(exponent, float64)))"sv},
    {.rule = R"(aten.float_power.Tensor_Scalar(self, exponent):
       pow.Tensor_Scalar(cast(self, float64), float(exponent)))"sv,
     .form = "aten.float_power_.Scalar = aten.float_power.Tensor_Scalar"sv},
    {.rule = R"(aten.float_power.Tensor_Tensor(self, exponent):
       pow.Tensor_Tensor(cast(self, float64), cast(exponent, float64)))"sv,
     .form = "aten.float_power_.Tensor = aten.float_power.Tensor_Tensor"sv},
    {.schema = "aten.hypot.default(Tensor self, Tensor other) -> Tensor"sv},
    {.rule = R"(aten.ldexp.Tensor(self, other):
       self * pow.Scalar(2.0, other, as=isint(other) ? float32 : dtype(other)))"sv,
     .form = "aten.ldexp_.default = aten.ldexp.Tensor"sv},
    {.schema = "aten.log.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.log10.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.log1p.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.log2.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.logaddexp.default(self, other)^:
       where(logical_and(isinf(self), self == other), self, maximum(self, other) + log1p(exp(-abs(self - other)))))"sv,
     .complex_rule = R"(aten.logaddexp.default(self, other):
       k = $re(self) >= $re(other);
       where(k, self, other) + log1p(exp(where(k, other - self, self - other))))"sv},
    {.rule = R"(aten.logaddexp2.default(self, other)^:
       where(logical_and(isinf(self), self == other), self,
           maximum(self, other) + log2(exp2(-abs(self - other)) + 1)))"sv},
    {.schema = "aten.pow.Scalar(Scalar self, Tensor exponent) -> Tensor"sv},
    {.schema = "aten.pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor"sv,
     .form = "aten.pow_.Scalar = aten.pow.Tensor_Scalar"sv},
    {.schema = "aten.pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor"sv,
     .form = "aten.pow_.Tensor = aten.pow.Tensor_Tensor"sv},
    {.rule = R"(aten.rad2deg.default(self): self * 57.29577951308232)"sv},
    {.schema = "aten.rsqrt.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.sin.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.sinh.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.sqrt.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.square.default(Tensor self) -> Tensor"sv,
     .rule = R"(aten.square.default(self): self * self)"sv},
    {.schema = "aten.tan.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.tanh.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.tanh_.default(Tensor(a!) self) -> Tensor(a!)"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts elementary_functions_facts[] = {
    // clang-format off
    {.name = "aten.acos"sv, .shape = ShapeRule::floating},
    {.name = "aten.acosh"sv, .shape = ShapeRule::floating},
    {.name = "aten.arctan2"sv, .promotes = true},
    {.name = "aten.asin"sv, .shape = ShapeRule::floating},
    {.name = "aten.asinh"sv, .shape = ShapeRule::floating},
    {.name = "aten.atan"sv, .shape = ShapeRule::floating},
    {.name = "aten.atan2"sv, .shape = ShapeRule::quotient, .result = ResultRule::floating, .promotes = true},
    {.name = "aten.atanh"sv, .shape = ShapeRule::floating},
    {.name = "aten.cos"sv, .shape = ShapeRule::floating, .range = RangeBound::unit, .keeps_nonfinite = true,
     .result = ResultRule::floating},
    {.name = "aten.cosh"sv, .shape = ShapeRule::floating},
    {.name = "aten.exp"sv, .shape = ShapeRule::floating, .keeps_nonfinite = true, .result = ResultRule::floating},
    {.name = "aten.expm1"sv, .shape = ShapeRule::floating, .keeps_nonfinite = true},
    {.name = "aten.hypot"sv, .promotes = true},
    {.name = "aten.ldexp"sv, .promotes = true},
    {.name = "aten.log"sv, .shape = ShapeRule::floating, .keeps_nonfinite = true, .result = ResultRule::floating},
    {.name = "aten.log10"sv, .shape = ShapeRule::floating},
    {.name = "aten.log1p"sv, .shape = ShapeRule::floating, .keeps_nonfinite = true},
    {.name = "aten.log2"sv, .shape = ShapeRule::floating},
    {.name = "aten.pow"sv, .shape = ShapeRule::promoted, .range = RangeBound::power, .keeps_nonfinite = true,
     .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.rsqrt"sv, .shape = ShapeRule::floating, .keeps_nonfinite = true, .result = ResultRule::floating},
    {.name = "aten.sin"sv, .shape = ShapeRule::floating, .range = RangeBound::unit, .keeps_nonfinite = true,
     .result = ResultRule::floating},
    {.name = "aten.sinh"sv, .shape = ShapeRule::floating},
    {.name = "aten.sqrt"sv, .shape = ShapeRule::floating, .keeps_nonfinite = true, .result = ResultRule::floating},
    {.name = "aten.square"sv, .range = RangeBound::power, .keeps_nonfinite = true},
    {.name = "aten.tan"sv, .shape = ShapeRule::floating, .result = ResultRule::floating},
    {.name = "aten.tanh"sv, .shape = ShapeRule::floating, .range = RangeBound::unit, .keeps_nonfinite = true,
     .result = ResultRule::floating},
    // clang-format on
};

}  // namespace davit::operator_families
