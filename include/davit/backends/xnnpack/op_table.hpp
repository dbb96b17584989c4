// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "davit/backends/xnnpack/average_rules.hpp"
#include "davit/backends/xnnpack/batch_norm_rules.hpp"
#include "davit/backends/xnnpack/binary_rules.hpp"
#include "davit/backends/xnnpack/byte_kernels.hpp"
#include "davit/backends/xnnpack/cat_rules.hpp"
#include "davit/backends/xnnpack/convolution_rules.hpp"
#include "davit/backends/xnnpack/matmul_rules.hpp"
#include "davit/backends/xnnpack/pad_rules.hpp"
#include "davit/backends/xnnpack/permute_rules.hpp"
#include "davit/backends/xnnpack/pooling_rules.hpp"
#include "davit/backends/xnnpack/quantized_rules.hpp"
#include "davit/backends/xnnpack/row_rules.hpp"
#include "davit/backends/xnnpack/slice_rules.hpp"
#include "davit/backends/xnnpack/unary_rules.hpp"
#include "davit/backends/xnnpack/view_rules.hpp"

namespace davit::xnnpack_parts {

namespace detail {
template <std::size_t... N>
[[nodiscard]] consteval auto sorted_rules(const std::array<Rule, N>&... families) {
  std::array<Rule, (std::size_t{0} + ... + N)> rules{};
  std::size_t at = 0;
  const auto append = [&](const auto& family) {
    for (const Rule& rule : family) rules[at++] = rule;
  };
  (append(families), ...);
  std::sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) { return a.target < b.target; });
  return rules;
}
}  // namespace detail

/// Every operator the backend has, sorted by name: what it takes and what it runs are this one table.
inline constexpr auto op_table = detail::sorted_rules(
    average_rules, batch_norm_rules, binary_rules, cat_rules, convolution_rules, pad_rules, slice_rules, permute_rules,
    pooling_rules, matmul_rules, quantized_rules, row_rules, unary_rules, view_rules);

/// The row of the operator of that name, or nullptr. O(log operators).
[[nodiscard]] constexpr const Rule* find_rule(std::string_view target) noexcept {
  const auto* rule = std::lower_bound(op_table.begin(), op_table.end(), target,
                                      [](const Rule& a, std::string_view b) { return a.target < b; });
  return rule != op_table.end() && rule->target == target ? rule : nullptr;
}

/// nullptr if the backend takes the node, else why not. O(arguments), or O(arguments of the graph) where all outputs
/// but the first must be unused.
[[nodiscard]] constexpr const char* refuses(GraphModuleView graph, NodeId node) noexcept {
  const Call call(graph, node);
  const Rule* rule = find_rule(call.target());
  if (rule == nullptr) return "no XNNPACK operator for this";
  if (call.output() == no_id) return "no output";
  return rule->refuses(call);
}

/// The steps of a method; what `int8_kernels` does: see Planner; `exact`: nothing that loses NaN or infinities goes
/// unnoticed. Errors: unsupported_operator, with the node, for what `refuses` refuses; corrupt_data for constants that
/// are not what the graph says.
[[nodiscard]] inline Result<Plan> make_plan(const ProgramBody& body, bool int8_kernels = false, bool exact = false) {
  GraphModuleView graph = body.graph.view();
  const std::vector<std::uint8_t> used = used_values(graph);
  graph.used = used.data();
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (const char* reason = refuses(graph, n))
      return std::unexpected(Error{.code = ErrorCode::unsupported_operator,
                                   .stage = Stage::preprocess,
                                   .debug_handle = body.handles[n],
                                   .backend = "xnnpack",
                                   .where = concat("operator ", graph.target(graph.nodes[n])),
                                   .what = Name(std::string_view(reason)),
                                   .fix = "let a partitioner choose the nodes, with portable as the last backend"});
  Planner planner(body, int8_kernels);
  if (!planner.constants_fit())
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .stage = Stage::compile,
                                 .backend = "xnnpack",
                                 .what = "a constant has another dtype or other sizes than the graph says",
                                 .fix = "save the program again"});
  if (exact) planner.check_values(find_value_checks(body, true));
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (graph.target(graph.nodes[n]) == "aten.cat.default") detail::reserve_cat(planner, Call(graph, n));
  std::optional<portable_kernels::Int8Plan> bytes;
  if (!int8_kernels) bytes.emplace(body, true);
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    if (bytes && bytes->is_absorbed(n)) planner.absorb(n);
    if (portable_kernels::Int8Step* const joined = bytes ? bytes->step_of(n) : nullptr)
      emit_bytes(planner, *joined);
    else if (!planner.is_done(n))
      find_rule(graph.target(graph.nodes[n]))->emit(planner, Call(graph, n));
    if (exact) planner.check_results(n);
  }
  planner.finish();
  const std::vector<Slot>& slots = planner.plan.slots;
  const auto misstated =
      std::ranges::find_if(slots, [](const Slot& slot) { return slot.order.rank != slot.dims.count; });
  if (misstated != slots.end()) {
    const auto s = static_cast<std::uint32_t>(misstated - slots.begin());
    const auto step = std::ranges::find_if(planner.plan.steps, [s](const Step& each) {
      return each.out == s || std::ranges::find(each.in, s) != each.in.end();
    });
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
