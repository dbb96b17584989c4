// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/promote.hpp"
#include "davit/lowering/graph_emitter.hpp"
#include "davit/lowering/plain_calls.hpp"
#include "davit/program/operator_schema.hpp"
#include "davit/program/operators.hpp"

namespace davit {

namespace detail {

/// True for out_dtype(operator, dtype, arguments...) -> tensor.
[[nodiscard]] DAVIT_INLINE bool says_dtype(GraphModuleView graph, const Node& node) noexcept {
  if (graph.target(node) != "higher_order.out_dtype") return false;
  const std::span<const Argument> inputs = graph.inputs(node), outputs = graph.outputs(node);
  return inputs.size() > 2 && (inputs[0].kind == ArgumentKind::operator_name || inputs[0].kind == ArgumentKind::string) &&
         inputs[1].kind == ArgumentKind::scalar_type && outputs.size() == 1 && outputs[0].is_value() &&
         graph.values[outputs[0].value()].kind == ValueKind::tensor && graph.values[outputs[0].value()].dtype == static_cast<ScalarType>(inputs[1].payload) &&
         graph.string(inputs[0]).starts_with("aten.");
}

class PlainCalls {
 public:
  explicit PlainCalls(const ExportedProgram& program)
      : from_(program.view()), emit_(program.graph_module) {}

  [[nodiscard]] GraphModule run() {
    emit_.each_node(from_, [&](NodeId n) {
      if (says_dtype(from_, from_.nodes[n]))
        call(from_.nodes[n]);
      else
        emit_.append(from_.nodes[n]);
    });
    return emit_.finish();
  }

 private:
  /// The dtype in which the operator computes.
  [[nodiscard]] ScalarType computes_in(std::span<const Argument> inputs, ScalarType result) const {
    PromotedType types{.dimensioned = result};
    for (const Argument& input : inputs) {
      if (input.kind == ArgumentKind::float_) types.number = promote(types.number, ScalarType::float32);
      if (input.kind == ArgumentKind::int_) types.number = promote(types.number, ScalarType::int64);
      from_.for_each_value(input, [&](ValueId v) {
        const Value& value = from_.values[v];
        if (value.kind != ValueKind::tensor) return;
        ScalarType& type = value.sizes.count == 0 ? types.zero : types.dimensioned;
        type = promote(type, value.dtype);
      });
    }
    return types.get();
  }
  [[nodiscard]] Item cast(const Item& item, ScalarType to) {
    if (item.is_list()) {
      std::vector<Item> items;
      for (const Item& each : item.items) items.push_back(cast(each, to));
      return Item::list(std::move(items));
    }
    if (!item.is_value() || from_.values[item.value()].kind != ValueKind::tensor || from_.values[item.value()].dtype == to) return item;
    const std::span<const Dim> sizes = from_.dims_of(from_.values[item.value()].sizes);
    const TensorMeta meta{.dtype = to, .sizes = {sizes.begin(), sizes.end()}};
    const NamedItem arguments[] = {{"self", item}, {"dtype", Item::of(GraphBuilder::scalar_type(to))}};
    return emit_.call("aten._to_copy.default", arguments, std::span(&meta, 1), false);
  }
  void call(const Node& node) {
    const std::span<const Argument> inputs = from_.inputs(node);
    const ValueId result = from_.outputs(node)[0].value();
    const std::string_view target = from_.string(inputs[0]), schema_text = find_operator(target);
    const OperatorSchema schema = schema_text.empty() ? OperatorSchema{} : parse_schema(schema_text);
    const ScalarType type = computes_in(inputs.subspan(2), from_.values[result].dtype);
    emit_.metadata = node.metadata;
    std::vector<NamedItem> arguments;
    for (std::size_t i = 2; i < inputs.size(); ++i) {
      const std::string_view name = from_.str(inputs[i].name);
      arguments.push_back({name.empty() && i - 2 < schema.parameters.size() ? schema.parameters[i - 2].name : name, cast(emit_.read(inputs[i]), type)});
    }
    const bool divides = is_integral(type) && target == "aten.div.Tensor";
    const TensorMeta made{.dtype = divides ? ScalarType::float32 : type, .sizes = {emit_.sizes(result).begin(), emit_.sizes(result).end()}};
    const bool as_said = made.dtype == from_.values[result].dtype;
    std::vector<Argument> rows;
    for (const NamedItem& each : arguments) {
      rows.push_back(emit_.argument(each.item));
      rows.back().name = emit_.intern(each.name);
    }
    const Argument output = as_said ? GraphBuilder::value(result) : GraphBuilder::value(emit_.declare(made, "call"));
    emit_.append({.target = emit_.intern(target), .inputs = emit_.list(rows), .outputs = emit_.list({&output, 1}), .metadata = node.metadata});
    if (as_said) return;
    Argument to[] = {output, GraphBuilder::scalar_type(from_.values[result].dtype)};
    to[0].name = emit_.intern("self");
    to[1].name = emit_.intern("dtype");
    to[1].keyword = 1;
    emit_.append({.target = emit_.intern("aten._to_copy.default"), .inputs = emit_.list(to), .outputs = node.outputs, .metadata = node.metadata});
  }

  GraphModuleView from_;
  GraphEmitter emit_;
};

}  // namespace detail

DAVIT_INLINE std::optional<ExportedProgram> with_plain_calls(const ExportedProgram& program) {
  const GraphModuleView graph = program.view();
  bool any = false;
  for (NodeId n = 0; n < graph.nodes.size() && !any; ++n) any = detail::says_dtype(graph, graph.nodes[n]);
  if (!any) return std::nullopt;
  ExportedProgram out = program;
  out.graph_module = detail::PlainCalls(program).run();
  return out;
}

}  // namespace davit
