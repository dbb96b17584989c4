// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/program/graph.hpp"

namespace davit::formats::detail {

/// A function of sympy or torch.utils._sympy.functions, and its operator.
struct SympyFunction {
  std::string_view name;
  ExprOp op;
  std::uint8_t arity;  ///< 0: any number, folded from the left
};
inline constexpr auto sympy_functions = std::to_array<SympyFunction>({
    {"Add", ExprOp::add, 0},
    {"And", ExprOp::logical_and, 0},
    {"CeilToInt", ExprOp::ceil_to_int, 1},
    {"CleanDiv", ExprOp::floor_div, 2},
    {"Equality", ExprOp::eq, 2},
    {"FloatPow", ExprOp::pow, 2},
    {"FloatTrueDiv", ExprOp::true_div, 2},
    {"FloorDiv", ExprOp::floor_div, 2},
    {"FloorToInt", ExprOp::floor_to_int, 1},
    {"GreaterThan", ExprOp::ge, 2},
    {"IntTrueDiv", ExprOp::int_true_div, 2},
    {"LessThan", ExprOp::le, 2},
    {"Max", ExprOp::max, 0},
    {"Min", ExprOp::min, 0},
    {"Mod", ExprOp::mod, 2},
    {"ModularIndexing", ExprOp::modular_indexing, 3},
    {"Mul", ExprOp::mul, 0},
    {"Not", ExprOp::logical_not, 1},
    {"Or", ExprOp::logical_or, 0},
    {"Pow", ExprOp::pow, 2},
    {"PowByNatural", ExprOp::pow, 2},
    {"PythonMod", ExprOp::python_mod, 2},
    {"RoundToInt", ExprOp::round_to_int, 1},
    {"StrictGreaterThan", ExprOp::gt, 2},
    {"StrictLessThan", ExprOp::lt, 2},
    {"ToFloat", ExprOp::to_float, 1},
    {"TruncToInt", ExprOp::trunc_to_int, 1},
    {"Unequality", ExprOp::ne, 2},
    {"Where", ExprOp::where, 3},
    {"ceiling", ExprOp::ceil_to_int, 1},
    {"floor", ExprOp::floor_to_int, 1},
});

}  // namespace davit::formats::detail
