// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/program/graph.hpp"

namespace davit::detail {

/// True for out_dtype(operator, dtype, arguments...) -> tensor.
[[nodiscard]] bool says_dtype(GraphModuleView graph, const Node& node) noexcept {
  if (graph.target(node) != "higher_order.out_dtype") return false;
  const std::span<const Argument> inputs = graph.inputs(node), outputs = graph.outputs(node);
  return inputs.size() > 2 &&
         (inputs[0].kind == ArgumentKind::operator_name || inputs[0].kind == ArgumentKind::string) &&
         inputs[1].kind == ArgumentKind::scalar_type && outputs.size() == 1 && outputs[0].is_value() &&
         graph.values[outputs[0].value()].kind == ValueKind::tensor &&
         graph.values[outputs[0].value()].dtype == static_cast<ScalarType>(inputs[1].payload) &&
         graph.string(inputs[0]).starts_with("aten.");
}

/// The parts of associative_scan(graph, [x...], dim or [additional...]) -> y...; nothing for other nodes, and other
/// forms.
struct AssociativeScan {
  GraphId graph = no_id;
  std::int64_t dim = 0;
  std::vector<ValueId> scanned{}, results{};
  std::vector<Argument> additional{};
};
[[nodiscard]] std::optional<AssociativeScan> associative_scan(GraphModuleView graph, const Node& node) {
  if (graph.target(node) != "higher_order.associative_scan") return std::nullopt;
  const std::span<const Argument> inputs = graph.inputs(node);
  if (inputs.size() < 2 || inputs[0].kind != ArgumentKind::graph || !inputs[1].is_list()) return std::nullopt;
  AssociativeScan scan{.graph = inputs[0].graph()};
  bool are_tensors = true;
  const auto append = [&](std::span<const Argument> arguments, std::vector<ValueId>& out) {
    for (const Argument& a : arguments) {
      are_tensors = are_tensors && a.is_value() && graph.values[a.value()].kind == ValueKind::tensor;
      if (are_tensors) out.push_back(a.value());
    }
  };
  append(graph.args(inputs[1].items), scan.scanned);
  for (const Argument& output : graph.outputs(node))
    append(output.is_list() ? graph.args(output.items) : std::span(&output, 1), scan.results);
  for (const Argument& more : inputs.subspan(2)) {
    if (more.kind == ArgumentKind::int_) scan.dim = more.payload;
    if (more.is_list())
      for (const Argument& each : graph.args(more.items)) scan.additional.push_back(each);
  }
  for (const ValueId x : scan.scanned)
    are_tensors = are_tensors && scan.dim >= 0 && graph.values[x].sizes.count > scan.dim;
  const Graph& body = graph.graphs[scan.graph];
  const bool fits = are_tensors && !scan.scanned.empty() && scan.results.size() == scan.scanned.size() &&
                    body.outputs.count == scan.scanned.size() &&
                    body.inputs.count == 2 * scan.scanned.size() + scan.additional.size();
  return fits ? std::optional(std::move(scan)) : std::nullopt;
}

/// True for auto_functionalized_v2(operator, arguments..., _all_bases=[...]) -> (results..., bases...), whose written
/// arguments are views of the bases, or they themselves: none of them a list, no base without a view named twice.
[[nodiscard]] bool writes_bases(GraphModuleView graph, const Node& node) {
  const std::span<const Argument> inputs = graph.inputs(node);
  if (graph.target(node) != "higher_order.auto_functionalized_v2" || inputs.empty() ||
      (inputs[0].kind != ArgumentKind::operator_name && inputs[0].kind != ArgumentKind::string))
    return false;
  const auto bases = std::ranges::find_if(inputs, [&](const Argument& a) { return graph.str(a.name) == "_all_bases"; });
  if (bases == inputs.end() || !bases->is_list() || bases->items.count > graph.outputs(node).size()) return false;
  std::vector<std::uint8_t> is_written(bases->items.count, 0);
  for (const Argument& base : graph.args(bases->items))
    if (!base.is_value()) return false;
  for (const Argument& a : inputs) {
    const std::string_view name = graph.str(a.name);
    if (name.starts_with('_') && name.ends_with("_length")) return false;
    if (!name.starts_with('_') || !name.ends_with("_base_index") || a.kind == ArgumentKind::none) continue;
    if (a.kind != ArgumentKind::int_ || a.payload < 0 || static_cast<std::uint64_t>(a.payload) >= is_written.size() ||
        is_written[static_cast<std::size_t>(a.payload)]++ != 0)
      return false;
  }
  return true;
}

/// The parts of flex_attention(query, key, value, score_mod, block mask..., mask_mod, scale, options, buffers of
/// both...) -> (out, logsumexp, ...); nothing for other nodes, and other forms. The blocks of a mask say where it is
/// true: what mask_mod says is enough.
struct FlexAttention {
  ValueId query = no_id, key = no_id, value = no_id;
  GraphId
      score = no_id,
      mask = no_id;  ///< of (score, batch, head, row, column, buffers...) and of (batch, head, row, column, buffers...)
  double scale = 1;
  std::vector<ValueId> score_buffers{}, mask_buffers{}, results{};
};
[[nodiscard]] std::optional<FlexAttention> flex_attention(GraphModuleView graph, const Node& node) {
  if (graph.target(node) != "higher_order.flex_attention") return std::nullopt;
  std::vector<Argument> inputs;
  const auto flatten = [&](const auto& self, std::span<const Argument> arguments) -> void {
    for (const Argument& a : arguments) {
      if (a.is_list())
        self(self, graph.args(a.items));
      else
        inputs.push_back(a);
    }
  };
  flatten(flatten, graph.inputs(node));
  const auto is_graph = [](const Argument& a) { return a.kind == ArgumentKind::graph; };
  const auto is_tensor = [&](const Argument& a) {
    return a.is_value() && graph.values[a.value()].kind == ValueKind::tensor;
  };
  const auto first = std::ranges::find_if(inputs, is_graph);
  if (first - inputs.begin() != 3 || first == inputs.end() || !std::ranges::all_of(inputs.begin(), first, is_tensor))
    return std::nullopt;
  FlexAttention call{
      .query = inputs[0].value(), .key = inputs[1].value(), .value = inputs[2].value(), .score = first->graph()};
  auto last = first;
  for (auto at = first + 1; at != inputs.end(); ++at)
    if (is_graph(*at)) last = at;
  if (last != first) call.mask = last->graph();
  std::vector<ValueId> buffers;
  bool has_scale = false;
  for (auto at = last + 1; at != inputs.end(); ++at) {
    if (is_tensor(*at)) buffers.push_back(at->value());
    if (at->kind == ArgumentKind::float_ && !std::exchange(has_scale, true))
      call.scale = std::bit_cast<double>(at->payload);
  }
  const std::size_t of_score = graph.graphs[call.score].inputs.count,
                    of_mask = call.mask == no_id ? 4 : graph.graphs[call.mask].inputs.count;
  if (!has_scale || of_score < 5 || of_mask < 4 || buffers.size() != of_score - 5 + of_mask - 4) return std::nullopt;
  call.score_buffers.assign(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(of_score - 5));
  call.mask_buffers.assign(buffers.begin() + static_cast<std::ptrdiff_t>(of_score - 5), buffers.end());
  for (const ValueId v : {call.query, call.key, call.value})
    if (graph.values[v].sizes.count != 4) return std::nullopt;
  for (const Argument& output : graph.outputs(node))
    graph.for_each_value(output, [&](ValueId v) { call.results.push_back(v); });
  return call.results.empty() || call.results.size() > 3 ? std::nullopt : std::optional(std::move(call));
}

}  // namespace davit::detail
