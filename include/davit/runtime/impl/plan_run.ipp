// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "davit/program/symbols.hpp"
#include "davit/runtime/method_state.hpp"
#include "davit/runtime/prepare_delegate.hpp"
#include "davit/runtime/value_sizes.hpp"

namespace davit::detail {

inline constexpr std::size_t most_arena_bytes = std::size_t{1} << 30;  ///< for upper bounds; larger arenas follow the actual sizes

/// The symbols at the upper ends of their ranges.
[[nodiscard]] DAVIT_INLINE SymbolValues upper_bounds(const ExportedProgram& parent) {
  constexpr std::int64_t large = std::int64_t{1} << 32;  // torch's "no bound" is larger
  const GraphModuleView graph = parent.view();
  SymbolValues symbols(graph.exprs);
  for (const RangeConstraint& range : parent.range_constraints)
    for (ExprId e = 0; range.max && *range.max >= 0 && *range.max < large && e < graph.exprs.size(); ++e)
      if (graph.exprs[e].op == ExprOp::symbol && graph.str(graph.exprs[e].name) == range.symbol) (void)symbols.bind(e, *range.max);
  symbols.settle();
  return symbols;
}
[[nodiscard]] DAVIT_INLINE bool bounds_known(GraphModuleView graph, const SymbolValues& bounds) noexcept {
  for (ExprId e = 0; e < graph.exprs.size(); ++e)
    if (graph.exprs[e].op == ExprOp::symbol && bounds.value(e)) return true;
  return false;
}

/// The values of the parent's symbols, from the sizes of the inputs that lie in the slots.
[[nodiscard]] DAVIT_INLINE SymbolValues sizes_of_inputs(const MethodState& m, GraphModuleView graph) {
  SymbolValues symbols(graph.exprs);
  for (int pass = 0; pass < 2; ++pass) {
    for (const std::uint32_t slot : m.schedule->input_slots) {
      if (slot >= graph.values.size()) continue;
      const Value& v = graph.values[slot];
      if (m.slots[slot].is_int() && v.expr != no_id) (void)symbols.bind(v.expr, m.slots[slot].as_int());
      const TensorView* tensor = m.slots[slot].tensor_if();
      const std::span<const Dim> dims = graph.dims_of(v.sizes);
      for (std::size_t d = 0; tensor != nullptr && d < dims.size() && d < tensor->rank; ++d)
        if (!dims[d].is_static() && (pass == 1 || graph.exprs[dims[d].expr].op == ExprOp::symbol))
          (void)symbols.bind(dims[d].expr, tensor->size(d));
    }
    symbols.settle();
  }
  return symbols;
}
/// True for a slot that may rightly hold nothing: a token, a custom object, a literal None.
[[nodiscard]] DAVIT_INLINE bool is_optional(GraphModuleView graph, std::uint32_t slot) noexcept {
  if (slot >= graph.values.size()) return true;
  return graph.values[slot].kind == ValueKind::token || graph.values[slot].kind == ValueKind::custom_obj;
}

/// Asks a partition for its scratch and gives its outputs their sizes. The blocks of its outputs follow its scratch's.
[[nodiscard]] DAVIT_INLINE bool size_delegate(MethodState& m, DelegateState& d, std::size_t block, std::span<const EValue> inputs,
                                              bool all_known, std::span<const EValue> known, Error& error) {
  std::vector<PlannedBlock>& blocks = m.plan.blocks;
  const std::span<const std::uint32_t> out = m.schedule->at(m.schedule->steps[blocks[block].step].outputs);
  for (std::size_t k = 0; k <= out.size(); ++k) blocks[block + k].life.bytes = 0;
  d.planned = false;
  if (!d.backend->fills_destinations) return true;
  d.ready = d.direct = false;
  if (!all_known || d.call.handle == nullptr || !d.backend->is_available()) return true;
  const std::vector<OutputPort>& ports = d.lowered->interface.outputs;
  for (std::size_t k = 0; k < out.size(); ++k)  // what has no destination would lie in scratch, which is only lent
    if (ports[k].type.tag == EValue::Tag::tensor && !known[out[k]].is_tensor()) return true;
  d.destinations.assign(out.size(), EValue());
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (!known[out[k]].is_tensor()) continue;
    d.destinations[k] = known[out[k]];
    blocks[block + 1 + k].life.bytes = known[out[k]].tensor().nbytes();
  }
  Result<std::size_t> bytes = scratch_for(*d.backend, d.call.handle, inputs, d.destinations, d.call.workspace);
  if (!bytes) {
    error = std::move(bytes.error());
    if (error.where.empty()) error.where = place_of(m, d);
    return false;
  }
  blocks[block].life.bytes = *bytes;
  d.planned = true;
  d.ready = true;
  d.direct = d.can_be_direct();
  return true;
}

