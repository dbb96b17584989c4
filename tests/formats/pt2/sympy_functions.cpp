// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/sympy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace davit;
using formats::detail::sympy_functions;
using formats::detail::SympyFunction;

TEST_CASE("functions are sorted by name, each once, and variadic ones can be folded from the left") {
  CHECK(std::ranges::is_sorted(sympy_functions, {}, &SympyFunction::name));
  CHECK(std::ranges::adjacent_find(sympy_functions, {}, &SympyFunction::name) == sympy_functions.end());
  constexpr std::array folded{ExprOp::add, ExprOp::mul,         ExprOp::max,
                              ExprOp::min, ExprOp::logical_and, ExprOp::logical_or};
  for (const SympyFunction& f : sympy_functions) {
    CHECK((f.arity == 0) == (std::ranges::find(folded, f.op) != folded.end()));
    CHECK(f.arity <= 3);
  }
}
