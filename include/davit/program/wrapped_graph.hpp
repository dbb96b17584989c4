// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/scalar_type.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// True for higher-order operators that run one graph on their operands, once, possibly in another mode. One is
/// invoke_subgraph, a call of a compiled region (torch.compiler.nested_compile_region): files hold a copy of its graph
/// for each call.
[[nodiscard]] constexpr bool wraps_graph(std::string_view target) noexcept {
  for (const std::string_view name :
       {"wrap", "wrap_with_autocast", "wrap_with_set_grad_enabled", "wrap_activation_checkpoint",
        "tag_activation_checkpoint", "strict_mode", "hints_wrapper", "invoke_subgraph"})
    if (target.starts_with("higher_order.") && target.substr(13) == name) return true;
  return false;
}

/// A call of a wrapped graph: operands map to parameters, returned values to results.
struct WrappedCall {
  GraphId graph = no_id;
  std::vector<ValueId> operands, parameters, returned, results;
};
/// Reads a call of an operator that wraps a graph; nullopt if its arguments do not have the form of such a call.
/// O(arguments).
[[nodiscard]] constexpr std::optional<WrappedCall> wrapped_call(GraphModuleView graph, const Node& node) {
  const auto flat = [&](std::span<const Argument> arguments) {
    std::vector<Argument> all;
    for (const Argument& a : arguments)
      for (const Argument& each : a.is_list() ? graph.args(a.items) : std::span(&a, 1)) all.push_back(each);
    return all;
  };
  // a constant stays the same on both sides
  const auto pair = [&](std::span<const Argument> from, std::span<const Argument> to, std::vector<ValueId>& of_from,
                        std::vector<ValueId>& of_to) {
    const std::vector<Argument> a = flat(from), b = flat(to);
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].is_value() != b[i].is_value()) return false;
      if (!a[i].is_value()) continue;
      of_from.push_back(a[i].value());
      of_to.push_back(b[i].value());
    }
    return true;
  };
  std::span<const Argument> inputs = graph.inputs(node);
  while (!inputs.empty() && inputs[0].kind != ArgumentKind::graph) inputs = inputs.subspan(1);
  if (inputs.empty()) return std::nullopt;
  WrappedCall call{.graph = inputs[0].graph(), .operands = {}, .parameters = {}, .returned = {}, .results = {}};
  inputs = inputs.subspan(1);
  const bool is_named =
      !inputs.empty() && (inputs[0].kind == ArgumentKind::string || inputs[0].kind == ArgumentKind::none);
  if (graph.target(node) == "higher_order.invoke_subgraph" && is_named)
    inputs = inputs.subspan(1);  // the region's identifier
  const Graph& wrapped = graph.graphs[call.graph];
  const bool fits = pair(inputs, graph.args(wrapped.inputs), call.operands, call.parameters) &&
                    pair(graph.args(wrapped.outputs), graph.outputs(node), call.returned, call.results);
  if (!fits) return std::nullopt;
  return call;
}

/// Returns the lower precision in which a wrapped graph computes; undefined for none. `outer` is the precision around
/// the call. Only the CPU's autocast counts. Source: torch.autocast.
[[nodiscard]] constexpr ScalarType autocast_of(GraphModuleView graph, const Node& node, ScalarType outer) noexcept {
  const std::span<const Argument> inputs = graph.inputs(node);
  if (graph.target(node) != "higher_order.wrap_with_autocast" || inputs.size() < 3) return outer;
  if (inputs[0].kind == ArgumentKind::string && graph.string(inputs[0]) != "cpu") return outer;
  if (inputs[2].payload == 0) return ScalarType::undefined;
  return inputs[1].kind == ArgumentKind::scalar_type ? static_cast<ScalarType>(inputs[1].payload)
                                                     : ScalarType::bfloat16;
}

}  // namespace davit
