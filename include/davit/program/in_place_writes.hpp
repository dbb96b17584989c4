// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/program/exported_program.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace detail {

/// Finds the values that may share a storage, and the storages that operators write to.
template <class = void>
class InPlaceWrites {
 public:
  constexpr explicit InPlaceWrites(GraphModuleView graph)
      : graph_(graph), class_(graph.values.size()), written_(graph.values.size(), 0), writes_(graph.graphs.size(), 0) {
    for (ValueId v = 0; v < class_.size(); ++v) class_[v] = v;
    for (const Node& node : graph.nodes)
      if (writes_arguments(graph, operator_call(graph, node))) writes_[node.graph] = 1;
    for (std::size_t g = graph.graphs.size(); g-- > 0;)  // a sub-graph's id is larger than its parent's
      for (const Node& node : graph.nodes_of(graph.graphs[g]))
        for (const Argument& input : graph.inputs(node))
          if (input.kind == ArgumentKind::graph && writes_[input.graph()] != 0) writes_[g] = 1;
    for (const Node& node : graph.nodes) follow(node);
    for (ValueId v = 0; v < class_.size(); ++v)
      if (written_[v] != 0) written_[root(v)] = 1;
  }
  [[nodiscard]] constexpr bool is_written(ValueId v) noexcept { return written_[root(v)] != 0; }
  /// Returns one representative for all values that may share a storage.
  [[nodiscard]] constexpr ValueId root(ValueId v) noexcept {
    while (class_[v] != v) v = class_[v] = class_[class_[v]];
    return v;
  }
  /// Calls `visit(ValueId)` for each value whose storage a node writes to; does not track which operand a sub-graph
  /// writes to.
  template <class Visit>
  constexpr void for_each_written(const Node& node, Visit&& visit) const {
    for (const Argument& input : graph_.inputs(node))
      if (input.kind == ArgumentKind::graph && writes_[input.graph()] != 0)
        for (const Argument& operand : graph_.inputs(node)) graph_.for_each_value(operand, visit);
    davit::for_each_written(graph_, operator_call(graph_, node),
                            [&](const Argument& written) { graph_.for_each_value(written, visit); });
  }

 private:
  constexpr void follow(const Node& node) {
    const OperatorCall call = operator_call(graph_, node);
    davit::for_each_written(graph_, call, [&](const Argument& written) {
      graph_.for_each_value(written, [&](ValueId v) { written_[v] = 1; });
    });
    follow(call);
    const ViewKind kind = view_kind(graph_, call);
    if (in_place(call.target) == InPlace::no && kind == ViewKind::none) return;
    const auto shown = [&](ValueId of) {
      for (const Argument& output : call.outputs) graph_.for_each_value(output, [&](ValueId v) { join(v, of); });
    };
    const Argument* self = kind == ViewKind::none || kind == ViewKind::unknown ? nullptr : self_argument(graph_, call);
    if (in_place(call.target) != InPlace::no) {
      davit::for_each_written(graph_, call, [&](const Argument& written) { graph_.for_each_value(written, shown); });
    } else if (self != nullptr) {
      shown(self->value());
    } else {
      for (const Argument& input : call.inputs) graph_.for_each_value(input, shown);
    }
  }
  /// Joins the operands of a control-flow operator with its sub-graph's inputs, and the sub-graph's outputs with the
  /// operator's results; for a loop also results with operands.
  constexpr void follow(const OperatorCall& call) {
    std::size_t first = 0;  // index of the first operand
    for (std::size_t i = 0; i < call.inputs.size(); ++i)
      if (call.inputs[i].kind == ArgumentKind::graph) first = i + 1;
    if (first == 0) return;
    std::vector<ValueId> operands, answers;
    for (const Argument& input : call.inputs.subspan(first))
      if (input.is_list() || input.is_value()) flatten({&input, 1}, operands);
    if (call.target != "higher_order.map_impl") flatten(call.outputs, answers);  // map_impl stacks its results
    for (const Argument& input : call.inputs) {
      if (input.kind != ArgumentKind::graph) continue;
      std::vector<ValueId> parameters, made;
      flatten(graph_.args(graph_.graphs[input.graph()].inputs), parameters);
      join(operands, parameters);
      if (&input != &call.inputs[first - 1] && call.target != "higher_order.cond") continue;
      if (!answers.empty()) flatten(graph_.args(graph_.graphs[input.graph()].outputs), made);
      join(answers, made);
    }
    if (call.target != "higher_order.while_loop" && call.target != "higher_order.scan") return;
    for (std::size_t i = 0; i < std::min(answers.size(), operands.size()); ++i) join(answers[i], operands[i]);
  }
  /// Appends the values of arguments in order, and no_id for other arguments.
  constexpr void flatten(std::span<const Argument> arguments, std::vector<ValueId>& out) const {
    const auto add = [&](const Argument& a) { out.push_back(a.is_value() ? a.value() : no_id); };
    for (const Argument& a : arguments) {
      if (a.is_list())
        std::ranges::for_each(graph_.args(a.items), add);
      else
        add(a);
    }
  }
  /// Joins the lists element by element; joins all their values if the lengths differ.
  constexpr void join(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    for (std::size_t i = 0; a.size() == b.size() && i < a.size(); ++i) join(a[i], b[i]);
    ValueId one = no_id;
    for (const std::vector<ValueId>* list : {&a, &b})
      for (const ValueId v : *list)
        if (a.size() != b.size() && is_tensor(v)) join(std::exchange(one, v), v);
  }
  /// Records that two tensors may share a storage.
  constexpr void join(ValueId a, ValueId b) {
    if (is_tensor(a) && is_tensor(b)) class_[root(a)] = root(b);
  }
  [[nodiscard]] constexpr bool is_tensor(ValueId v) const noexcept {
    return v != no_id && graph_.values[v].kind == ValueKind::tensor;
  }

  GraphModuleView graph_;
  std::vector<ValueId> class_;
  std::vector<std::uint8_t> written_;
  std::vector<std::uint8_t> writes_;  ///< per graph: 1 if an operator in it or in its sub-graphs writes
};

}  // namespace detail

/// Returns 1 for each input of the root graph that operators write to in place, directly or through a view. O(nodes +
/// values + inputs). Source: the alias annotations of torch's operator schemas.
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

/// Returns the names of the parameters, buffers and constants that operators write to in place. torch's training IR has
/// such writes, and its signature does not list them.
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
