// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "davit/program/name_map.hpp"
#include "davit/program/symbols.hpp"
#include "davit/runtime/detail/plan_run.hpp"
#include "davit/runtime/method_state.hpp"
#include "davit/runtime/prepare_delegate.hpp"
#include "davit/runtime/value_sizes.hpp"

namespace davit::detail {

inline constexpr std::size_t max_arena_bytes = std::size_t{1}
                                               << 30;  ///< above it the arena follows actual sizes, not upper bounds

/// Returns the symbols at their upper bounds.
[[nodiscard]] SymbolValues upper_bounds(const ExportedProgram& parent) {
  constexpr std::int64_t large = std::int64_t{1} << 32;  // torch's "no bound" is larger
  const GraphModuleView graph = parent.view();
  SymbolValues symbols(graph.exprs);
  std::vector<const RangeConstraint*> bounded;
  for (const RangeConstraint& range : parent.range_constraints)
    if (range.max && *range.max >= 0 && *range.max < large) bounded.push_back(&range);
  const NameIndex names(bounded, [](const RangeConstraint* range) { return range->symbol.view(); });
  for (ExprId e = 0; e < graph.exprs.size() && !bounded.empty(); ++e)
    if (graph.exprs[e].op == ExprOp::symbol)
      if (const std::size_t at = names.first(graph.str(graph.exprs[e].name)); at != NameIndex::not_found)
        (void)symbols.bind(e, *bounded[at]->max);
  symbols.settle();
  return symbols;
}
[[nodiscard]] bool bounds_known(GraphModuleView graph, const SymbolValues& bounds) noexcept {
  for (ExprId e = 0; e < graph.exprs.size(); ++e)
    if (graph.exprs[e].op == ExprOp::symbol && bounds.value(e)) return true;
  return false;
}

/// Derives the parent's symbols from the inputs in the slots.
[[nodiscard]] SymbolValues sizes_of_inputs(const MethodState& m, GraphModuleView graph) {
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
/// True if the slot may be empty: a token, a custom object, a literal None.
[[nodiscard]] bool is_optional(GraphModuleView graph, std::uint32_t slot) noexcept {
  if (slot >= graph.values.size()) return true;
  return graph.values[slot].kind == ValueKind::token || graph.values[slot].kind == ValueKind::custom_obj;
}

/// True for a large expanded value (few elements, repeated by stride 0, according to the exported strides). A
/// destination would make it dense, so its partition is not planned and can return a view.
[[nodiscard]] bool is_expanded(GraphModuleView graph, std::uint32_t slot, const EValue& value) noexcept {
  constexpr std::size_t large = std::size_t{1} << 26;
  if (slot >= graph.values.size() || !value.is_tensor() || value.tensor().nbytes() < large) return false;
  const std::span<const Dim> strides = graph.dims_of(graph.values[slot].strides);
  for (std::size_t d = 0; d < strides.size() && d < value.tensor().rank; ++d)
    if (strides[d].is_static() && strides[d].value == 0 && value.tensor().size(d) > 1) return true;
  return false;
}

/// Queries a partition's scratch and sets the sizes of its outputs. The blocks of the outputs follow the block of the
/// scratch.
[[nodiscard]] bool size_delegate(MethodState& m, DelegateState& d, std::size_t block, std::span<const EValue> inputs,
                                 bool all_known, std::span<const EValue> known, Error& error) {
  std::vector<PlannedBlock>& blocks = m.plan.blocks;
  const std::span<const std::uint32_t> out = m.schedule->at(m.schedule->steps[blocks[block].step].outputs);
  for (std::size_t k = 0; k <= out.size(); ++k) blocks[block + k].life.bytes = 0;
  d.planned = false;
  if (!d.backend->fills_destinations) return true;
  d.ready = d.direct = false;
  if (!all_known || d.call.handle == nullptr || !d.backend->is_available()) return true;
  const std::vector<OutputPort>& ports = d.lowered->interface.outputs;
  const GraphModuleView graph = m.method->parent.view();
  for (std::size_t k = 0; k < out.size(); ++k)  // an output without destination would lie in scratch, which is reused
    if (ports[k].type.tag == EValue::Tag::tensor &&
        (!known[out[k]].is_tensor() || is_expanded(graph, out[k], known[out[k]])))
      return true;
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

/// Sizes the scratch and outputs of every partition for these symbol values. With `most` (used for upper bounds),
/// returns false before a partition compiles for them if a single value exceeds that many bytes.
[[nodiscard]] bool size_blocks(MethodState& m, const SymbolValues& symbols, std::vector<std::int64_t>& dims,
                               std::optional<std::uint64_t> most, Error& error) {
  const GraphModuleView graph = m.method->parent.view();
  const ValueSizes sizes(graph, symbols, dims);
  std::vector<EValue> known(m.slots);  // inputs of the run, and the sizes of later values
  for (ValueId v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].producer != no_id || graph.values[v].graph != root_graph) known[v] = sizes.value(v);
  for (const std::uint32_t slot : m.schedule->input_slots)
    if (most && slot < graph.values.size() && (known[slot].is_tensor() || graph.values[slot].expr != no_id))
      known[slot] = sizes.value(slot);
  for (const Schedule::MovedBuffer& buffer : m.schedule->buffers) {
    if (buffer.result == buffer.slot) continue;
    known[buffer.result] = known[buffer.slot];
    if (known[buffer.result].is_tensor()) known[buffer.result].tensor().data = nullptr;
  }
  bool good = !most || std::ranges::all_of(
                           known, [&](const EValue& v) { return !v.is_tensor() || v.tensor().nbytes() <= *most; });
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

/// Recomputes lifetimes: planned partitions fill destinations, others may return views, which extends the lives of
/// their inputs.
void extend_viewed_lifetimes(MethodState& m) {
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

/// Lets an output reuse the memory of a dead input, if the backend can compute in place.
void reuse_inputs(MethodState& m) {
  std::optional<BlocksOfSlots> made;  // built if a backend computes in place
  for (std::size_t b = 0; b < m.plan.blocks.size(); ++b) {
    const PlannedBlock& scratch = m.plan.blocks[b];
    if (scratch.kind != PlannedBlock::Kind::scratch) continue;
    const ScheduleStep& step = m.schedule->steps[scratch.step];
    const auto& d = static_cast<const DelegateState&>(*m.calls[scratch.step]);
    if (d.backend->may_overwrite == nullptr || !d.planned) continue;
    if (!made) made.emplace(m.plan, m.schedule->slot_count);
    overwrite_inputs(m.plan, *made, b, m.schedule->at(step.inputs), m.schedule->at(step.outputs).size(),
                     [&](std::size_t in, std::size_t out) { return d.backend->may_overwrite(d.call.handle, in, out); });
  }
}

/// Last use and producer of each slot, with positions among inputs and outputs.
class SlotUses {
 public:
  struct Use {
    std::uint32_t step = no_id;
    std::uint32_t place = 0;  ///< first position
    std::uint32_t count = 0;  ///< number of uses among the step's inputs
  };
  /// O(size of the schedule).
  explicit SlotUses(const MethodState& m)
      : last_(m.schedule->slot_count),
        made_(m.schedule->slot_count),
        inputs_(m.schedule->slot_count, 0),
        plain_(m.schedule->slot_count, 1) {
    const Schedule& schedule = *m.schedule;
    const Range root = schedule.graphs[root_graph].steps;
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
      const ScheduleStep& step = schedule.steps[i];
      const std::span<const std::uint32_t> in = schedule.at(step.inputs), out = schedule.at(step.outputs);
      const bool plain = step.kind == StepKind::call_delegate && i >= root.first && i < root.first + root.count &&
                         m.views[step.delegate] == 0;
      for (std::uint32_t k = 0; k < in.size(); ++k) {
        Use& use = last_[in[k]];
        if (use.step != i) use = {i, k, 0};
        ++use.count;
        if (!plain) plain_[in[k]] = 0;
      }
      for (std::uint32_t k = 0; k < out.size(); ++k)
        if (made_[out[k]].step != i) made_[out[k]] = {i, k, 1};
    }
    const auto forget = [&](std::span<const std::uint32_t> slots) {
      for (const std::uint32_t slot : slots) plain_[slot] = 0;
    };
    for (const ScheduleGraph& graph : schedule.graphs) {
      forget(schedule.at(graph.outputs));
      if (&graph != schedule.graphs.data()) forget(schedule.at(graph.inputs));
    }
    forget(schedule.output_slots);
    for (const std::uint32_t slot : schedule.input_slots) ++inputs_[slot];
  }
  /// Returns the last use of a slot that is exactly one method input, if only root-graph partitions use it and nothing
  /// views it; else a Use without step.
  [[nodiscard]] Use last_plain(std::uint32_t slot) const noexcept {
    return plain_[slot] != 0 && inputs_[slot] == 1 ? last_[slot] : Use{};
  }
  [[nodiscard]] Use made(std::uint32_t slot) const noexcept { return made_[slot]; }

 private:
  std::vector<Use> last_, made_;       ///< per slot
  std::vector<std::uint32_t> inputs_;  ///< per slot: number of method inputs in it
  std::vector<std::uint8_t> plain_;
};

/// Makes the new value of a buffer in the buffer's own memory, if the partition supports it and nothing reads the old
/// value afterwards. O(size of the schedule).
void update_state(MethodState& m) {
  const std::vector<CallFrame::Update> updates = m.frame.updates();
  if (updates.empty()) return;
  const SlotUses uses(m);
  std::vector<std::uint32_t> scratch(m.schedule->steps.size(),
                                     no_id);  // per step: its scratch block; the blocks of its outputs follow
  for (std::uint32_t b = 0; b < m.plan.blocks.size(); ++b)
    if (m.plan.blocks[b].kind == PlannedBlock::Kind::scratch) scratch[m.plan.blocks[b].step] = b;
  for (const auto& [in, out] : updates) {
    const std::uint32_t old = m.schedule->input_slots[in], slot = m.schedule->output_slots[out];
    const SlotUses::Use last = uses.last_plain(old), made = uses.made(slot);
    if (last.step == no_id || last.count != 1 || made.step != last.step || scratch[last.step] == no_id) continue;
    const auto& d = static_cast<const DelegateState&>(*m.calls[last.step]);
    if (!d.planned || d.backend->updates_input == nullptr ||
        !d.backend->updates_input(d.call.handle, last.place, made.place))
      continue;
    const TensorView* const state = m.slots[old].tensor_if();
    const TensorView* const destination = d.destinations[made.place].tensor_if();
    if (state == nullptr || destination == nullptr || state->dtype != destination->dtype || !state->is_contiguous() ||
        !std::ranges::equal(state->sizes(), destination->sizes()))
      continue;
    PlannedBlock& block = m.plan.blocks[scratch[last.step] + 1 + made.place];
    if (block.shares != no_id) continue;
    block.in_state = old;
    block.life.bytes = 0;
  }
}

void assign_addresses(MethodState& m) {
  m.moved = false;
  std::size_t scratch = 0;  // index of the last scratch block; its step's outputs follow it
  for (std::size_t b = 0; b < m.plan.blocks.size(); ++b) {
    const PlannedBlock& block = m.plan.blocks[b];
    std::byte* const at = block.in_state == no_id ? m.arena.span().data() + block.offset
                                                  : static_cast<std::byte*>(m.slots[block.in_state].tensor().data);
    if (block.kind == PlannedBlock::Kind::scratch) scratch = b;
    auto& d = static_cast<DelegateState&>(*m.calls[block.step]);
    if (!d.planned) continue;
    if (b == scratch) {
      d.call.scratch = std::span(at, block.life.bytes);
    } else if (EValue& to = d.destinations[b - scratch - 1]; to.is_tensor()) {
      to.tensor().data = at;
    }
  }
}

bool plan_run(MethodState& m, Error& error) {
  m.planned = false;
  if (m.plan.blocks.empty()) {
    m.planned = true;
    return true;
  }
  const GraphModuleView graph = m.method->parent.view();
  for (PlannedBlock& block : m.plan.blocks) block.shares = block.in_state = no_id;
  // try upper bounds first, so that the arena need not grow; if that takes too much memory, use the actual sizes
  std::vector<std::size_t> most(m.plan.blocks.size(), 0);
  if (const SymbolValues bounds = upper_bounds(m.method->parent); bounds_known(graph, bounds)) {
    Error ignored;
    std::vector<std::int64_t> dims;
    const auto limit = std::min<std::uint64_t>(max_arena_bytes, m.context->limits.max_memory);
    if (size_blocks(m, bounds, dims, limit, ignored) && m.plan.total_bytes() <= limit)
      for (std::size_t b = 0; b < most.size(); ++b) most[b] = m.plan.blocks[b].life.bytes;
  }
  if (!size_blocks(m, sizes_of_inputs(m, graph), m.dims, std::nullopt, error)) return false;
  for (std::size_t b = 0; b < most.size(); ++b)
    m.plan.blocks[b].life.bytes = std::max(m.plan.blocks[b].life.bytes, most[b]);
  extend_viewed_lifetimes(m);
  reuse_inputs(m);
  update_state(m);
  const bool fits = m.plan.total_bytes() <= max_plan_bytes;
  if (fits) place_blocks(m.plan);
  if (!fits || m.plan.arena_bytes > m.context->limits.max_memory || !m.arena.reserve(m.plan.arena_bytes)) {
    error = no_memory_for("arena", fits ? m.plan.arena_bytes : m.plan.total_bytes(), m.context->limits.max_memory);
    error.where = concat("method '", m.method->name, "'");
    return false;
  }
  assign_addresses(m);
  m.planned = true;
  return true;
}

}  // namespace davit::detail
