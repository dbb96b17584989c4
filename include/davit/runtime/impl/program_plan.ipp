// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "davit/runtime/program_plan.hpp"

namespace davit {

namespace detail {
[[nodiscard]] Name block_name(const PlannedBlock& block, GraphModuleView graph) {
  if (block.kind == PlannedBlock::Kind::scratch) return concat("scratch of step ", block.step);
  return block.slot < graph.values.size() ? concat("'", graph.name(block.slot), "'")
                                          : concat("new value of a buffer, slot ", block.slot);
}
}  // namespace detail

Name ProgramPlan::report(GraphModuleView graph) const {
  std::vector<const PlannedBlock*> sorted;
  for (const PlannedBlock& block : blocks)
    if (block.life.bytes != 0) sorted.push_back(&block);
  std::ranges::sort(sorted, [](const PlannedBlock* a, const PlannedBlock* b) {
    return a->offset != b->offset ? a->offset < b->offset : a->life.first < b->life.first;
  });
  Name text = concat("arena ", arena_bytes, " bytes for ", total_bytes(), " bytes in ", sorted.size(), " blocks\n");
  for (const PlannedBlock* block : sorted)
    text = concat(text, "  at ", block->offset, ", ", block->life.bytes, " bytes, ticks ", block->life.first, " to ",
                  block->life.last, ": ", detail::block_name(*block, graph), "\n");
  return text;
}

PartitionReport::Memory ProgramPlan::memory(const Schedule& schedule, GraphModuleView graph) const {
  PartitionReport::Memory out{.arena_bytes = arena_bytes, .total_bytes = total_bytes(), .ticks = ticks, .blocks = {}};
  for (const PlannedBlock& block : blocks)
    if (block.life.bytes != 0)
      out.blocks.push_back({.what = detail::block_name(block, graph),
                            .partition = schedule.steps[block.step].delegate,
                            .scratch = block.kind == PlannedBlock::Kind::scratch,
                            .offset = block.offset,
                            .bytes = block.life.bytes,
                            .first = block.life.first,
                            .last = block.life.last});
  return out;
}

bool ProgramPlan::is_sound() const {
  std::vector<const PlannedBlock*> sorted;
  for (const PlannedBlock& block : blocks) {
    if (block.life.bytes == 0) continue;
    if (block.offset > arena_bytes || block.life.bytes > arena_bytes - block.offset) return false;
    sorted.push_back(&block);
  }
  std::ranges::sort(sorted, [](const PlannedBlock* a, const PlannedBlock* b) { return a->life.first < b->life.first; });
  std::vector<const PlannedBlock*> alive;
  for (const PlannedBlock* block : sorted) {
    std::erase_if(alive, [&](const PlannedBlock* other) { return other->life.last < block->life.first; });
    for (const PlannedBlock* other : alive) {
      const bool apart =
          block->offset >= other->offset + other->life.bytes || other->offset >= block->offset + block->life.bytes;
      if (!apart && !handed_over(*other, *block)) return false;
    }
    alive.push_back(block);
  }
  return true;
}

namespace detail {

/// Walks a schedule in execution order and records where each value is made and last used.
///
/// Values that may share storage (for example through control flow) form a class that lives as long as any member.
/// Operands of a loop live until the loop ends, because any iteration may read them.
class LifetimeWalker {
 public:
  LifetimeWalker(const Schedule& schedule, std::span<const std::uint8_t> views)
      : schedule_(schedule), views_(views), class_(schedule.slot_count), last_use_(schedule.slot_count, 0) {
    for (std::uint32_t s = 0; s < schedule.slot_count; ++s) class_[s] = s;
  }

  [[nodiscard]] ProgramPlan run() {
    good_ = true;
    walk(root_graph, 0);
    ++tick_;
    for (const std::uint32_t slot : schedule_.output_slots) use(slot);
    for (const Schedule::MovedBuffer& buffer : schedule_.buffers) use(buffer.result);
    std::vector<std::uint32_t> last(schedule_.slot_count, 0);
    for (std::uint32_t s = 0; s < schedule_.slot_count; ++s) last[root(s)] = std::max(last[root(s)], last_use_[s]);
    for (PlannedBlock& block : plan_.blocks)
      if (block.kind == PlannedBlock::Kind::value) block.life.last = std::max(block.life.first, last[root(block.slot)]);
    plan_.ticks = tick_;
    if (!good_) plan_.blocks.clear();
    return std::move(plan_);
  }

 private:
  static constexpr int max_depth = 64;

