// SPDX-License-Identifier: MIT
#include "davit/formats/embed/refusals.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "davit/program/graph_builder.hpp"
#include "support/static_toy.hpp"

using namespace davit;

TEST_CASE("an error lists all nodes without a backend, and why") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {4});
  const ValueId sine = static_toy::call(b, "aten.sin.default", "sine", x);
  const ValueId sum = static_toy::add(b, "sum", sine, x);
  b.end_graph({static_toy::call(b, "aten.tan.default", "y", sum)});
  const GraphModule module = std::move(b).finish();
  const StaticGraphRows rows(module.view());
  const std::vector<StaticInput> inputs(1);
  const std::vector<StaticOutput> outputs(1);
  const auto taken =
      formats::check_taken(rows.view(), select_steps<static_toy::adder>(rows.view(), inputs.data(), outputs.data()));
  REQUIRE_FALSE(taken.has_value());
  CHECK(taken.error().what == "static programs have no kernel for 2 nodes");
  CHECK(taken.error().source ==
        "  node 0: sine = aten.sin.default: no addition\n  node 2: y = aten.tan.default: no addition");
}

TEST_CASE("a program of which every node is taken is no error") {
  const StaticGraph rows = static_toy::residual::tables.view();
  const auto& program = static_toy::residual::inputs;
  const std::vector<StaticOutput> outputs(1);
  CHECK(formats::check_taken(rows, select_steps<static_toy::calculator>(rows, program.data(), outputs.data()))
            .has_value());
}
