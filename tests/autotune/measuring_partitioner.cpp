// SPDX-License-Identifier: MIT
#include "davit/autotune/measuring_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../support/timed_backend.hpp"

using namespace davit;
using support::Draft, support::Timed, support::TimedToys, support::ToyClock;
using First = support::timed_backend<0>;
using Second = support::timed_backend<1>;
using Measuring = MeasuringPartitioner<Timed, ToyClock>;
static_assert(Partitioner<Measuring> && Partitioner<AutotunePartitioner<Timed>>);

TEST_CASE("it measures, chooses, and leaves the table with which choosing alone does the same") {
  const TimedToys toys;
  const ExportedProgram program = support::add_mul_add();
  const AutotuneOptions options{.regions = {.regions = 3}};
  First::mul_ns = 5000;
  Second::op_ns = 4000;
  CostTable table;
  const auto first = Measuring(table, options).partition(Method{"forward", &program});
  REQUIRE(first);
  CHECK(first->tags.nodes == std::vector<TagId>{0, 0, 1, 1, 2, 2});
  First::mul_ns = 1;
  const auto again = AutotunePartitioner<Timed>(table, options).partition(Method{"forward", &program});
  REQUIRE(again);
  CHECK(again->tags.nodes == first->tags.nodes);
  CHECK(again->tags.names == first->tags.names);
}

TEST_CASE("buffers that a program writes in place are state when it is measured too") {
  const TimedToys toys;
  Draft d;
  const ValueId n = d.buffer("n", 1);
  const ValueId x = d.user("x");
  d.output(d.mul("m", d.add("a", x, n), 2.0));
  ExportedProgram program = d.finish();
  program.signature.unlisted_state.push_back("n");
  CostTable table;
  auto lowered = to_backend(program, Measuring(table, {.regions = {.regions = 2}}));
  REQUIRE(lowered);
  CHECK(to_backend(program, AutotunePartitioner<Timed>(table, {.regions = {.regions = 2}})));
}

TEST_CASE("a wrong order is an error") {
  const ExportedProgram program = support::add_mul_add();
  CostTable table;
  CHECK(Measuring(table, {.order = {2}}).partition(Method{"forward", &program}).error().code ==
        ErrorCode::out_of_range);
}
