// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
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

/// How an operator's name says that it writes: aten's convention for in-place and out= forms. O(size of the name).
enum class InPlace : std::uint8_t {
  no,
  self,  ///< "add_": the first argument
  out,   ///< "atan2.out": the argument `out`
};
[[nodiscard]] constexpr InPlace in_place(std::string_view target) noexcept {
  const std::size_t last = target.rfind('.');
  if (last == std::string_view::npos || last == 0) return InPlace::no;
  const std::string_view base = target.substr(0, last);
  if (base.ends_with('_') && !base.ends_with("__")) return InPlace::self;
  return target.substr(last + 1) == "out" ? InPlace::out : InPlace::no;
}

/// True if a node takes or gives complex tensors. O(values of the node).
[[nodiscard]] constexpr bool has_complex(GraphModuleView graph, const Node& node) noexcept {
  bool found = false;
  const auto look = [&](ValueId v) { found = found || (graph.values[v].kind == ValueKind::tensor && is_complex(graph.values[v].dtype)); };
  for (const Argument& a : graph.inputs(node)) graph.for_each_value(a, look);
  for (const Argument& a : graph.outputs(node)) graph.for_each_value(a, look);
  return found;
}

/// True if an operator of the program writes to its arguments. O(nodes).
[[nodiscard]] constexpr bool writes_in_place(GraphModuleView graph) noexcept {
  for (const Node& node : graph.nodes)
    if (in_place(operator_call(graph, node).target) != InPlace::no) return true;
  return false;
}

/// True if an operator of the program writes to its arguments, or asks how they lie in memory: then a copy of a value is
/// not as good as the value itself. O(nodes).
[[nodiscard]] constexpr bool storage_matters(GraphModuleView graph) noexcept {
  for (const Node& node : graph.nodes) {
    const std::string_view target = operator_call(graph, node).target;
    if (in_place(target) != InPlace::no) return true;
    const std::string_view base = target.substr(0, target.rfind('.'));
    for (const std::string_view asks : {"aten.as_strided", "aten.sym_stride", "aten.sym_storage_offset", "aten.is_contiguous"})
      if (base == asks) return true;
  }
  return false;
}

}  // namespace davit
