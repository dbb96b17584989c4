// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/program/graph.hpp"

namespace davit {

/// A node's operator and its arguments, unwrapped from `with_effects`.
struct OperatorCall {
  std::string_view target;
  std::span<const Argument> inputs;
  std::span<const Argument> outputs;
  const Argument* token = nullptr;  ///< for an effectful call: the output token that orders later effects
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

/// Unwraps the functional form of an operator that writes to arguments, auto_functionalized(operator, arguments...):
/// returns the operator, its arguments by name, and its results (None if it has none) followed by the new value of each
/// written argument. The target is empty for any other call. O(1). Source:
/// torch._higher_order_ops.auto_functionalize.AutoFunctionalized.
[[nodiscard]] constexpr OperatorCall functional_call(GraphModuleView graph, const OperatorCall& call) noexcept {
  const bool wraps =
      call.target == "higher_order.auto_functionalized" && !call.inputs.empty() && !call.outputs.empty() &&
      (call.inputs[0].kind == ArgumentKind::operator_name || call.inputs[0].kind == ArgumentKind::string);
  if (!wraps) return {};
  return {graph.string(call.inputs[0]), call.inputs.subspan(1), call.outputs, call.token};
}
/// Returns the operator of a node, unwrapped from with_effects and auto_functionalized.
[[nodiscard]] constexpr std::string_view called_operator(GraphModuleView graph, const Node& node) noexcept {
  const OperatorCall call = operator_call(graph, node);
  const std::string_view wrapped = functional_call(graph, call).target;
  return wrapped.empty() ? call.target : wrapped;
}

/// In-place form according to an operator's name, by ATen's conventions for in-place and out= forms. O(size of the
/// name).
enum class InPlace : std::uint8_t {
  no,
  self,  ///< "add_" and "__iand__": writes the first argument
  out,   ///< "atan2.out", "max.dim_max": writes the last arguments, one per output
};
[[nodiscard]] constexpr InPlace in_place(std::string_view target) noexcept {
  const std::size_t last = target.rfind('.');
  if (last == std::string_view::npos || last == 0) return InPlace::no;
  const std::string_view base = target.substr(0, last);
  const std::string_view overload = target.substr(last + 1);
  if (base.ends_with("__") ? base.starts_with("aten.__i") : base.ends_with('_')) return InPlace::self;
  if (overload == "default" || overload == "Tensor") return InPlace::no;  // most nodes: asked for each, many times
  if (overload == "out" || overload.starts_with("out_") || overload.ends_with("_out")) return InPlace::out;
  if (!target.starts_with("aten.")) return InPlace::no;
  // overloads of out= forms without "out" in their names
  for (const std::string_view name : {"L", "Q", "U", "X", "dim_max", "dim_min", "dim_values", "eigenvalues", "eigvals",
                                      "grad_input", "inverse", "output", "result", "sign", "values", "values_stable"})
    if (overload == name) return InPlace::out;
  return InPlace::no;
}

/// Returns the argument of that name, or the unnamed argument at that position; nullptr if there is none.
[[nodiscard]] constexpr const Argument* find_argument(GraphModuleView graph, const OperatorCall& call,
                                                      std::string_view name, std::uint32_t place) noexcept {
  for (const Argument& input : call.inputs)
    if (graph.str(input.name) == name) return &input;
  return place < call.inputs.size() && call.inputs[place].name.size == 0 ? &call.inputs[place] : nullptr;
}

/// Returns the argument named `self`, or the first one; nullptr if it is not a value.
template <class = void>
[[nodiscard]] constexpr const Argument* self_argument(GraphModuleView graph, const OperatorCall& call) noexcept {
  const Argument* self = call.inputs.empty() ? nullptr : &call.inputs.front();
  for (const Argument& input : call.inputs)
    if (graph.str(input.name) == "self") self = &input;
  return self != nullptr && self->is_value() ? self : nullptr;
}

/// An operator that updates statistics in some of its arguments; its name does not show this, nor do all schemas.
struct MutatedArguments {
  std::string_view target;
  std::uint32_t first = 0;  ///< position of the first statistic
  std::array<std::string_view, 4> names{};
  std::string_view flag = {};  ///< name of the argument that enables the update; empty: always
  std::uint32_t flag_place = 0;
};
/// Operators with statistics. Source: ATen's native_functions.yaml, and for batch_norm, native_batch_norm and
/// instance_norm their kernels.
inline constexpr auto mutated_arguments = std::to_array<MutatedArguments>({
    {"aten._batch_norm_with_update.default", 3, {"running_mean", "running_var"}},
    {"aten._fused_moving_avg_obs_fq_helper.default", 3, {"running_min", "running_max", "scale", "zero_point"}},
    {"aten._native_batch_norm_legit.default", 3, {"running_mean", "running_var"}, "training", 5},
    {"aten.batch_norm.default", 3, {"running_mean", "running_var"}, "training", 5},
    {"aten.fused_moving_avg_obs_fake_quant.default", 3, {"running_min", "running_max", "scale", "zero_point"}},
    {"aten.instance_norm.default", 3, {"running_mean", "running_var"}, "use_input_stats", 5},
    {"aten.native_batch_norm.default", 3, {"running_mean", "running_var"}, "training", 5},
    {"aten.rrelu_with_noise.default", 1, {"noise"}, "training", 4},
});

/// Calls `visit(const Argument&)` for each statistic that a call updates. O(rows + arguments).
template <class Visit>
constexpr void for_each_mutated_argument(GraphModuleView graph, const OperatorCall& call, Visit&& visit) {
  for (const MutatedArguments& row : mutated_arguments) {
    if (row.target != call.target) continue;
    const Argument* flag = row.flag.empty() ? nullptr : find_argument(graph, call, row.flag, row.flag_place);
    if (!row.flag.empty() && (flag == nullptr || (flag->kind == ArgumentKind::bool_ && flag->payload == 0))) return;
    for (std::uint32_t i = 0; i < row.names.size() && !row.names[i].empty(); ++i)
      if (const Argument* kept = find_argument(graph, call, row.names[i], row.first + i);
          kept != nullptr && kept->is_value())
        visit(*kept);
  }
}
[[nodiscard]] constexpr bool mutates_arguments(GraphModuleView graph, const OperatorCall& call) noexcept {
  bool any = false;
  for_each_mutated_argument(graph, call, [&](const Argument&) { any = true; });
  return any;
}

/// True if a call writes to its arguments.
[[nodiscard]] constexpr bool writes_arguments(GraphModuleView graph, const OperatorCall& call) noexcept {
  return in_place(call.target) != InPlace::no || mutates_arguments(graph, call);
}
/// Calls `visit(const Argument&)` for each argument that a call writes to.
template <class Visit>
constexpr void for_each_written(GraphModuleView graph, const OperatorCall& call, Visit&& visit) {
  const InPlace kind = in_place(call.target);
  if (call.inputs.empty()) return;
  if (kind == InPlace::self) {
    const Argument* self = self_argument(graph, call);
    visit(self == nullptr ? call.inputs.front() : *self);
  }
  if (kind == InPlace::out) {
    const Argument* out = find_argument(graph, call, "out", no_id);
    const std::size_t count =
        out != nullptr || call.outputs.empty() ? 1 : std::min(call.outputs.size(), call.inputs.size());
    for (const Argument& last : out != nullptr ? std::span(out, 1) : call.inputs.last(count)) visit(last);
  }
  for_each_mutated_argument(graph, call, visit);
}

/// True if a node has complex inputs or outputs. O(values of the node).
[[nodiscard]] constexpr bool has_complex(GraphModuleView graph, const Node& node) noexcept {
  bool found = false;
  const auto look = [&](ValueId v) {
    found = found || (graph.values[v].kind == ValueKind::tensor && is_complex(graph.values[v].dtype));
  };
  for (const Argument& a : graph.inputs(node)) graph.for_each_value(a, look);
  for (const Argument& a : graph.outputs(node)) graph.for_each_value(a, look);
  return found;
}

/// True if an operator of the program writes to its arguments. O(nodes).
[[nodiscard]] constexpr bool writes_in_place(GraphModuleView graph) noexcept {
  for (const Node& node : graph.nodes)
    if (writes_arguments(graph, operator_call(graph, node))) return true;
  return false;
}

/// True if an operator of the program writes to its arguments, or reads strides or storage offsets: then a copy of a
/// value cannot replace the value. O(nodes).
[[nodiscard]] constexpr bool storage_matters(GraphModuleView graph) noexcept {
  for (const Node& node : graph.nodes) {
    const OperatorCall call = operator_call(graph, node);
    if (writes_arguments(graph, call)) return true;
    const std::string_view target = call.target;
    const std::string_view base = target.substr(0, target.rfind('.'));
    for (const std::string_view asks :
         {"aten.as_strided", "aten.sym_stride", "aten.sym_storage_offset", "aten.is_contiguous"})
      if (base == asks) return true;
  }
  return false;
}

}  // namespace davit
