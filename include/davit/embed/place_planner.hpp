// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backend/memory_plan.hpp"
#include "davit/core/table.hpp"
#include "davit/embed/control_places.hpp"
#include "davit/embed/planned_program.hpp"

namespace davit::detail {

/// Assigns values their places. Blocks are numbered: first values, then temporaries.
class PlacePlanner {
 public:
  /// With `in_arena` user inputs and outputs are blocks of the arena, else the caller's tensors.
  constexpr PlacePlanner(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs,
                         bool in_arena, PlannedProgram& plan)
      : graph_(graph),
        inputs_(inputs),
        outputs_(outputs),
        values_(graph.values),
        value_count_(graph.value_count),
        tensors_in_arena_(in_arena),
        plan_(plan) {}

  constexpr void run() {
    const StepTables& t = plan_.selected.tables;
    const auto steps = static_cast<std::uint32_t>(t.steps.size());
    root_ = Table<std::uint32_t>(value_count_ + t.temporaries.size());
    std::uint32_t block = 0;
    for (std::uint32_t& root : root_) root = block++;
    for (std::size_t a = t.aliases.size(); a-- > 0;) root_[t.aliases[a].value] = t.aliases[a].source;
    place_ = Table<StaticOperand>(root_.size());
    life_ = Table<Lifetime>(root_.size(), Lifetime{no_id, 0, 0});
    place_inputs();
    ControlPlaces control(*this);
    if (graph_.graph_count != 0) control.drop_detours();
    const StaticStep* step = t.steps.data();
    const StepOperand* const operands = t.operands.data();
    for (std::uint32_t s = 0; s < steps; ++s, ++step) {
      if (step->control == StaticControl::nothing) continue;
      const StepOperand* const end = operands + step->operands.first + step->operands.count;
      for (const StepOperand* o = operands + step->operands.first; o != end; ++o) touch(block_of(*o), s);
    }
    find_outputs(steps);
    if (graph_.graph_count != 0) {
      control.stretch();
      control.merge();
    }
    reuse_inputs();
    place_blocks();
    plan_.operands.reserve(t.operands.size());
    for (const StepOperand& o : t.operands) plan_.operands.push_back(resolve(o));
    finish_copies();
    for (std::size_t i = 0; tensors_in_arena_ && i < port_blocks_.size(); ++i)
      plan_.ports[i].offset = place_[root(port_blocks_[i])].offset;
    count_constants();
  }

 private:
  friend ControlPlaces<PlacePlanner>;

  [[nodiscard]] constexpr std::uint32_t root(std::uint32_t block) noexcept {
    std::uint32_t* const up = root_.begin();
    std::uint32_t r = up[block];
    while (up[r] != r) r = up[r];
    while (up[block] != r) {
      const std::uint32_t next = up[block];
      up[block] = r;
      block = next;
    }
    return r;
  }
  [[nodiscard]] constexpr std::uint32_t block_of(const StepOperand& o) noexcept {
    if (o.kind == StepOperand::Kind::output || o.kind == StepOperand::Kind::input) return root(o.id);
    if (o.kind == StepOperand::Kind::temporary) return value_count_ + o.id;
    return no_id;
  }
  [[nodiscard]] constexpr std::uint32_t numel(ValueId v) const noexcept {
    return static_cast<std::uint32_t>(values_[v].numel);
  }
  [[nodiscard]] constexpr std::size_t bytes(std::uint32_t block) const noexcept {
    if (block < value_count_) return numel(block) * size_of(values_[block].dtype);
    const std::size_t temporaries = plan_.selected.tables.temporaries.size();
    if (block >= value_count_ + temporaries) return bytes(staged_[block - value_count_ - temporaries]);
    const StaticTemporary& t = plan_.selected.tables.temporaries[block - value_count_];
    return t.count * size_of(t.dtype);
  }
  constexpr void touch(std::uint32_t block, std::uint32_t step) noexcept {
    if (block == no_id) return;
    Lifetime& life = life_[block];
    if (life.first == no_id) {
      life = {step, step, bytes(block)};
    } else {
      if (step > life.last) life.last = step;
    }
  }

