// SPDX-License-Identifier: MIT
#include "davit/lowering/prepare_program.hpp"

#include <doctest/doctest.h>

#include <string>

#include "../support/toy_backend.hpp"
#include "davit/program/verify.hpp"

using namespace davit;
using support::Draft;

namespace {

std::string targets(const ExportedProgram& program) {
  std::string all;
  const GraphModuleView graph = program.view();
  for (const Node& node : graph.nodes) all += std::string(all.empty() ? "" : " ") + std::string(graph.target(node));
  return all;
}

}  // namespace

TEST_CASE("a program that is prepared already is not copied") {
  Draft d;
  d.output(d.relu("r", d.user("x")));
  const auto prepared = prepare_program(d.finish(), {});
  REQUIRE(prepared);
  CHECK(!*prepared);
}

TEST_CASE("a program becomes functional, and its composite operators are taken apart") {
  Draft d;
  const ValueId a = d.add("a", d.user("x", {2}), 1.0);
  d.op("aten.relu_.default", "relu_", a);
  d.output(d.op("aten.softplus.default", "s", a));
  const auto prepared = prepare_program(d.finish(), {});
  REQUIRE(prepared);
  REQUIRE(*prepared);
  const std::string made = targets(**prepared);
  CHECK(made.starts_with("aten.add.Tensor aten.relu.default "));
  CHECK(made.find("softplus") == std::string::npos);
  CHECK(verify(**prepared).empty());
}

TEST_CASE("what verify says is an error if it is asked") {
  Draft d;
  d.output(d.relu("r", d.user("x")));
  ExportedProgram program = d.finish();
  program.signature.output_specs.clear();
  program.signature.input_specs.clear();
  const auto prepared = prepare_program(program, {});
  REQUIRE(!prepared);
  CHECK(prepared.error().stage == Stage::verify);
  CHECK(prepared.error().what.view().find(" more)") != std::string_view::npos);
  CHECK(prepare_program(program, {}, false).has_value());
}
