// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/program/guard.hpp"

namespace davit::formats::detail {

/// A function that guards may call.
struct GuardCall {
  std::string_view name;
  GuardOp op;
  std::uint8_t arity;  ///< 0: two or more arguments, folded from the left
};
inline constexpr auto guard_calls = std::to_array<GuardCall>({
    {"abs", GuardOp::absolute, 1},
    {"bool", GuardOp::to_bool, 1},
    {"cast_symbool_to_symint_guardless", GuardOp::to_int, 1},
    {"float", GuardOp::to_float, 1},
    {"int", GuardOp::to_int, 1},
    {"math.atan2", GuardOp::atan2, 2},
    {"math.ceil", GuardOp::ceil, 1},
    {"math.floor", GuardOp::floor, 1},
    {"math.hypot", GuardOp::hypot, 2},
    {"math.log", GuardOp::math_log, 2},
    {"math.pow", GuardOp::math_pow, 2},
    {"math.trunc", GuardOp::trunc, 1},
    {"max", GuardOp::max, 0},
    {"min", GuardOp::min, 0},
    {"round", GuardOp::round, 1},
    {"round", GuardOp::round_digits, 2},
    {"torch.sym_float", GuardOp::to_float, 1},
    {"torch.sym_int", GuardOp::to_int, 1},
    {"torch.sym_ite", GuardOp::where, 3},
    {"torch.sym_max", GuardOp::max, 0},
    {"torch.sym_min", GuardOp::min, 0},
    {"torch.sym_not", GuardOp::logical_not, 1},
});

/// A binary operator.
struct GuardOperator {
  std::string_view text;
  GuardOp op;
  int level;  ///< precedence
};
/// Longer operators first. Levels as in Python's grammar, from `if else` (1) to `**` (13).
inline constexpr auto guard_operators = std::to_array<GuardOperator>({
    {"**", GuardOp::power, 13},       {"//", GuardOp::floor_divide, 11}, {"==", GuardOp::equal, 5},
    {"!=", GuardOp::not_equal, 5},    {"<=", GuardOp::less_equal, 5},    {">=", GuardOp::greater_equal, 5},
    {"<<", GuardOp::shift_left, 9},   {">>", GuardOp::shift_right, 9},   {"<", GuardOp::less, 5},
    {">", GuardOp::greater, 5},       {"|", GuardOp::bit_or, 6},         {"^", GuardOp::bit_xor, 7},
    {"&", GuardOp::bit_and, 8},       {"+", GuardOp::add, 10},           {"-", GuardOp::subtract, 10},
    {"*", GuardOp::multiply, 11},     {"/", GuardOp::true_divide, 11},   {"%", GuardOp::modulo, 11},
    {"and", GuardOp::logical_and, 3}, {"or", GuardOp::logical_or, 2},
});

}  // namespace davit::formats::detail