  void walk(GraphId graph, int depth) {
    if (depth > max_depth) {
      good_ = false;
      return;
    }
    const Range steps = schedule_.graphs[graph].steps;
    for (std::uint32_t i = steps.first; i < steps.first + steps.count; ++i) step(i, depth);
  }
  void step(std::uint32_t index, int depth) {
    const ScheduleStep& s = schedule_.steps[index];
    const std::span<const std::uint32_t> in = schedule_.at(s.inputs);
    const std::span<const std::uint32_t> out = schedule_.at(s.outputs);
    ++tick_;
    if (s.kind == StepKind::call_delegate) {
      for (const std::uint32_t slot : in) use(slot);
      if (s.delegate < views_.size() && views_[s.delegate] != 0 && !in.empty() && !out.empty())
        for (const std::span<const std::uint32_t> slots : {in, out})  // each output may view any input
          for (const std::uint32_t slot : slots) class_[root(slot)] = root(in[0]);
      plan_.blocks.push_back({.kind = PlannedBlock::Kind::scratch, .step = index, .life = {tick_, tick_, 0}});
      for (const std::uint32_t slot : out)
        plan_.blocks.push_back({.slot = slot, .step = index, .life = {tick_, tick_, 0}});
      return;
    }
    const std::size_t own = use_at_end_.size();  // start of this step's entries, behind those of enclosing loops
    switch (s.kind) {
      case StepKind::cond:
        for (const GraphId branch : {s.graph, s.other}) {
          join(in.subspan(1), inputs_of(branch));
          join(out, outputs_of(branch));
          walk(branch, depth + 1);
        }
        break;
      case StepKind::while_loop:
        join(out, in.first(std::min<std::size_t>(in.size(), s.carried)));  // zero iterations: outputs = inputs
        for (const GraphId part : {s.graph, s.other}) {
          join(in, inputs_of(part));
          walk(part, depth + 1);
          for (const std::uint32_t slot : outputs_of(part)) use_at_end_.push_back(slot);
        }
        break;
      default:
        join(in, inputs_of(s.graph));
        walk(s.graph, depth + 1);
        for (const std::uint32_t slot : outputs_of(s.graph)) use_at_end_.push_back(slot);
    }
    ++tick_;
    for (const std::uint32_t slot : in) use(slot);
    for (std::size_t i = own; i < use_at_end_.size(); ++i) use(use_at_end_[i]);
    use_at_end_.resize(own);
  }
  [[nodiscard]] std::span<const std::uint32_t> inputs_of(GraphId g) const noexcept {
    return schedule_.at(schedule_.graphs[g].inputs);
  }
  [[nodiscard]] std::span<const std::uint32_t> outputs_of(GraphId g) const noexcept {
    return schedule_.at(schedule_.graphs[g].outputs);
  }

  void use(std::uint32_t slot) noexcept { last_use_[slot] = tick_; }
  void join(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) noexcept {
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) class_[root(a[i])] = root(b[i]);
  }
  [[nodiscard]] std::uint32_t root(std::uint32_t slot) noexcept {
    while (class_[slot] != slot) slot = class_[slot] = class_[class_[slot]];
    return slot;
  }

  const Schedule& schedule_;
  std::span<const std::uint8_t> views_;
  std::vector<std::uint32_t> class_;
  std::vector<std::uint32_t> last_use_;
  std::vector<std::uint32_t> use_at_end_;
  ProgramPlan plan_;
  std::uint32_t tick_ = 0;
  bool good_ = false;
};

}  // namespace detail

ProgramPlan plan_lifetimes(const Schedule& schedule, std::span<const std::uint8_t> views) {
  return detail::LifetimeWalker(schedule, views).run();
}

BlocksOfSlots::BlocksOfSlots(const ProgramPlan& plan, std::uint32_t slots) : first_(slots + std::size_t{1}, 0) {
  const auto for_each = [&](auto&& visit) {
    for (std::uint32_t b = 0; b < plan.blocks.size(); ++b)
      if (plan.blocks[b].kind == PlannedBlock::Kind::value) visit(plan.blocks[b].slot, b);
  };
  for_each([&](std::uint32_t slot, std::uint32_t) { ++first_[slot + 1]; });
  for (std::size_t s = 0; s < slots; ++s) first_[s + 1] += first_[s];
  blocks_.resize(first_.back());
  std::vector<std::uint32_t> next(first_);
  for_each([&](std::uint32_t slot, std::uint32_t b) { blocks_[next[slot]++] = b; });
}

void place_blocks(ProgramPlan& plan) {
  constexpr std::size_t many = 2000;
  std::vector<PlannedBlock>& blocks = plan.blocks;
  std::vector<Lifetime> life;
  for (const PlannedBlock& block : blocks) life.push_back(block.life);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].shares == no_id) continue;
    life[blocks[b].shares].last = std::max(life[blocks[b].shares].last, life[b].last);
    life[b].bytes = 0;
  }
  std::vector<std::uint32_t> order(blocks.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return life[a].first != life[b].first ? life[a].first < life[b].first : a < b;
  });
  std::vector<Lifetime> sorted;
  for (const std::uint32_t i : order) sorted.push_back(life[i]);
  MemoryPlan placed = plan_memory(sorted);
  if (blocks.size() <= many && placed.arena_bytes != placed.live_bytes)
    if (MemoryPlan by_size = plan_memory_by_size(sorted); by_size.arena_bytes < placed.arena_bytes)
      placed = std::move(by_size);
  for (std::size_t i = 0; i < order.size(); ++i) blocks[order[i]].offset = placed.offsets[i];
  for (PlannedBlock& block : blocks)
    if (block.shares != no_id) block.offset = blocks[block.shares].offset;
  plan.arena_bytes = placed.arena_bytes;
}

}  // namespace davit
