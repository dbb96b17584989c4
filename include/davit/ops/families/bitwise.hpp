// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Bitwise operators.
inline constexpr OperatorRow bitwise[] = {
    // clang-format off
    {.rule = R"(aten.__and__.Scalar = aten.bitwise_and.Scalar)"sv},
    {.rule = R"(aten.__and__.Tensor = aten.bitwise_and.Tensor)"sv},
    {.schema = "aten.__lshift__.Scalar(Tensor self, Scalar other) -> Tensor"sv,
     .form = "aten.__ilshift__.Scalar = aten.__lshift__.Scalar"sv},
    {.schema = "aten.__lshift__.Tensor(Tensor self, Tensor other) -> Tensor"sv,
     .form = "aten.__ilshift__.Tensor = aten.__lshift__.Tensor"sv},
    {.rule = R"(aten.__or__.Scalar = aten.bitwise_or.Scalar)"sv},
    {.rule = R"(aten.__or__.Tensor = aten.bitwise_or.Tensor)"sv},
    {.schema = "aten.__rshift__.Scalar(Tensor self, Scalar other) -> Tensor"sv,
     .form = "aten.__irshift__.Scalar = aten.__rshift__.Scalar"sv},
    {.schema = "aten.__rshift__.Tensor(Tensor self, Tensor other) -> Tensor"sv,
     .form = "aten.__irshift__.Tensor = aten.__rshift__.Tensor"sv},
    {.rule = R"(aten.__xor__.Scalar = aten.bitwise_xor.Scalar)"sv},
    {.rule = R"(aten.__xor__.Tensor = aten.bitwise_xor.Tensor)"sv},
    {.schema = "aten.bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor"sv,
     .form = "aten.__iand__.Scalar = aten.bitwise_and.Scalar"sv},
    {.rule = R"(aten.bitwise_and.Scalar_Tensor(self, other): bitwise_and.Scalar(other, self))"sv},
    {.schema = "aten.bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor"sv,
     .form = "aten.__iand__.Tensor = aten.bitwise_and.Tensor"sv},
    {.schema = "aten.bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"sv},
    {.schema = "aten.bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.bitwise_not.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor"sv,
     .form = "aten.__ior__.Scalar = aten.bitwise_or.Scalar"sv},
    {.rule = R"(aten.bitwise_or.Scalar_Tensor(self, other): bitwise_or.Scalar(other, self))"sv},
    {.schema = "aten.bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor"sv,
     .form = "aten.__ior__.Tensor = aten.bitwise_or.Tensor"sv},
    {.schema = "aten.bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"sv},
    {.schema = "aten.bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor"sv,
     .form = "aten.__ixor__.Scalar = aten.bitwise_xor.Scalar"sv},
    {.rule = R"(aten.bitwise_xor.Scalar_Tensor(self, other): bitwise_xor.Scalar(other, self))"sv},
    {.schema = "aten.bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor"sv,
     .form = "aten.__ixor__.Tensor = aten.bitwise_xor.Tensor"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts bitwise_facts[] = {
    // clang-format off
    {.name = "aten.__lshift__"sv, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.__rshift__"sv, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.bitwise_and"sv, .shape = ShapeRule::promoted, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.bitwise_left_shift"sv, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.bitwise_not"sv, .shape = ShapeRule::same, .result = ResultRule::promoted},
    {.name = "aten.bitwise_or"sv, .shape = ShapeRule::promoted, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.bitwise_right_shift"sv, .result = ResultRule::promoted, .promotes = true},
    {.name = "aten.bitwise_xor"sv, .shape = ShapeRule::promoted, .result = ResultRule::promoted, .promotes = true},
    // clang-format on
};

}  // namespace davit::operator_families
