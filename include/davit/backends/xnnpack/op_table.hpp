// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "davit/backends/kit/finite_guard.hpp"
#include "davit/backends/kit/kernel_nodes.hpp"
#include "davit/backends/kit/offload_cost.hpp"
#include "davit/backends/xnnpack/convolution_rules.hpp"
#include "davit/backends/xnnpack/kernel_calls.hpp"
#include "davit/backends/xnnpack/layout_rules.hpp"
#include "davit/backends/xnnpack/matmul_rules.hpp"
#include "davit/backends/xnnpack/pooling_rules.hpp"
#include "davit/backends/xnnpack/quantized_rules.hpp"
#include "davit/core/overload_rows.hpp"

namespace davit::xnnpack_parts {

namespace detail {
template <std::size_t... N>
[[nodiscard]] consteval auto sorted_rules(const std::array<Rule, N>&... families) {
  auto rules = joined_rows(families...);
  std::sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) { return a.target < b.target; });
  return rules;
}
}  // namespace detail

/// The operators that XNNPACK has, and layouts, sorted by name.
inline constexpr auto op_table =
    detail::sorted_rules(convolution_rules, layout_rules, matmul_rules, pooling_rules, quantized_rules);

/// Returns the row of the operator of that name, or nullptr. O(log operators).
[[nodiscard]] constexpr const Rule* find_rule(std::string_view target) noexcept {
  const auto* rule = std::lower_bound(op_table.begin(), op_table.end(), target,
                                      [](const Rule& a, std::string_view b) { return a.target < b; });
  return rule != op_table.end() && rule->target == target ? rule : nullptr;
}

/// True for operators that run on portable's kernels alone, which keep NaN and infinities.
[[nodiscard]] constexpr bool runs_as_kernel(std::string_view target) noexcept { return find_rule(target) == nullptr; }

/// True for a call of portable's kernel with row-major images as operands and results: they would be reordered before
/// and behind it, as at a region's border. Norms and softmax are taken nevertheless, and operators with much smaller
/// results.
[[nodiscard]] inline bool ends_images(GraphModuleView graph, NodeId node) {
  const OperatorCall call = operator_call(graph, graph.nodes[node]);
  const RangeBound range = facts_of(call.target).range;
  if (range == RangeBound::softmax || range == RangeBound::layer_norm || range == RangeBound::group_norm ||
      kernel_order(graph, node) != KernelOrder::rows)
    return false;
  double taken = 0, made = 0;
  const auto count = [&](std::span<const Argument> list, double& elements) {
    for (const Argument& a : list)
      graph.for_each_value(a, [&](ValueId v) {
        if (graph.values[v].sizes.count == 4) elements += davit::detail::element_count(graph, v);
      });
  };
  count(call.inputs, taken);
  count(call.outputs, made);
  return taken != 0 && made * 8 > taken;
}

/// Reads a node: returns nullptr and fills its description, or returns the reason why the backend refuses it. The
/// description of a call of portable's kernel (refuses_as_kernel) is empty. O(arguments), or O(arguments of the graph)
/// if all outputs but the first must be unused.
[[nodiscard]] inline const char* describe_node(GraphModuleView graph, NodeId node, Description& description) {
  const Call call(graph, node);
  const Rule* const rule = find_rule(call.target());
  const char* wrong = nullptr;
  if (call.output() == no_id) return "no output";
  if (rule != nullptr) {
    wrong = rule->read(call, description);
    if (wrong == nullptr) return nullptr;
    description = {};
  }
  if (const char* const refused = refuses_as_kernel(graph, node)) return rule != nullptr ? wrong : refused;
  if (ends_images(graph, node)) return rule != nullptr ? wrong : "a kernel that takes images in another order";
  for (std::size_t i = 0; i < call.outputs(); ++i)
    if (call.output(i) != no_id && (i == 0 || graph.used == nullptr || graph.used[call.output(i)] != 0))
      if (const char* const reason = refuses_tensor(call, call.output(i), call.dtype(call.output(i)))) return reason;
  constexpr const char* no_operands = "it has no operands";
  const char* unfit = no_operands;
  for (const Argument& a : operator_call(graph, graph.nodes[node]).inputs)
    graph.for_each_value(a, [&](ValueId v) {
      if (unfit != nullptr && unfit != no_operands) return;
      unfit = call.is_tensor(v) ? refuses_tensor(call, v, call.dtype(v)) : "an argument is a symbolic number";
    });
  return unfit;
}