  constexpr void place_inputs() {
    const StaticInput* input = inputs_;
    StaticOperand* const place = place_.begin();
    plan_.state_offset = Table<std::uint32_t>(graph_.input_count, no_id);
    for (std::uint32_t i = 0; i < graph_.input_count; ++i, ++input) {
      const ValueId v = graph_.inputs[i];
      if (v == no_id) continue;
      const ScalarType dtype = values_[v].dtype;
      StaticOperand& at = place[v];
      switch (input->role) {
        case StaticRole::unused: break;
        case StaticRole::user:
          if (tensors_in_arena_)
            touch(v, 0);
          else
            at = {StaticPlace::argument, dtype, 0, 0, static_cast<std::uint32_t>(plan_.ports.size())};
          plan_.ports.push_back({.value = v});
          port_blocks_.push_back(v);
          break;
        case StaticRole::constant: {
          const ConstantData& data = input->data;
          if (data.place == ConstantData::Place::array) at = {StaticPlace::array, dtype, 0, 0, i};
          if (data.place == ConstantData::Place::blob) at = {StaticPlace::blob, dtype, 0, 0, data.offset};
          break;
        }
        case StaticRole::state: {
          std::uint32_t& count = plan_.state.counts[state_pool(dtype)];
          const std::uint32_t first = input->state_at == no_id ? count : input->state_at;
          at = {StaticPlace::state, dtype, 1, 0, first};
          plan_.state_offset[i] = first;
          if (first + numel(v) > count) count = first + numel(v);
          break;
        }
      }
    }
  }

  /// User outputs become forward's arguments; an output without another place is computed in the caller's memory.
  constexpr void find_outputs(std::uint32_t steps) {
    for (std::uint32_t i = 0; i < graph_.output_count; ++i) {
      const ValueId v = graph_.outputs[i];
      if (v == no_id || outputs_[i].role == StaticOutputRole::unused) continue;
      const std::uint32_t r = root(v);
      const ScalarType dtype = values_[v].dtype;
      if (outputs_[i].role == StaticOutputRole::user && tensors_in_arena_) {
        plan_.ports.push_back({.value = v, .is_output = 1});
        const bool stays = place_[r].place == StaticPlace::nowhere && !is_mutated(r);
        port_blocks_.push_back(stays ? r : staged(v, steps));
        if (!stays) copies_.push_back({.value = v, .to_block = port_blocks_.back(), .count = numel(v)});
        touch(r, steps);
      } else if (outputs_[i].role == StaticOutputRole::user) {
        const StaticOperand to{StaticPlace::argument, dtype, 1, 0, static_cast<std::uint32_t>(plan_.ports.size())};
        plan_.ports.push_back({.value = v, .is_output = 1});
        const bool direct = place_[r].place == StaticPlace::nowhere && bytes(r) == bytes(v) && life_[r].first != no_id;
        if (direct)
          place_[r] = to;
        else
          copies_.push_back({.value = v, .to = to, .count = numel(v)});
        touch(r, steps);
      } else {
        touch(r, steps);
        mutate(v, outputs_[i].target, steps);
      }
    }
  }
  /// A new block for a copy of a value after the last step.
  constexpr std::uint32_t staged(ValueId v, std::uint32_t steps) {
    const auto block = static_cast<std::uint32_t>(root_.size());
    staged_.push_back(v);
    root_.push_back(block);
    place_.push_back({});
    life_.push_back({no_id, 0, 0});
    touch(block, steps);
    return block;
  }
  /// Records a write-back; a new value that another write-back may overwrite is first moved to a temporary block.
  constexpr void mutate(ValueId v, std::uint32_t input, std::uint32_t steps) {
    const ValueId target = graph_.inputs[input];
    const StaticOperand to = mutated(target);
    const StaticOperand& from = place_[root(v)];
    const bool is_input =
        from.place == StaticPlace::state ||
        (from.place == (tensors_in_arena_ ? StaticPlace::nowhere : StaticPlace::argument) && input_of(root(v)));
    if (root(v) == target) return touch(target, steps);
    if (is_input && from.place != StaticPlace::nowhere && same_address(from, to) && from.dtype == to.dtype) return;
    const bool to_arena = to.place == StaticPlace::nowhere;
    if (to_arena) touch(target, steps);
    mutations_.push_back({v, to, to_arena ? target : no_id, numel(v), is_input ? staged(v, steps) : no_id});
  }
  [[nodiscard]] constexpr bool input_of(ValueId v) const noexcept { return values_[v].source < 0; }
  /// True if the program writes that graph input back.
  [[nodiscard]] constexpr bool is_mutated(ValueId v) const noexcept {
    for (std::uint32_t i = 0; i < graph_.output_count; ++i)
      if (outputs_[i].role == StaticOutputRole::mutation && graph_.inputs[outputs_[i].target] == v) return true;
    return false;
  }
  /// The destination of that graph input's new value.
  [[nodiscard]] constexpr StaticOperand mutated(ValueId input) noexcept {
    StaticOperand to = place_[input];
    to.writable = 1;
    if (to.place == StaticPlace::argument) plan_.ports[to.offset].is_mutated = 1;
    return to;
  }

