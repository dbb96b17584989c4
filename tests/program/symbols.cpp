// SPDX-License-Identifier: MIT
#include "davit/program/symbols.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "davit/program/graph_builder.hpp"

using namespace davit;

namespace {

constexpr bool check_settle() {
  GraphBuilder b;
  const ExprId s0 = b.symbol("s0");
  const ExprId two = b.expr({.value = 2});
  const ExprId twice = b.expr({.op = ExprOp::mul, .a = two, .b = s0});
  const ExprId half = b.expr({.op = ExprOp::floor_div, .a = s0, .b = two});
  const ExprId rest = b.expr({.op = ExprOp::mod, .a = s0, .b = two});
  const ExprId big = b.expr({.op = ExprOp::gt, .a = s0, .b = two});
  SymbolValues v(b.module().exprs);
  v.settle();
  if (v.value(s0) || v.value(twice) || v.value(two) != 2) return false;
  if (!v.bind(s0, 7)) return false;
  v.settle();
  if (v.value(twice) != 14 || v.value(half) != 3 || v.value(rest) != 1 || v.value(big) != 1) return false;
  if (v.bind(s0, 8) || !v.bind(twice, 14) || v.bind(twice, 15)) return false;
  if (v.value(Dim{.value = 5}) != 5 || v.value(Dim{.value = 5, .expr = twice}) != 14) return false;
  v.reset();
  return !v.value(s0);
}
static_assert(check_settle());

constexpr bool check_solve() {  // the size of an input may be 2 * s0 + 1
  GraphBuilder b;
  const ExprId s0 = b.symbol("s0");
  const ExprId two = b.expr({.value = 2});
  const ExprId one = b.expr({.value = 1});
  const ExprId odd = b.expr({.op = ExprOp::add, .a = b.expr({.op = ExprOp::mul, .a = two, .b = s0}), .b = one});
  SymbolValues v(b.module().exprs);
  v.settle();
  if (!v.bind(odd, 9) || v.value(s0) != 4) return false;
  v.reset();
  v.settle();
  return !v.bind(odd, 10);  // no integer s0
}
static_assert(check_solve());

constexpr bool check_negative() {  // Python's rounding: towards minus infinity
  GraphBuilder b;
  const ExprId a = b.symbol("a");
  const ExprId c = b.symbol("c");
  const ExprId quotient = b.expr({.op = ExprOp::floor_div, .a = a, .b = c});
  const ExprId rest = b.expr({.op = ExprOp::python_mod, .a = a, .b = c});
  const auto divided = [&](std::int64_t x, std::int64_t y) {
    SymbolValues v(b.module().exprs);
    if (!v.bind(a, x) || !v.bind(c, y)) return std::pair<std::int64_t, std::int64_t>(99, 99);
    v.settle();
    return std::pair<std::int64_t, std::int64_t>(v.value(quotient).value_or(88), v.value(rest).value_or(88));
  };
  using P = std::pair<std::int64_t, std::int64_t>;
  return divided(-7, 2) == P{-4, 1} && divided(7, -2) == P{-4, -1} && divided(6, 0) == P{88, 88} &&
         divided(INT64_MIN, -1) == P{88, 88};
}
static_assert(check_negative());

constexpr bool check_overflow() {
  GraphBuilder b;
  const ExprId s = b.symbol("s");
  const ExprId square = b.expr({.op = ExprOp::mul, .a = s, .b = s});
  const ExprId sum = b.expr({.op = ExprOp::add, .a = s, .b = s});
  const ExprId power = b.expr({.op = ExprOp::pow, .a = s, .b = b.expr({.value = 63})});
  SymbolValues v(b.module().exprs);
  if (!v.bind(s, INT64_MAX)) return false;
  v.settle();
  return !v.value(square) && !v.value(sum) && !v.value(power);
}
static_assert(check_overflow());

}  // namespace

TEST_CASE("bound symbols give the values of expressions, and contradictions are found") { CHECK(check_settle()); }
TEST_CASE("an unknown symbol in a linear expression is solved for") { CHECK(check_solve()); }
TEST_CASE("division rounds as Python's, and division by zero is unknown") { CHECK(check_negative()); }
TEST_CASE("arithmetic that overflows is unknown") { CHECK(check_overflow()); }
