// SPDX-License-Identifier: MIT
#include "davit/backend/constant_of.hpp"

#include <doctest/doctest.h>

#include "../programs.hpp"

using namespace davit;

TEST_CASE("a value is constant if the program holds its tensor and no run changes it") {
  ExportedProgram program = programs::seed();
  const Method method{"forward", &program};
  const GraphModuleView graph = method.view();
  std::size_t constants = 0;
  for (std::size_t i = 0; i < program.signature.input_specs.size(); ++i) {
    const ValueId value = graph.args(graph.root().inputs)[i].value();
    const Tensor* const found = constant_of(method, value);
    const Name* const name = target(program.signature.input_specs[i]);
    const bool is_constant = name != nullptr && input_roles(program.signature)[i] == InputRole::constant;
    CHECK((found == (is_constant ? program.tensor_named(*name) : nullptr)));
    constants += found != nullptr ? 1 : 0;
  }
  CHECK(constants == 2);  // my_parameter and my_buffer1; my_buffer2 is changed
  for (const Node& node : graph.nodes) CHECK(constant_of(method, graph.args(node.outputs)[0].value()) == nullptr);
  CHECK(constant_of(method, no_id) == nullptr);
}
