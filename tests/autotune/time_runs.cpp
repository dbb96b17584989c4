// SPDX-License-Identifier: MIT
#include "davit/autotune/time_runs.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "../support/timed_backend.hpp"
#include "davit/lowering/all_node_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::Timed;
using support::TimedToys;
using support::ToyClock;
using Slow = support::timed_backend<0>;
using Fast = support::timed_backend<1>;

namespace {

TimedProgram program_on(std::uint32_t backend, std::uint64_t work = 1) {
  const ExportedProgram program = support::add_mul_add();
  auto lowered = to_backend(program, AllNodePartitioner<Timed>{backend});
  auto inputs = synthetic_inputs(program);
  REQUIRE(lowered);
  REQUIRE(inputs);
  return TimedProgram(*Session::make(*std::move(lowered)), *std::move(inputs), work, 0);
}

}  // namespace

TEST_CASE("the shortest run counts, after one that warms up") {
  const TimedToys toys;
  std::vector<TimedProgram> programs;
  programs.push_back(program_on(0));
  Slow::op_ns = 500;
  time_runs<ToyClock>(programs, {.max_rounds = 6});
  CHECK(programs[0].ns == 100 + 4 * 500 + 2 * 1000);
  CHECK(Slow::state.executed == 7);
}

TEST_CASE("a batch ends after its time, beyond the least number of rounds") {
  const TimedToys toys;
  Slow::call_ns = 400'000'000;
  std::vector<TimedProgram> programs;
  programs.push_back(program_on(0));
  time_runs<ToyClock>(programs, {.min_rounds = 3, .max_rounds = 50, .batch_ms = 1000});
  CHECK(Slow::state.executed == 4);
  time_runs<ToyClock>(programs, {.min_rounds = 1, .max_rounds = 50, .batch_ms = 2500});
  CHECK(Slow::state.executed == 4 + 7);
}

TEST_CASE("a far slower candidate for the same work runs once; for other work it continues") {
  const TimedToys toys;
  Slow::call_ns = 50'000'000;
  std::vector<TimedProgram> programs;
  programs.push_back(program_on(0));
  programs.push_back(program_on(1));
  time_runs<ToyClock>(programs, {.max_rounds = 5});
  CHECK(Slow::state.executed == 1);
  CHECK(Fast::state.executed == 6);
  CHECK(programs[0].ns == 50'000'000 + 6 * 1000);
  programs.clear();
  programs.push_back(program_on(0, 1));
  programs.push_back(program_on(1, 2));
  time_runs<ToyClock>(programs, {.max_rounds = 5});
  CHECK(Slow::state.executed == 1 + 6);
}

TEST_CASE("a program that fails has no time, and is not run again") {
  const TimedToys toys;
  std::vector<TimedProgram> programs;
  programs.push_back(program_on(0));
  programs.push_back(program_on(1));
  Slow::state.fail_at = 2;
  time_runs<ToyClock>(programs, {.max_rounds = 5});
  CHECK(programs[0].ns == no_cost);
  CHECK(Slow::state.executed == 3);
  CHECK(programs[1].ns == 100 + 6 * 1000);
}

TEST_CASE("with a real clock") {
  const TimedToys toys;
  std::vector<TimedProgram> programs;
  programs.push_back(program_on(0));
  programs.back().other_bytes = 1 << 16;
  time_runs(programs, {});
  CHECK(programs[0].ns > 0);
  CHECK(programs[0].ns < 1'000'000'000);
}