  /// Places outputs in inputs that die at the same step, if the step allows it.
  constexpr void reuse_inputs() {
    const StaticStep* step = plan_.selected.tables.steps.data();
    const auto steps = static_cast<std::uint32_t>(plan_.selected.tables.steps.size());
    for (std::uint32_t s = 0; s < steps; ++s, ++step) {
      if (step->overwrites[0] == no_id) continue;
      const std::uint32_t to = first_output(*step);
      if (to == no_id || !in_arena(to) || life_[to].first != s) continue;
      if (!move_into(step->overwrites[0], to, s)) move_into(step->overwrites[1], to, s);
    }
  }
  [[nodiscard]] constexpr std::uint32_t first_output(const StaticStep& s) noexcept {
    const StepOperand* o = plan_.selected.tables.operands.data() + s.operands.first;
    for (const StepOperand* const end = o + s.operands.count; o != end; ++o)
      if (o->kind == StepOperand::Kind::output) return root(o->id);
    return no_id;
  }
  constexpr bool move_into(ValueId input, std::uint32_t to, std::uint32_t step) noexcept {
    if (input == no_id) return false;
    const std::uint32_t from = root(input);
    if (to == from || !in_arena(from)) return false;
    Lifetime& old = life_[from];
    Lifetime& moved = life_[to];
    if (old.last != step || moved.bytes > old.bytes) return false;
    old.last = moved.last;
    moved.first = no_id;
    root_[to] = from;
    return true;
  }
  [[nodiscard]] constexpr bool in_arena(std::uint32_t block) const noexcept {
    return place_[block].place == StaticPlace::nowhere && life_[block].first != no_id;
  }

