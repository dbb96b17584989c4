// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/program/exported_program.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace detail {

/// Follows which values may lie in one storage, and which storages operators write to.
template <class = void>
class InPlaceWrites {
 public:
  constexpr explicit InPlaceWrites(GraphModuleView graph)
      : graph_(graph), class_(graph.values.size()), written_(graph.values.size(), 0), writes_(graph.graphs.size(), 0) {
    for (ValueId v = 0; v < class_.size(); ++v) class_[v] = v;
    for (const Node& node : graph.nodes)
      if (writes_arguments(graph, operator_call(graph, node))) writes_[node.graph] = 1;
    for (std::size_t g = graph.graphs.size(); g-- > 0;)  // a sub-graph's id is larger than that of the graph it is in
      for (const Node& node : graph.nodes_of(graph.graphs[g]))
        for (const Argument& input : graph.inputs(node))
          if (input.kind == ArgumentKind::graph && writes_[input.graph()] != 0) writes_[g] = 1;
    for (const Node& node : graph.nodes) follow(node);
    for (ValueId v = 0; v < class_.size(); ++v)
      if (written_[v] != 0) written_[root(v)] = 1;
  }
  [[nodiscard]] constexpr bool is_written(ValueId v) noexcept { return written_[root(v)] != 0; }
  /// One for all values that may lie in one storage.
  [[nodiscard]] constexpr ValueId root(ValueId v) noexcept {
    while (class_[v] != v) v = class_[v] = class_[class_[v]];
    return v;
  }
  /// Calls `visit(ValueId)` for each value whose storage a node writes to; which operand a sub-graph writes to is not followed.
  template <class Visit>
  constexpr void for_each_written(const Node& node, Visit&& visit) const {
    for (const Argument& input : graph_.inputs(node))
      if (input.kind == ArgumentKind::graph && writes_[input.graph()] != 0)
        for (const Argument& operand : graph_.inputs(node)) graph_.for_each_value(operand, visit);
    davit::for_each_written(graph_, operator_call(graph_, node), [&](const Argument& written) { graph_.for_each_value(written, visit); });
  }

 private:
  constexpr void follow(const Node& node) {
    for_each_written(node, [&](ValueId v) { written_[v] = 1; });
    const OperatorCall call = operator_call(graph_, node);
    for (const Argument& input : call.inputs)
      if (input.kind == ArgumentKind::graph) follow(call, graph_.graphs[input.graph()]);
    const ViewKind kind = view_kind(graph_, call);
    if (in_place(call.target) == InPlace::no && kind == ViewKind::none) return;
    const auto join = [&](ValueId of) {
      if (graph_.values[of].kind != ValueKind::tensor) return;
      for (const Argument& output : call.outputs)
        graph_.for_each_value(output, [&](ValueId v) { class_[root(v)] = root(of); });
    };
    const Argument* self = kind == ViewKind::none || kind == ViewKind::unknown ? nullptr : self_argument(graph_, call);
    if (in_place(call.target) != InPlace::no) {
      davit::for_each_written(graph_, call, [&](const Argument& written) { graph_.for_each_value(written, join); });
    } else if (self != nullptr) {
      join(self->value());
    } else {
      for (const Argument& input : call.inputs) graph_.for_each_value(input, join);
    }
  }
  /// What a sub-graph is passed may be any of its operator's operands, and what it returns any of the operator's results.
  constexpr void follow(const OperatorCall& call, const Graph& body) {
    ValueId one = no_id;
    const auto join = [&](ValueId v) {
      if (graph_.values[v].kind != ValueKind::tensor) return;
      if (one != no_id) class_[root(v)] = root(one);
      one = v;
    };
    for (const Argument& input : call.inputs) graph_.for_each_value(input, join);
    for (const Argument& parameter : graph_.args(body.inputs)) graph_.for_each_value(parameter, join);
    if (call.target == "higher_order.map_impl") return;  // which stacks what its body makes
    for (const Argument& result : graph_.args(body.outputs)) graph_.for_each_value(result, join);
    for (const Argument& output : call.outputs) graph_.for_each_value(output, join);
  }

  GraphModuleView graph_;
  std::vector<ValueId> class_;
  std::vector<std::uint8_t> written_;
  std::vector<std::uint8_t> writes_;  ///< per graph: it or a graph below it has an operator that writes
};

}  // namespace detail

/// Per input of the root graph: whether operators write to it in place, directly or through a view. O(nodes + values +
/// inputs). Source: the alias annotations of torch's operator schemas.
template <class = void>
[[nodiscard]] constexpr std::vector<std::uint8_t> inputs_written_in_place(GraphModuleView graph) {
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  std::vector<std::uint8_t> out(inputs.size(), 0);
  if (!storage_matters(graph)) return out;
  detail::InPlaceWrites<> writes(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    out[i] = inputs[i].is_value() && writes.is_written(inputs[i].value()) ? 1 : 0;
  return out;
}

/// The parameters, buffers and constants among them, by name: torch's training IR has them, and its signature does not
/// name them.
template <class = void>
[[nodiscard]] constexpr std::vector<Name> written_in_place(const ProgramTables& program) {
  std::vector<Name> names;
  const std::vector<std::uint8_t> written = inputs_written_in_place(program.view());
  const std::vector<InputSpec>& specs = program.signature.input_specs;
  for (std::size_t i = 0; i < specs.size() && i < written.size(); ++i) {
    const InputKind k = kind(specs[i]);
    const bool attribute = k == InputKind::parameter || k == InputKind::buffer || k == InputKind::constant_tensor;
    if (attribute && written[i] != 0) names.push_back(*target(specs[i]));
  }
  return names;
}

}  // namespace davit
