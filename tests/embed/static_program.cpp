// SPDX-License-Identifier: MIT
#include "davit/embed/static_program.hpp"

#include <doctest/doctest.h>

#include "support/static_toy.hpp"

namespace {

using namespace davit;

constexpr StaticGraph graph = static_toy::residual::tables.view();
static_assert(graph.name(0) == "bias" && graph.target(0) == "aten.add.Tensor" && graph.inputs[1] == 1);

static_assert(StaticProgram<static_toy::residual>);
static_assert(StaticProgram<static_program_of<static_toy::make_residual>>);
static_assert(!StaticProgram<int>);
static_assert(static_program_of<static_toy::make_residual>::inputs.size() == 2);
static_assert(static_program_of<static_toy::make_running_total>::outputs.size() == 2);

}  // namespace

TEST_CASE("a hand-written program has its constants") {
  const StaticInput& bias = static_toy::residual::inputs[0];
  CHECK(bias.role == StaticRole::constant);
  CHECK(bias.data.as<float>()[1] == -2.0f);
}
