// SPDX-License-Identifier: MIT
#include "davit/testing/judge.hpp"

#include <doctest/doctest.h>

#include "../support/judged.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/program/printer.hpp"
#include "davit/testing/alternating_partitioner.hpp"

using namespace judged;
using testing::AlternatingPartitioner;
using testing::ProgramRecipe;

namespace {

/// Checks programs number `first` to `first + count` in core IR; of one that differs, prints the smallest recipe that still does.
template <class Difference>
void check(std::uint64_t first, std::uint64_t count, const Difference& difference) {
  int failed = 0;
  for (std::uint64_t seed = first; seed < first + count && failed < 5; ++seed) {
    const ProgramRecipe recipe = ProgramRecipe::of(seed);
    if (testing::RandomProgram(recipe).program().dialect == Dialect::training || difference(recipe).empty()) continue;
    ++failed;
    const ProgramRecipe small = recipe.shrunk([&](const ProgramRecipe& r) { return !difference(r).empty(); });
    FAIL_CHECK("seed " << seed << ": " << difference(small) << "\n" << print_graph(testing::RandomProgram(small).program().view()));
  }
}

}  // namespace

TEST_CASE("random programs give what an eager run gives, dealt out at random to backends of which one answers views of its inputs") {
  using List = BackendList<Viewer, Second, portable>;
  check(1000, 500, [](const ProgramRecipe& recipe) {
    return difference(recipe, AlternatingPartitioner<List>{.seed = recipe.seed | 1}, {.feed_back = false, .seed = recipe.seed});
  });
}
