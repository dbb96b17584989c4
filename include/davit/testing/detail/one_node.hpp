// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/lowering/cut_program.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::testing {

/// A program of one node, with the whole program's values that it takes and makes.
struct OneNode {
  ProgramTables tables;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
};

/// Lists all values in the arguments, also inside lists, in order.
[[nodiscard]] inline std::vector<ValueId> values_of(GraphModuleView graph, std::span<const Argument> arguments) {
  std::vector<ValueId> out;
  for (const Argument& a : arguments) graph.for_each_value(a, [&](ValueId v) { out.push_back(v); });
  return out;
}

/// Makes a program of node `n` alone, with its operands as inputs; `target` replaces its operator.
[[nodiscard]] inline OneNode one_node(const GraphModule& all, NodeId n, std::string_view target) {
  OneNode step;
  ProgramTables& out = step.tables;
  const GraphModuleView graph = all.view();
  GraphModule& own = out.graph_module;
  own = {.text = all.text,
         .dims = all.dims,
         .exprs = all.exprs,
         .values = all.values,
         .arguments = all.arguments,
         .nodes = {graph.nodes[n]},
         .graphs = {},
         .metadata = {}};
  Node& node = own.nodes[0];
  node.graph = root_graph;
  node.metadata = no_id;
  if (target != graph.target(node)) {
    node.target = {static_cast<std::uint32_t>(own.text.size()), static_cast<std::uint32_t>(target.size())};
    own.text.insert(own.text.end(), target.begin(), target.end());
  }
  for (const ValueId v : values_of(graph, graph.inputs(node)))
    if (std::ranges::find(step.inputs, v) == step.inputs.end()) step.inputs.push_back(v);
  step.outputs = values_of(graph, graph.outputs(node));
  const auto append = [&](std::span<const ValueId> values) {
    const Range range{static_cast<std::uint32_t>(own.arguments.size()), static_cast<std::uint32_t>(values.size())};
    for (const ValueId v : values) {
      own.arguments.push_back({.payload = v, .kind = ArgumentKind::value});
      own.values[v].graph = root_graph;
      own.values[v].producer = no_id;
    }
    return range;
  };
  const Range inputs = append(step.inputs);
  const Range outputs = append(step.outputs);
  for (const ValueId v : step.outputs) own.values[v].producer = 0;
  own.graphs.push_back({.inputs = inputs, .outputs = outputs, .nodes = {0, 1}});
  for (const ValueId v : step.inputs) {
    if (graph.values[v].kind == ValueKind::token) {
      out.signature.input_specs.push_back(InputTokenSpec{TokenArgument{Name::own(graph.name(v))}});
    } else {
      out.signature.input_specs.push_back(UserInputSpec{user_argument(graph, v)});
    }
  }
  for (const ValueId v : step.outputs) {
    if (graph.values[v].kind == ValueKind::token) {
      out.signature.output_specs.push_back(OutputTokenSpec{TokenArgument{Name::own(graph.name(v))}});
    } else {
      out.signature.output_specs.push_back(UserOutputSpec{user_argument(graph, v)});
    }
  }
  return step;
}

}  // namespace davit::testing