/// Returns nullptr if the backend takes the node, else the reason.
[[nodiscard]] inline const char* refuses(GraphModuleView graph, NodeId node) {
  Description description;
  return describe_node(graph, node, description);
}

/// Makes the steps of a method. `int8_kernels`: see Planner; `exact`: check values where NaN or infinities may get
/// lost. Errors: unsupported_operator, with the node, for nodes that `refuses` refuses; corrupt_data for constants that
/// contradict the graph.
[[nodiscard]] inline Result<Plan> make_plan(const ProgramBody& body, bool int8_kernels = false, bool exact = false) {
  GraphModuleView graph = body.graph.view();
  const std::vector<std::uint8_t> used = used_values(graph);
  graph.used = used.data();
  const auto refused = [&](NodeId n, std::string_view reason) {
    return std::unexpected(Error{.code = ErrorCode::unsupported_operator,
                                 .stage = Stage::preprocess,
                                 .debug_handle = body.handles[n],
                                 .backend = "xnnpack",
                                 .where = concat("operator ", graph.target(graph.nodes[n])),
                                 .what = Name(reason),
                                 .fix = "let a partitioner choose the nodes, with portable as the last backend"});
  };
  std::vector<Description> descriptions(graph.nodes.size());
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (const char* reason = describe_node(graph, n, descriptions[n])) return refused(n, reason);
  Planner planner(body, int8_kernels);
  if (!planner.constants_fit())
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .stage = Stage::compile,
                                 .backend = "xnnpack",
                                 .what = "a constant has another dtype or other sizes than the graph says",
                                 .fix = "save the program again"});
  if (exact) planner.check_values(find_value_checks(body, true, runs_as_kernel));
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (const auto* const parts = std::get_if<Concatenation>(&descriptions[n]))
      detail::reserve_cat(planner, Call(graph, n), *parts);
  portable_kernels::Int8Plan bytes(body, true, int8_kernels);
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const Call call(graph, n);
    if (bytes.is_absorbed(n)) planner.absorb(n);
    if (portable_kernels::Int8Step* const joined = bytes.step_of(n))
      emit_bytes(planner, *joined);
    else if (!planner.is_done(n) && !std::holds_alternative<std::monostate>(descriptions[n]))
      find_rule(call.target())->emit(planner, call, descriptions[n]);
    else if (!planner.is_done(n) && !emit_bounded_sum(planner, call))
      emit_kernel(planner, call, kernel_order(graph, n));
    if (planner.refused() != no_id) return refused(n, "its arguments and its result do not fit its operator");
    if (exact) planner.check_results(n);
  }
  planner.finish();
  const std::vector<Slot>& slots = planner.plan.slots;
  const auto misstated =
      std::ranges::find_if(slots, [](const Slot& slot) { return slot.order.rank != slot.dims.count; });
  if (misstated != slots.end()) {
    const auto s = static_cast<std::uint32_t>(misstated - slots.begin());
    const auto step =
        std::ranges::find_if(planner.plan.steps, [s](const Step& each) { return each.out == s || each.in == s; });
    const NodeId node = step == planner.plan.steps.end() ? no_id : step->node;
    return std::unexpected(
        Error{.code = ErrorCode::invalid_shape,
              .stage = Stage::preprocess,
              .debug_handle = node < body.handles.size() ? body.handles[node] : no_debug_handle,
              .backend = "xnnpack",
              .what = "an operator gives another number of sizes than the program says of its result",
              .fix = "export the program again"});
  }
  return std::move(planner.plan);
}

}  // namespace davit::xnnpack_parts