/// Asks every partition for its scratch, and sizes what it makes, for these values of the symbols.
[[nodiscard]] DAVIT_INLINE bool size_blocks(MethodState& m, const SymbolValues& symbols, std::vector<std::int64_t>& dims, bool bounds, Error& error) {
  const GraphModuleView graph = m.method->parent.view();
  const ValueSizes sizes(graph, symbols, dims);
  std::vector<EValue> known(m.slots);  // what is there when the run begins, and the sizes of what will be
  for (ValueId v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].producer != no_id || graph.values[v].graph != root_graph) known[v] = sizes.value(v);
  for (const std::uint32_t slot : m.schedule->input_slots)
    if (bounds && slot < graph.values.size() && (known[slot].is_tensor() || graph.values[slot].expr != no_id)) known[slot] = sizes.value(slot);
  for (const Schedule::MovedBuffer& buffer : m.schedule->buffers) {
    if (buffer.result == buffer.slot) continue;
    known[buffer.result] = known[buffer.slot];
    if (known[buffer.result].is_tensor()) known[buffer.result].tensor().data = nullptr;
  }
  bool good = true;
  std::vector<EValue> inputs;
  for (std::size_t b = 0; b < m.plan.blocks.size() && good; ++b) {
    const PlannedBlock& scratch = m.plan.blocks[b];
    if (scratch.kind != PlannedBlock::Kind::scratch) continue;
    inputs.clear();
    bool all_known = true;
    for (const std::uint32_t slot : m.schedule->at(m.schedule->steps[scratch.step].inputs)) {
      inputs.push_back(known[slot]);
      all_known = all_known && (!known[slot].is_none() || is_optional(graph, slot));
    }
    good = size_delegate(m, static_cast<DelegateState&>(*m.calls[scratch.step]), b, inputs, all_known, known, error);
  }
  return good;
}

/// Partitions that got destinations fill them; the others may answer views, and so their inputs live longer.
DAVIT_INLINE void follow_views(MethodState& m) {
  bool same = true;
  for (std::size_t d = 0; d < m.views.size(); ++d) {
    const std::uint8_t may = m.delegates[d].may_view() ? 1 : 0;
    same = same && m.views[d] == may;
    m.views[d] = may;
  }
  if (same) return;
  const ProgramPlan fresh = plan_lifetimes(*m.schedule, m.views);
  for (std::size_t b = 0; b < m.plan.blocks.size(); ++b) {
    m.plan.blocks[b].life.first = fresh.blocks[b].life.first;
    m.plan.blocks[b].life.last = fresh.blocks[b].life.last;
  }
}

/// Lets an output lie where an input lay that nobody needs any more, if the backend can compute it there.
DAVIT_INLINE void reuse_inputs(MethodState& m) {
  for (std::size_t b = 0; b < m.plan.blocks.size(); ++b) {
    const PlannedBlock& scratch = m.plan.blocks[b];
    if (scratch.kind != PlannedBlock::Kind::scratch) continue;
    const ScheduleStep& step = m.schedule->steps[scratch.step];
    const auto& d = static_cast<const DelegateState&>(*m.calls[scratch.step]);
    if (d.backend->may_overwrite == nullptr || !d.planned) continue;
    overwrite_inputs(m.plan, b, m.schedule->at(step.inputs), m.schedule->at(step.outputs).size(),
                     [&](std::size_t in, std::size_t out) { return d.backend->may_overwrite(d.call.handle, in, out); });
  }
}

/// The step that uses a slot last, if only calls of partitions in the root graph use it, and nothing views it; else no_id.
[[nodiscard]] DAVIT_INLINE std::uint32_t last_plain_use(const MethodState& m, std::uint32_t slot) {
  const Range root = m.schedule->graphs[root_graph].steps;
  const auto holds = [&](std::span<const std::uint32_t> slots) { return std::ranges::find(slots, slot) != slots.end(); };
  std::uint32_t last = no_id;
  for (std::uint32_t i = 0; i < m.schedule->steps.size(); ++i) {
    const ScheduleStep& step = m.schedule->steps[i];
    if (!holds(m.schedule->at(step.inputs))) continue;
    if (step.kind != StepKind::call_delegate || i < root.first || i >= root.first + root.count || m.views[step.delegate] != 0) return no_id;
    last = i;
  }
  for (const ScheduleGraph& graph : m.schedule->graphs)
    if (holds(m.schedule->at(graph.outputs)) || (&graph != m.schedule->graphs.data() && holds(m.schedule->at(graph.inputs)))) return no_id;
  return holds(m.schedule->output_slots) ? no_id : last;
}

