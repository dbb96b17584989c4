// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/guard_code.hpp"

#include <doctest/doctest.h>

#include <cstddef>

using namespace davit;
using namespace davit::formats::detail;

namespace {

/// An operator that begins with another one precedes it: "<=" before "<".
constexpr bool longer_ones_come_first() {
  for (std::size_t i = 0; i < guard_operators.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (guard_operators[i].text.starts_with(guard_operators[k].text)) return false;
  return true;
}
static_assert(longer_ones_come_first());

constexpr bool arities_fit() {
  for (const GuardCall& call : guard_calls)
    if (guard_operands(call.op) != (call.arity == 0 ? 2u : call.arity)) return false;
  for (const GuardOperator& each : guard_operators)
    if (guard_operands(each.op) != 2 || each.level < 2 || each.level > 13) return false;
  return true;
}
static_assert(arities_fit());

}  // namespace

TEST_CASE("the words of guards are found and have their operators' operands") {
  CHECK(longer_ones_come_first());
  CHECK(arities_fit());
}
