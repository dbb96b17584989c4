// SPDX-License-Identifier: MIT
#include "davit/lowered/lowered_program.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "../support/toy_backend.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::A, support::B, support::Draft, support::Toys, support::Two;

namespace {

LoweredProgram lowered(const LowerOptions& options = {}) {
  Draft d;
  const ValueId x = d.user("x");
  d.output(d.mul("m", d.add("s", x, 1.0), 2.0));
  A::state.refused = "mul";
  auto program = to_backend(d.finish(), CapabilityPartitioner<Two>(), options);
  REQUIRE(program);
  return *std::move(program);
}

}  // namespace

TEST_CASE("copies share everything, and a program outlives its original") {
  const Toys toys;
  std::vector<LoweredProgram> programs{lowered()};
  const LoweredProgram copy = programs[0];
  CHECK(copy.methods().data() == programs[0].methods().data());
  CHECK(&copy.debug_map() == &programs[0].debug_map());
  programs.clear();
  Session session = *Session::make(copy);
  CHECK(support::run(session, {3}) == std::vector<float>{8});
}

TEST_CASE("a program with another debug map is the same program") {
  const Toys toys;
  const LoweredProgram program = lowered();
  CHECK(program.debug_map().entries().size() == 2);
  const LoweredProgram stripped = program.with_debug_map(std::make_shared<const DebugMap>());
  CHECK(stripped.debug_map().entries().empty());
  CHECK(stripped.methods().data() == program.methods().data());
  Session session = *Session::make(stripped);
  CHECK(support::run(session, {3}) == std::vector<float>{8});
}

TEST_CASE("each delegate has its interface, whichever backend it is of") {
  const Toys toys;
  const LoweredProgram program = lowered();
  const LoweredMethod& method = program.methods()[0];
  REQUIRE(method.delegates.size() == 2);
  CHECK(method.delegates[0].interface.outputs[0].name == "s");
  CHECK(method.delegates[1].interface.outputs[0].name == "m");
  CHECK(detail::place_of("forward", method.delegates[1]) == "method 'forward', partition 'toy1_0'");
}

TEST_CASE(
    "compiling later: a partition goes to the next available backend of its chain, else the error is strict or a "
    "warning") {
  const Toys toys;
  A::state.available = B::state.available = false;
  Diagnostics diagnostics;
  LoweredMethod method = lowered({.keep_originals = true}).methods()[0];
  DebugMap map;
  CHECK(detail::compile_delegates(Two::tables(), std::span(&method, 1), false, map, &diagnostics));
  CHECK(diagnostics.warnings.size() == 2);
  const auto strict = detail::compile_delegates(Two::tables(), std::span(&method, 1), true, map, nullptr);
  REQUIRE(!strict);
  CHECK(strict.error().code == ErrorCode::not_available);
  CHECK(strict.error().where == "method 'forward', partition 'toy0_0'");
  CHECK(!strict.error().fix.empty());
  B::state.available = true;
  REQUIRE(detail::compile_delegates(Two::tables(), std::span(&method, 1), true, map, nullptr));
  CHECK(method.delegates[0].backend == 1);
  CHECK(method.delegates[0].handle != nullptr);
  CHECK(map.entries().size() == 1);
}