  constexpr void place_blocks() {
    Table<std::uint32_t> blocks;
    bool sorted = true;
    const auto count = static_cast<std::uint32_t>(root_.size());
    const std::uint32_t* const root = root_.data();
    for (std::uint32_t b = 0; b < count; ++b) {
      if (root[b] != b || !in_arena(b)) continue;
      sorted = sorted && (blocks.empty() || life_[blocks.back()].first <= life_[b].first);
      blocks.push_back(b);
    }
    if (!sorted)
      std::sort(blocks.begin(), blocks.end(), [&](std::uint32_t a, std::uint32_t b) {
        return life_[a].first != life_[b].first ? life_[a].first < life_[b].first : a < b;
      });
    plan_.lifetimes.reserve(blocks.size());
    plan_.offsets.reserve(blocks.size());
    for (const std::uint32_t b : blocks) plan_.lifetimes.push_back(life_[b]);
    const MemoryPlan memory =
        plan_memory_smallest({plan_.lifetimes.data(), plan_.lifetimes.size()}, 256, static_alignment);
    const std::size_t* offset = memory.offsets.data();
    for (const std::uint32_t b : blocks) {
      const auto at = static_cast<std::uint32_t>(*offset++);
      const auto end = at + static_cast<std::uint32_t>(life_[b].bytes);
      plan_.offsets.push_back(at);
      if (end > plan_.arena_bytes) plan_.arena_bytes = end;
      place_[b] = {StaticPlace::arena, ScalarType::undefined, 1, 0, at};
    }
  }

  [[nodiscard]] constexpr StaticOperand resolve(const StepOperand& o) noexcept {
    if (o.kind == StepOperand::Kind::none) return {StaticPlace::nowhere, o.dtype, 0, 0, 0};
    if (o.kind == StepOperand::Kind::table) return {StaticPlace::table, o.dtype, 0, 0, o.id};
    StaticOperand at = place_[block_of(o)];
    at.dtype = o.dtype;
    at.writable = o.kind == StepOperand::Kind::input ? 0 : 1;
    return at;
  }

  constexpr void finish_copies() {
    const auto from = [&](ValueId v) { return resolve({StepOperand::Kind::input, values_[v].dtype, 0, v}); };
    const auto in_block = [&](std::uint32_t block, ValueId v) {
      StaticOperand at = place_[root(block)];
      at.dtype = values_[v].dtype;
      return at;
    };
    const auto to = [&](const Pending& c) { return c.to_block == no_id ? c.to : in_block(c.to_block, c.value); };
    for (const Pending& c : copies_) plan_.copies.push_back({from(c.value), to(c), c.count});
    for (const Pending& c : mutations_)
      if (c.temporary != no_id) plan_.copies.push_back({from(c.value), in_block(c.temporary, c.value), c.count});
    for (const Pending& c : mutations_)
      plan_.copies.push_back({c.temporary != no_id ? in_block(c.temporary, c.value) : from(c.value), to(c), c.count});
  }
  [[nodiscard]] static constexpr bool same_address(const StaticOperand& a, const StaticOperand& b) noexcept {
    return a.place == b.place && a.offset == b.offset;
  }

  /// Adds up the bytes of constants that a step or a copy reads.
  constexpr void count_constants() {
    plan_.is_read = Table<std::uint8_t>(graph_.input_count);
    for (std::uint32_t i = 0; i < graph_.input_count; ++i) {
      const ValueId v = graph_.inputs[i];
      if (inputs_[i].role != StaticRole::constant || v == no_id || life_[v].first == no_id) continue;
      plan_.is_read[i] = 1;
      plan_.constant_bytes += static_cast<std::uint32_t>(inputs_[i].data.bytes());
    }
  }

  struct Pending {
    ValueId value = no_id;
    StaticOperand to{};
    std::uint32_t to_block = no_id;  ///< a block of the arena in place of `to`
    std::uint32_t count = 0;
    std::uint32_t temporary = no_id;
  };
  StaticGraph graph_;
  const StaticInput* inputs_;
  const StaticOutput* outputs_;
  const StaticValue* values_;
  std::uint32_t value_count_;
  bool tensors_in_arena_;
  PlannedProgram& plan_;
  Table<std::uint32_t> root_;
  Table<StaticOperand> place_;
  Table<Lifetime> life_;
  std::vector<ValueId> staged_;
  std::vector<std::uint32_t> port_blocks_;  ///< per port: its block, if tensors are in the arena
  std::vector<Pending> copies_;
  std::vector<Pending> mutations_;
};

}  // namespace davit::detail
