// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "davit/program/exported_program.hpp"
#include "davit/program/graph_builder.hpp"

namespace benchmarks {

/// A program of `nodes` alternating adds and subs on 1-element float tensors: y = ((x + h) - h) + h ...
inline davit::ExportedProgram add_sub_chain(std::size_t nodes) {
  using namespace davit;
  GraphBuilder b;
  b.begin_graph("forward");
  const ValueId x = b.input("x", ScalarType::float32, {1});
  const ValueId h = b.input("h", ScalarType::float32, {1});
  ValueId last = x;
  std::string name = "x";
  for (std::size_t i = 0; i < nodes; ++i) {
    const bool add = i % 2 == 0;
    name = (add ? "add_" : "sub_") + std::to_string(i);
    const std::uint32_t source = b.metadata("  File \"chain.py\", line 1, in forward\n    y = x + h - h\n");
    last = b.call(add ? "aten.add.Tensor" : "aten.sub.Tensor", {{"self", b.value(last)}, {"other", b.value(h)}}, name,
                  ScalarType::float32, {1}, source);
  }
  b.end_graph({last});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature.input_specs = {UserInputSpec{TensorArgument{"x"}}, UserInputSpec{TensorArgument{"h"}}};
  program.signature.output_specs = {UserOutputSpec{TensorArgument{Name(name)}}};
  return program;
}

}  // namespace benchmarks
