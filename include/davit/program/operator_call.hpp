// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "davit/program/graph.hpp"

namespace davit {

/// The operator that a node carries out, and its arguments: the node's own, or what `with_effects` wraps.
struct OperatorCall {
  std::string_view target;
  std::span<const Argument> inputs;
  std::span<const Argument> outputs;
  const Argument* token = nullptr;  ///< of an effectful call: the output that orders what comes after it
};

/// Unwraps with_effects(token, operator, arguments...) -> (token, results...). O(1).
/// Source: torch._higher_order_ops.effects.WithEffects.
[[nodiscard]] constexpr OperatorCall operator_call(GraphModuleView graph, const Node& node) noexcept {
  const std::span<const Argument> inputs = graph.inputs(node);
  const std::span<const Argument> outputs = graph.outputs(node);
  const bool wraps = graph.target(node) == "higher_order.with_effects" && inputs.size() >= 2 && !outputs.empty() &&
                     (inputs[1].kind == ArgumentKind::operator_name || inputs[1].kind == ArgumentKind::string);
  if (!wraps) return {graph.target(node), inputs, outputs};
  return {graph.string(inputs[1]), inputs.subspan(2), outputs.subspan(1), &outputs[0]};
}

}  // namespace davit