DAVIT_INLINE void update_state(MethodState& m) {
  for (const auto& [in, out] : m.frame.updates()) {
    const std::uint32_t old = m.schedule->input_slots[in], made = m.schedule->output_slots[out], last = last_plain_use(m, old);
    if (last == no_id || std::ranges::count(m.schedule->input_slots, old) != 1) continue;
    const auto& d = static_cast<const DelegateState&>(*m.calls[last]);
    const std::span<const std::uint32_t> inputs = m.schedule->at(m.schedule->steps[last].inputs), outputs = m.schedule->at(m.schedule->steps[last].outputs);
    const auto to = std::ranges::find(outputs, made);
    if (!d.planned || d.backend->updates_input == nullptr || to == outputs.end() || std::ranges::count(inputs, old) != 1) continue;
    const auto k = static_cast<std::size_t>(to - outputs.begin());
    if (!d.backend->updates_input(d.call.handle, static_cast<std::size_t>(std::ranges::find(inputs, old) - inputs.begin()), k)) continue;
    const TensorView* const state = m.slots[old].tensor_if();
    const TensorView* const destination = d.destinations[k].tensor_if();
    if (state == nullptr || destination == nullptr || state->dtype != destination->dtype || !state->is_contiguous() || !std::ranges::equal(state->sizes(), destination->sizes()))
      continue;
    for (PlannedBlock& block : m.plan.blocks) {
      if (block.kind != PlannedBlock::Kind::value || block.slot != made || block.step != last || block.shares != no_id) continue;
      block.in_state = old;
      block.life.bytes = 0;
    }
  }
}

/// Tells a partition where a block of its lies.
DAVIT_INLINE void place_block(const MethodState& m, DelegateState& d, const PlannedBlock& block, std::byte* at) {
  if (!d.planned) return;
  if (block.kind == PlannedBlock::Kind::scratch) {
    d.call.scratch = std::span(at, block.life.bytes);
    return;
  }
  const std::span<const std::uint32_t> out = m.schedule->at(m.schedule->steps[block.step].outputs);
  for (std::size_t k = 0; k < out.size(); ++k)
    if (out[k] == block.slot && d.destinations[k].is_tensor()) d.destinations[k].tensor().data = at;
}

DAVIT_INLINE bool plan_run(MethodState& m, Error& error) {
  m.planned = false;
  if (m.plan.blocks.empty()) {
    m.planned = true;
    return true;
  }
  const GraphModuleView graph = m.method->parent.view();
  for (PlannedBlock& block : m.plan.blocks) block.shares = block.in_state = no_id;
  // first as large as they may get, so that the arena need not grow; if that is too much, as large as they are
  std::vector<std::size_t> most(m.plan.blocks.size(), 0);
  if (const SymbolValues bounds = upper_bounds(m.method->parent); bounds_known(graph, bounds)) {
    Error ignored;
    std::vector<std::int64_t> dims;
    if (size_blocks(m, bounds, dims, true, ignored) && m.plan.total_bytes() <= std::min<std::uint64_t>(most_arena_bytes, m.context->limits.max_memory))
      for (std::size_t b = 0; b < most.size(); ++b) most[b] = m.plan.blocks[b].life.bytes;
  }
  if (!size_blocks(m, sizes_of_inputs(m, graph), m.dims, false, error)) return false;
  for (std::size_t b = 0; b < most.size(); ++b) m.plan.blocks[b].life.bytes = std::max(m.plan.blocks[b].life.bytes, most[b]);
  follow_views(m);
  reuse_inputs(m);
  update_state(m);
  const bool fits = m.plan.total_bytes() <= max_plan_bytes;
  if (fits) place_blocks(m.plan);
  if (!fits || m.plan.arena_bytes > m.context->limits.max_memory || !m.arena.reserve(m.plan.arena_bytes)) {
    error = Error{.code = ErrorCode::out_of_memory, .stage = Stage::execute, .where = concat("method '", m.method->name, "'"),
                  .what = concat("no memory for an arena of ", fits ? m.plan.arena_bytes : m.plan.total_bytes(), " bytes"), .fix = "run with smaller inputs"};
    return false;
  }
  for (const PlannedBlock& block : m.plan.blocks)
    place_block(m, static_cast<DelegateState&>(*m.calls[block.step]), block,
                block.in_state == no_id ? m.arena.span().data() + block.offset : static_cast<std::byte*>(m.slots[block.in_state].tensor().data));
  m.planned = true;
  return true;
}

}  // namespace davit::detail
