// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/core/evalue.hpp"
#include "davit/program/symbols.hpp"

namespace davit::onednn_ops {

/// True if a size or a number of the graph depends on the inputs.
[[nodiscard]] inline bool has_symbols(GraphModuleView graph) noexcept {
  for (const Value& v : graph.values) {
    if (v.kind == ValueKind::sym_int) return true;
    for (const Dim& d : graph.dims_of(v.sizes))
      if (!d.is_static()) return true;
  }
  return false;
}

/// True for a node that only computes symbolic numbers.
[[nodiscard]] inline bool makes_numbers(GraphModuleView graph, const Node& node) noexcept {
  const std::span<const Argument> outputs = graph.outputs(node);
  for (const Argument& output : outputs)
    if (output.is_list() || (output.is_value() && graph.values[output.value()].kind != ValueKind::sym_int))
      return false;
  return !outputs.empty();
}

/// The body for inputs of these sizes, with a number for every symbol; nothing if a size does not follow from them. Ids
/// of values and nodes stay. O(size of the graph).
[[nodiscard]] inline std::shared_ptr<const ProgramBody> specialize(const ProgramBody& body,
                                                                   std::span<const EValue> inputs) {
  auto out = std::make_shared<ProgramBody>(body);
  GraphModule& graph = out->graph;
  const GraphModuleView from = body.graph.view();
  SymbolValues symbols(from.exprs);
  symbols.settle();
  for (int pass = 0; pass < 2; ++pass) {
    std::size_t next = 0, at = 0;
    for (const Argument& argument : from.args(from.root().inputs)) {
      const InputRole role = body.roles[at++];
      if (role != InputRole::user && role != InputRole::state) continue;
      if (next == inputs.size()) return nullptr;
      const EValue& input = inputs[next++];
      if (!argument.is_value()) continue;
      const Value& v = from.values[argument.value()];
      if (v.kind == ValueKind::sym_int && v.expr != no_id && (!input.is_int() || !symbols.bind(v.expr, input.as_int())))
        return nullptr;
      if (v.kind != ValueKind::tensor) continue;
      const TensorView* const tensor = input.tensor_if();
      const std::span<const Dim> dims = from.dims_of(v.sizes);
      if (tensor == nullptr || tensor->rank != dims.size()) return nullptr;
      for (std::size_t d = 0; d < dims.size(); ++d)
        if (!dims[d].is_static() && (pass == 1 || from.exprs[dims[d].expr].op == ExprOp::symbol) &&
            !symbols.bind(dims[d].expr, tensor->size(d)))
          return nullptr;
    }
    symbols.settle();
  }
  for (Dim& dim : graph.dims) {
    if (dim.is_static()) continue;
    const std::optional<std::int64_t> value = symbols.value(dim);
    dim = {value ? *value : -1};  // an unknown size is refused where it is used
  }
  for (Argument& argument : graph.arguments) {
    if (!argument.is_value() || graph.values[argument.value()].kind != ValueKind::sym_int) continue;
    const Value& v = graph.values[argument.value()];
    const std::optional<std::int64_t> value = v.expr == no_id ? std::optional(v.constant) : symbols.value(v.expr);
    if (!value) return nullptr;
    argument.kind = ArgumentKind::int_;
    argument.payload = *value;
  }
  return out;
}

/// A node of a graph with the example values of its symbols.
class ExampleNode {
 public:
  /// Copies nothing if no argument of the node is a symbolic number.
  ExampleNode(GraphModuleView graph, NodeId node) : view_(graph), node_(node) {
    bool symbolic = false;
    for (const Argument& a : graph.inputs(graph.nodes[node])) symbolic = symbolic || mentions_number(a);
    if (!symbolic) return;
    made_ = graph.nodes[node];
    made_.inputs = copy(graph.inputs(made_));
    made_.outputs = copy(graph.outputs(made_));
    view_.arguments = arguments_;
    view_.nodes = {&made_, 1};
    node_ = 0;
  }
  ExampleNode(const ExampleNode&) = delete;
  ExampleNode& operator=(const ExampleNode&) = delete;

  [[nodiscard]] GraphModuleView view() const noexcept { return view_; }
  [[nodiscard]] NodeId node() const noexcept { return node_; }
  /// True if the uses of the outputs are known.
  [[nodiscard]] bool knows_uses() const noexcept {
    return arguments_.empty() || view_.used != nullptr || made_.outputs.count == 1;
  }

 private:
  [[nodiscard]] bool mentions_number(const Argument& a) const noexcept {
    bool found = false;
    view_.for_each_value(a, [&](ValueId v) { found = found || view_.values[v].kind == ValueKind::sym_int; });
    return found;
  }
  [[nodiscard]] Range copy(std::span<const Argument> list) {
    std::vector<Argument> rows(list.begin(), list.end());
    for (Argument& a : rows) {
      if (a.is_list()) a.items = copy(view_.args(a.items));
      if (!a.is_value() || view_.values[a.value()].kind != ValueKind::sym_int) continue;
      a.payload = view_.values[a.value()].constant;
      a.kind = ArgumentKind::int_;
    }
    const Range range{static_cast<std::uint32_t>(arguments_.size()), static_cast<std::uint32_t>(rows.size())};
    arguments_.insert(arguments_.end(), rows.begin(), rows.end());
    return range;
  }

  GraphModuleView view_;
  NodeId node_;
  Node made_;
  std::vector<Argument> arguments_;
};

}  // namespace davit::onednn_ops
