// SPDX-License-Identifier: MIT
#include "davit/program/guard_inputs.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../programs.hpp"
#include "davit/program/verify.hpp"
#include "support/guard_program.hpp"

using namespace davit;

TEST_CASE("guards number the user inputs alone") {
  CHECK(guard_names(programs::seed()) == std::vector<Name>{"x1", "x2"});
  CHECK(guard_inputs(programs::seed()).size() == 2);
  const std::vector<GuardInput> inputs = guard_inputs(guard_program::make());
  REQUIRE(inputs.size() == 8);
  CHECK((inputs[0].is_tensor && inputs[0].rank == 2 && !inputs[0].is_number));
  for (std::size_t number = 3; number <= 5; ++number) CHECK((!inputs[number].is_tensor && inputs[number].is_number));
  CHECK((!inputs[6].is_tensor && !inputs[6].is_number));
  CHECK(inputs[7].rank == 3);
  CHECK(is_guard_number(true));
  CHECK(!is_guard_number(Name("text")));
}

TEST_CASE("verify refuses guards about values that user inputs do not have") {
  ProgramTables program = guard_program::make();
  const std::size_t others = verify(program).size();
  program.guards = {.nodes = {{.op = GuardOp::size, .a = 0, .b = 1}}, .roots = {0}};
  CHECK(verify(program).size() == others);
  program.guards.nodes[0].b = 2;
  const std::vector<Error> faults = verify(program);
  REQUIRE(faults.size() == others + 1);
  CHECK(faults.back().where == "guards");
}
