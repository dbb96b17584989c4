// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Arithmetic on elements.
inline constexpr OperatorRow arithmetic[] = {
    // clang-format off
    {.schema = "aten.abs.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.absolute.default = aten.abs.default)"sv},
    {.schema = "aten.add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"sv},
    {.schema = "aten.add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"sv},
    {.schema = "aten.add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"sv},
    {.rule = R"(aten.addcdiv.default(self, tensor1, tensor2, value=1)^:
       value == 1 ? self + tensor1 / tensor2 : self + tensor1 / tensor2 * value)"sv},
    {.rule = R"(aten.addcmul.default(self, tensor1, tensor2, value=1)^:
       value == 1 ? self + tensor1 * tensor2 : self + tensor1 * tensor2 * value)"sv},
    {.schema = "aten.copysign.Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.copysign.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.div.Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor"sv},
    {.schema = "aten.div.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor"sv,
     .form = "aten.div.out_mode = aten.div.Tensor_mode"sv},
    {.schema = "aten.div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"sv},
    {.rule = R"(aten.divide.Scalar = aten.div.Scalar)"sv},
    {.rule = R"(aten.divide.Scalar_mode = aten.div.Scalar_mode)"sv},
    {.rule = R"(aten.divide.Tensor = aten.div.Tensor)"sv},
    {.rule = R"(aten.divide.Tensor_mode = aten.div.Tensor_mode)"sv},
    {.rule = R"(aten.floor_divide.Scalar(self, other): self // other)"sv},
    {.rule = R"(aten.floor_divide.default(self, other): self // other)"sv,
     .form = "aten.floor_divide_.Tensor = aten.floor_divide.default"sv},
    {.schema = "aten.fmod.Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.fmod.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.gcd.default(Tensor self, Tensor other) -> Tensor"sv, .group = OperatorGroup::integers},
    {.rule = R"(aten.heaviside.default(self, values): where(self == 0, values, cast(self > 0, dtype(values))))"sv},
    {.rule = R"(aten.lcm.default(self, other):
       t = promote(self, other);
       a = cast(self, t);
       b = cast(other, t);
       g = gcd(a, b);
       abs(div.Tensor_mode(a, where(g == 0, 1, g), 'trunc') * b))"sv},
    {.rule = R"(aten.lerp.Scalar(self, end, weight)^:
       weight < 0.5 ? self + (end - self) * weight : end - (end - self) * (1 - weight))"sv},
    {.rule = R"(aten.lerp.Tensor(self, end, weight)^:
       d = end - self;
       where(abs(weight) < 0.5, self + d * weight, end - d * (1 - weight)))"sv},
    {.schema = "aten.mul.Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.mul.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"sv},
    {.rule = R"(aten.multiply.Scalar = aten.mul.Scalar)"sv},
    {.rule = R"(aten.multiply.Tensor = aten.mul.Tensor)"sv},
    {.schema = "aten.neg.default(Tensor self) -> Tensor"sv,
     .complex_rule = R"(aten.neg.default(self): $z(-$re(self), -$im(self)))"sv},
    {.rule = R"(aten.negative.default = aten.neg.default)"sv},
    {.rule = R"(aten.positive.default(self): self)"sv},
    {.schema = "aten.reciprocal.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.remainder.Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.rule = R"(aten.remainder.Scalar_Tensor(self, other):
       remainder.Tensor(full(sizes(other), self, dtype=outtype), cast(other, outtype)))"sv},
    {.schema = "aten.remainder.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.rule = R"(aten.rsub.Scalar(self, other, alpha=1):
       alpha == 1 ? other - self : sub.Tensor(full([], other, dtype=outtype), self, alpha=alpha))"sv},
    {.rule = R"(aten.rsub.Tensor(self, other, alpha=1):
       alpha == 1 ? other - self : sub.Tensor(other, self, alpha=alpha))"sv},
    {.schema = "aten.sign.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"sv},
    {.schema = "aten.sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"sv},
    {.schema = "aten.sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"sv},
    {.rule = R"(aten.subtract.Scalar = aten.sub.Scalar)"sv},
    {.rule = R"(aten.subtract.Tensor = aten.sub.Tensor)"sv},
    {.rule = R"(aten.true_divide.Scalar = aten.div.Scalar)"sv},
    {.rule = R"(aten.true_divide.Tensor = aten.div.Tensor)"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts arithmetic_facts[] = {
    // clang-format off
    {.name = "aten.abs"sv, .shape = ShapeRule::absolute, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .result = ResultRule::promoted},
    {.name = "aten.add"sv, .shape = ShapeRule::promoted, .range = RangeBound::sum, .keeps_nonfinite = true,
     .result = ResultRule::promoted, .promotes = true, .takes_number = true, .commutes = true},
    {.name = "aten.addcdiv"sv, .promotes = true},
    {.name = "aten.addcmul"sv, .promotes = true},
    {.name = "aten.copysign"sv, .shape = ShapeRule::quotient, .promotes = true},
    {.name = "aten.div"sv, .shape = ShapeRule::quotient, .range = RangeBound::quotient, .keeps_nonfinite = true,
     .result = ResultRule::floating, .promotes = true, .takes_number = true},
    {.name = "aten.divide"sv, .promotes = true},
    {.name = "aten.floor_divide"sv, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.fmod"sv, .shape = ShapeRule::promoted, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.gcd"sv, .shape = ShapeRule::promoted, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.lcm"sv, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.mul"sv, .shape = ShapeRule::promoted, .range = RangeBound::product, .keeps_nonfinite = true,
     .result = ResultRule::promoted, .promotes = true, .takes_number = true, .commutes = true},
    {.name = "aten.multiply"sv, .promotes = true},
    {.name = "aten.neg"sv, .shape = ShapeRule::same, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .result = ResultRule::promoted},
    {.name = "aten.positive"sv, .view = ViewKind::same},
    {.name = "aten.reciprocal"sv, .shape = ShapeRule::floating, .keeps_nonfinite = true,
     .result = ResultRule::floating},
    {.name = "aten.remainder"sv, .shape = ShapeRule::promoted, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.sign"sv, .shape = ShapeRule::same, .result = ResultRule::promoted},
    {.name = "aten.sub"sv, .shape = ShapeRule::promoted, .range = RangeBound::sum, .keeps_nonfinite = true,
     .result = ResultRule::promoted, .promotes = true, .takes_number = true},
    {.name = "aten.subtract"sv, .promotes = true},
    {.name = "aten.true_divide"sv, .result = ResultRule::floating, .promotes = true},
    // clang-format on
};

/// Forms in which programs write these operators, and others that become simpler.
inline constexpr PatternRow arithmetic_patterns[] = {
    // clang-format off
    {.example = "(x: [2, 3]) exp(x / 1)"sv, .pattern = R"(div.Tensor(x, 1) => x if same(x, out) && hidden(out))"sv,
     .use = PatternUse::always},
    {.example = "(x: [2, 3]) exp(x * 1)"sv, .pattern = R"(mul.Tensor(x, 1) => x if same(x, out) && hidden(out))"sv,
     .use = PatternUse::always},
    {.example = "(x: [2, 3]) exp(sub.Scalar(x, 0))"sv,
     .pattern = R"(sub.Scalar(x, 0) => x if same(x, out) && hidden(out))"sv, .use = PatternUse::always},
    {.example = "(x: [2, 3]) exp(x - 0)"sv, .pattern = R"(sub.Tensor(x, 0) => x if same(x, out) && hidden(out))"sv,
     .use = PatternUse::always},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

enum class BinaryFunction : std::uint8_t { add, subtract, multiply, divide, maximum, minimum };

/// One of ATen's functions of two operands: self, other, and perhaps alpha.
struct BinaryOperator {
  const char* target;
  BinaryFunction function;
  bool scaled = false;  ///< has alpha
};

inline constexpr std::array binary_operators{
    BinaryOperator{"aten.add.Tensor", BinaryFunction::add, true},
    BinaryOperator{"aten.mul.Tensor", BinaryFunction::multiply},
    BinaryOperator{"aten.sub.Tensor", BinaryFunction::subtract, true},
    BinaryOperator{"aten.div.Tensor", BinaryFunction::divide},
    BinaryOperator{"aten.add.Scalar", BinaryFunction::add, true},
    BinaryOperator{"aten.mul.Scalar", BinaryFunction::multiply},
    BinaryOperator{"aten.sub.Scalar", BinaryFunction::subtract, true},
    BinaryOperator{"aten.div.Scalar", BinaryFunction::divide},
    BinaryOperator{"aten.maximum.default", BinaryFunction::maximum},
    BinaryOperator{"aten.minimum.default", BinaryFunction::minimum},
};

}  // namespace davit::operators
