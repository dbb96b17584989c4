// SPDX-License-Identifier: MIT
#include "davit/program/uses.hpp"

#include <doctest/doctest.h>

#include "support/draft.hpp"

using namespace davit;

namespace {

/// The only user of x, then of the sum, which is also an output.
[[nodiscard]] constexpr bool counts_uses() {
  support::Draft d;
  const ValueId x = d.user("x");
  const ValueId sum = d.add("sum", x, 1.0);
  const ValueId unused = d.neg("unused", sum);
  d.output(sum);
  const ProgramTables program = d.finish();
  const Uses uses(program.view());
  return uses.only_user(x) == 0 && uses.only_user(sum) == no_id && uses.any(sum) && !uses.any(unused);
}

}  // namespace

TEST_CASE("a value that leaves the graph has no only user") {
  static_assert(counts_uses());
  CHECK(counts_uses());
}
