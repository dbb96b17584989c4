// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "davit/program/graph.hpp"
#include "davit/runtime/detail/control_flow.hpp"
#include "davit/runtime/detail/run_graph.hpp"
#include "davit/runtime/method_state.hpp"

namespace davit::detail {

inline constexpr int max_control_flow_depth = 64;  ///< nesting depth

[[nodiscard]] Name place_of(const MethodState& m, const ScheduleStep& step) {
  const GraphModuleView graph = m.method->parent.view();
  return concat("method '", m.method->name, "', node '", node_label(graph, step.node), "' (",
                graph.target(graph.nodes[step.node]), ")");
}

[[nodiscard]] bool fail_step(const MethodState& m, const ScheduleStep& step, ErrorCode code, Name what, Error& error) {
  const GraphModuleView graph = m.method->parent.view();
  const Node& node = graph.nodes[step.node];
  error = Error{.code = code, .stage = Stage::execute, .where = place_of(m, step), .what = std::move(what)};
  if (node.metadata < graph.metadata.size())
    error.source = source_with_caret(graph.str(graph.metadata[node.metadata].stack_trace));
  return false;
}

/// Runs a sub-graph on `inputs`. False if their number does not fit.
[[nodiscard]] bool run_body(MethodState& m, const ScheduleStep& step, GraphId graph, std::span<const EValue> inputs,
                            int depth, Error& error) {
  const std::span<const std::uint32_t> in = m.schedule->at(m.schedule->graphs[graph].inputs);
  if (in.size() != inputs.size())
    return fail_step(m, step, ErrorCode::invalid_program,
                     concat("its sub-graph takes ", in.size(), " values, not ", inputs.size()), error);
  if (!may_go_on(m, [&] { return place_of(m, step); }, error)) return false;
  for (std::size_t i = 0; i < in.size(); ++i) m.slots[in[i]] = inputs[i];
  return run_graph(m, graph, depth + 1, error);
}
[[nodiscard]] std::span<const std::uint32_t> outputs_of(const MethodState& m, GraphId graph) noexcept {
  return m.schedule->at(m.schedule->graphs[graph].outputs);
}
[[nodiscard]] LoopState& loop_of(MethodState& m, const ScheduleStep& step) noexcept {
  return m.loops[static_cast<std::size_t>(&step - m.schedule->steps.data())];
}
[[nodiscard]] bool truth(const EValue& value, bool& out) noexcept {
  if (value.is_number()) {
    out = value.number() != 0;
    return true;
  }
  const TensorView* tensor = value.tensor_if();
  if (tensor == nullptr || tensor->numel() != 1 || tensor->dtype != ScalarType::bool_) return false;
  out = *static_cast<const unsigned char*>(tensor->data) != 0;
  return true;
}

[[nodiscard]] bool cond(MethodState& m, const ScheduleStep& step, int depth, Error& error) {
  const std::span<const std::uint32_t> in = m.schedule->at(step.inputs);
  bool chosen = false;
  if (!truth(m.slots[in[0]], chosen))
    return fail_step(m, step, ErrorCode::invalid_dtype, "the predicate is no bool and no bool tensor of one element",
                     error);
  const GraphId graph = chosen ? step.graph : step.other;
  std::vector<EValue>& values = loop_of(m, step).values;
  values.clear();
  for (const std::uint32_t slot : in.subspan(1)) values.push_back(m.slots[slot]);
  if (!run_body(m, step, graph, values, depth, error)) return false;
  const std::span<const std::uint32_t> from = outputs_of(m, graph);
  const std::span<const std::uint32_t> to = m.schedule->at(step.outputs);
  if (from.size() != to.size())
    return fail_step(m, step, ErrorCode::invalid_program, "its branches return another number of values", error);
  for (std::size_t i = 0; i < to.size(); ++i) m.slots[to[i]] = m.slots[from[i]];
  return true;
}

/// Copies a value of the body into the loop's own storage, because the next iteration overwrites it.
[[nodiscard]] bool carry(MethodState& m, const ScheduleStep& step, const EValue& made, Tensor& into, EValue& value,
                         Error& error) {
  const TensorView* tensor = made.tensor_if();
  if (tensor == nullptr) {
    value = made;
    return true;
  }
  if (!reuse_tensor(into, tensor->dtype, tensor->sizes(), m.context->limits.max_memory))
    return fail_step(m, step, ErrorCode::out_of_memory, "no memory for a value that the loop carries", error);
  copy_tensor(*tensor, into.view());
  value = EValue(into.view());
  return true;
}

[[nodiscard]] bool while_loop(MethodState& m, const ScheduleStep& step, int depth, Error& error) {
  LoopState& loop = loop_of(m, step);
  const std::span<const std::uint32_t> in = m.schedule->at(step.inputs);
  loop.values.clear();
  for (const std::uint32_t slot : in) loop.values.push_back(m.slots[slot]);
  for (auto& side : loop.carried) side.resize(step.carried);
  for (std::int64_t i = 0;; ++i) {
    if (!run_body(m, step, step.graph, loop.values, depth, error)) return false;
    bool go_on = false;
    const std::span<const std::uint32_t> answer = outputs_of(m, step.graph);
    if (answer.size() != 1 || !truth(m.slots[answer[0]], go_on))
      return fail_step(m, step, ErrorCode::invalid_dtype,
                       "the condition returns neither a bool nor a bool tensor of one element", error);
    if (!go_on) break;
    if (i == m.context->limits.max_loop_iterations)
      return fail_step(m, step, ErrorCode::out_of_range, concat("the loop did not end in ", i, " iterations"), error);
    if (!run_body(m, step, step.other, loop.values, depth, error)) return false;
    const std::span<const std::uint32_t> made = outputs_of(m, step.other);
    if (made.size() != step.carried)
      return fail_step(m, step, ErrorCode::invalid_program, "its body returns another number of values than it carries",
                       error);
    for (std::size_t k = 0; k < made.size(); ++k)
      if (!carry(m, step, m.slots[made[k]], loop.carried[i & 1][k], loop.values[k], error)) return false;
  }
  const std::span<const std::uint32_t> to = m.schedule->at(step.outputs);
  for (std::size_t k = 0; k < to.size() && k < step.carried; ++k) m.slots[to[k]] = loop.values[k];
  return true;
}

/// Returns slice `at` along a dimension as a view. Stores its sizes and strides at `own` and advances `own`.
[[nodiscard]] EValue slice(const TensorView& whole, std::int64_t dim, std::int64_t at, std::int64_t*& own) noexcept {
  const auto d = static_cast<std::size_t>(dim < 0 ? dim + whole.rank : dim);
  std::int64_t* const sizes = own;
  std::int64_t* const strides = own + whole.rank - 1;
  for (std::size_t i = 0, k = 0; i < whole.rank; ++i) {
    if (i == d) continue;
    sizes[k] = whole.size(i);
    strides[k++] = whole.stride(i);
  }
  own += 2 * (whole.rank - 1);
  return EValue(TensorView{whole.element_at(at * whole.stride(d)), sizes, strides,
                           static_cast<std::uint8_t>(whole.rank - 1), whole.dtype});
}

[[nodiscard]] bool stack(MethodState& m, const ScheduleStep& step, const EValue& made, Tensor& into, bool first,
                         std::int64_t count, std::int64_t at, Error& error) {
  const TensorView* row = made.tensor_if();
  if (row == nullptr || row->rank >= max_rank)
    return fail_step(m, step, ErrorCode::invalid_argument, "its body returns something that is no tensor", error);
  if (first) {
    std::int64_t sizes[max_rank] = {count};
    for (std::size_t d = 0; d < row->rank; ++d) sizes[d + 1] = row->size(d);
    if (!reuse_tensor(into, row->dtype, std::span<const std::int64_t>(sizes, row->rank + 1u),
                      m.context->limits.max_memory))
      return fail_step(m, step, ErrorCode::out_of_memory, "no memory for the rows it stacks", error);
  }
  TensorView all = into.view();
  if (row->dtype != all.dtype || !std::ranges::equal(row->sizes(), all.sizes().subspan(1)))
    return fail_step(m, step, ErrorCode::invalid_shape, "its body returns rows of different sizes", error);
  copy_tensor(*row, TensorView{all.element_at(at * all.stride(0)), all.sizes_data + 1, all.strides_data + 1, row->rank,
                               all.dtype});
  return true;
}

/// Runs map and scan: calls the body for each slice and stacks its other results along a new first dimension. Source:
/// torch._higher_order_ops.map and generic_scan of torch._higher_order_ops.scan.
[[nodiscard]] bool scan(MethodState& m, const ScheduleStep& step, int depth, Error& error) {
  LoopState& loop = loop_of(m, step);
  const std::span<const std::uint32_t> in = m.schedule->at(step.inputs);
  const std::span<const std::uint32_t> to = m.schedule->at(step.outputs);
  if (step.sliced == 0 || in.size() < step.carried + step.sliced || to.size() < step.carried)
    return fail_step(m, step, ErrorCode::invalid_program, "it has nothing to run over", error);
  loop.values.clear();
  for (const std::uint32_t slot : in) loop.values.push_back(m.slots[slot]);
  for (auto& side : loop.carried) side.resize(step.carried);
  loop.stacked.resize(to.size() - step.carried);
  std::int64_t count = 0;
  std::size_t dims = 0;
  for (std::uint32_t k = 0; k < step.sliced; ++k) {
    const TensorView* whole = m.slots[in[step.carried + k]].tensor_if();
    const std::int64_t dim = whole == nullptr ? 0 : step.dim < 0 ? step.dim + whole->rank : step.dim;
    if (whole == nullptr || dim < 0 || dim >= whole->rank)
      return fail_step(m, step, ErrorCode::invalid_shape, "a sliced input has no such dimension", error);
    if (k == 0) count = whole->size(static_cast<std::size_t>(dim));
    if (whole->size(static_cast<std::size_t>(dim)) != count)
      return fail_step(m, step, ErrorCode::invalid_shape, "the sliced inputs have different lengths", error);
    dims += 2 * whole->rank;
  }
  if (count == 0) return fail_step(m, step, ErrorCode::invalid_shape, "the sliced dimension has length 0", error);
  if (count > m.context->limits.max_loop_iterations)
    return fail_step(m, step, ErrorCode::out_of_range, "it runs over too many slices", error);
  loop.dims.resize(dims);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = step.reverse != 0 ? count - 1 - i : i;
    std::int64_t* own = loop.dims.data();
    for (std::uint32_t k = 0; k < step.sliced; ++k)
      loop.values[step.carried + k] = slice(m.slots[in[step.carried + k]].tensor(), step.dim, at, own);
    if (!run_body(m, step, step.graph, loop.values, depth, error)) return false;
    const std::span<const std::uint32_t> made = outputs_of(m, step.graph);
    if (made.size() != to.size())
      return fail_step(m, step, ErrorCode::invalid_program, "its body returns another number of values", error);
    for (std::size_t k = 0; k < made.size(); ++k) {
      const EValue& value = m.slots[made[k]];
      const bool good = k < step.carried
                            ? carry(m, step, value, loop.carried[i & 1][k], loop.values[k], error)
                            : stack(m, step, value, loop.stacked[k - step.carried], i == 0, count, at, error);
      if (!good) return false;
    }
  }
  for (std::size_t k = 0; k < to.size(); ++k)
    m.slots[to[k]] = k < step.carried ? loop.values[k] : EValue(loop.stacked[k - step.carried].view());
  return true;
}

[[gnu::noinline]] bool run_control_flow(MethodState& m, const ScheduleStep& step, int depth, Error& error) {
  if (depth >= max_control_flow_depth)
    return fail_step(m, step, ErrorCode::out_of_range, "control flow is nested too deeply", error);
  switch (step.kind) {
    case StepKind::cond: return cond(m, step, depth, error);
    case StepKind::while_loop: return while_loop(m, step, depth, error);
    case StepKind::map:
    case StepKind::scan: return scan(m, step, depth, error);
    case StepKind::call_delegate: break;
  }
  return false;
}

}  // namespace davit::detail
