// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "davit/program/exported_program.hpp"
#include "davit/program/graph_builder.hpp"

namespace benchmarks {

/// A chain of adds and subs on 1-element float tensors, with a source line per node; `is_add(i)` selects.
template <class Choose>
davit::ExportedProgram chain(std::size_t nodes, Choose&& is_add) {
  using namespace davit;
  GraphBuilder b;
  b.begin_graph("forward");
  const ValueId x = b.input("x", ScalarType::float32, {1});
  const ValueId h = b.input("h", ScalarType::float32, {1});
  ValueId last = x;
  std::string name = "x";
  for (std::size_t i = 0; i < nodes; ++i) {
    const bool add = is_add(i);
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

/// y = ((x + h) - h) + h ...
inline davit::ExportedProgram add_sub_chain(std::size_t nodes) {
  return chain(nodes, [](std::size_t i) { return i % 2 == 0; });
}
/// `group` adds, then `group` subs, and so on.
inline davit::ExportedProgram alternating_groups(std::size_t nodes, std::size_t group) {
  return chain(nodes, [group](std::size_t i) { return i / group % 2 == 0; });
}

/// y = |-|-x||... with `nodes` alternating operators of one input.
inline davit::ExportedProgram neg_abs_chain(std::size_t nodes) {
  using namespace davit;
  GraphBuilder b;
  b.begin_graph("forward");
  const ValueId x = b.input("x", ScalarType::float32, {1});
  ValueId last = x;
  std::string name = "x";
  for (std::size_t i = 0; i < nodes; ++i) {
    name = "v" + std::to_string(i);
    last = b.call(i % 2 == 0 ? "aten.neg.default" : "aten.abs.default", {{"self", b.value(last)}}, name,
                  ScalarType::float32, {1});
  }
  b.end_graph({last});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature.input_specs = {UserInputSpec{TensorArgument{"x"}}};
  program.signature.output_specs = {UserOutputSpec{TensorArgument{Name(name)}}};
  return program;
}

}  // namespace benchmarks
