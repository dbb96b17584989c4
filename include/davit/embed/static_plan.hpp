// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backend/memory_plan.hpp"
#include "davit/core/table.hpp"
#include "davit/embed/select_steps.hpp"

namespace davit {

/// Blocks of a static program's arena lie at multiples of this many bytes.
inline constexpr std::size_t static_alignment = 16;

/// Where a value of a static program lies when the program runs.
enum class StaticPlace : std::uint8_t {
  nowhere,
  arena,     ///< `offset` bytes into the arena
  argument,  ///< the caller's tensor number `offset` (inputs, then outputs)
  state,     ///< element `offset` of the module's state of that element type
  blob,      ///< `offset` bytes into the program's weight blob
  array,     ///< the array of graph input `offset`
  table,     ///< element `offset` of the plan's table of that element type
};

/// A typed address.
struct StaticOperand {
  StaticPlace place = StaticPlace::nowhere;
  ScalarType dtype = ScalarType::undefined;
  std::uint8_t writable = 0;
  std::uint8_t reserved = 0;
  std::uint32_t offset = 0;
  friend constexpr bool operator==(const StaticOperand&, const StaticOperand&) = default;
};

/// One tensor of forward's call.
struct StaticPort {
  ValueId value = no_id;
  std::uint8_t is_output = 0;
  std::uint8_t is_mutated = 0;  ///< an input that forward writes back
};

/// Elements that move when all steps have run.
struct StaticCopy {
  StaticOperand from;
  StaticOperand to;
  std::uint32_t count = 0;
};

/// How many elements of each type the state has.
struct StatePools {
  std::array<std::uint32_t, 8> counts{};  ///< by state_pool

  [[nodiscard]] constexpr std::uint32_t bytes() const noexcept {
    constexpr std::array<std::uint32_t, 8> widths{4, 8, 1, 1, 2, 4, 8, 1};
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) sum += counts[i] * widths[i];
    return sum;
  }
};
/// The pool of that type; 8 if state cannot have it.
[[nodiscard]] constexpr std::size_t state_pool(ScalarType type) noexcept {
  constexpr std::array types{ScalarType::float32, ScalarType::float64, ScalarType::int8,  ScalarType::uint8,
                             ScalarType::int16,   ScalarType::int32,   ScalarType::int64, ScalarType::bool_};
  std::size_t i = 0;
  while (i < types.size() && types[i] != type) ++i;
  return i;
}

/// Everything about a static program that its code is generated from. Source of all offsets: one run of the planner.
struct PlannedProgram {
  SelectedSteps selected;
  Table<StaticOperand> operands;      ///< per row of the steps' operand table
  Table<StaticPort> ports;            ///< forward's arguments
  Table<StaticCopy> copies;           ///< user outputs first, then mutations
  Table<Lifetime> lifetimes;          ///< of the arena's blocks
  Table<std::uint32_t> offsets;       ///< of the arena's blocks
  Table<std::uint32_t> state_offset;  ///< per graph input: element in the state of its type; no_id if it is no state
  StatePools state;
  std::uint32_t arena_bytes = 0;
  std::uint32_t constant_bytes = 0;  ///< of constants that steps read
};

namespace detail {

/// Finds where values lie. Blocks are numbered: values, then temporaries.
class PlacePlanner {
 public:
  constexpr PlacePlanner(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs,
                         PlannedProgram& plan)
      : graph_(graph),
        inputs_(inputs),
        outputs_(outputs),
        values_(graph.values),
        value_count_(graph.value_count),
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
    const StaticStep* step = t.steps.data();
    const StepOperand* const operands = t.operands.data();
    for (std::uint32_t s = 0; s < steps; ++s, ++step) {
      const StepOperand* const end = operands + step->operands.first + step->operands.count;
      for (const StepOperand* o = operands + step->operands.first; o != end; ++o) touch(block_of(*o), s);
    }
    find_outputs(steps);
    reuse_inputs();
    place_blocks();
    plan_.operands.reserve(t.operands.size());
    for (const StepOperand& o : t.operands) plan_.operands.push_back(resolve(o));
    finish_copies();
    count_constants();
  }

 private:
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
          at = {StaticPlace::argument, dtype, 0, 0, static_cast<std::uint32_t>(plan_.ports.size())};
          plan_.ports.push_back({.value = v});
          break;
        case StaticRole::constant: {
          const ConstantData& data = input->data;
          if (data.place == ConstantData::Place::array) at = {StaticPlace::array, dtype, 0, 0, i};
          if (data.place == ConstantData::Place::blob) at = {StaticPlace::blob, dtype, 0, 0, data.offset};
          break;
        }
        case StaticRole::state: {
          std::uint32_t& count = plan_.state.counts[state_pool(dtype)];
          at = {StaticPlace::state, dtype, 1, 0, count};
          plan_.state_offset[i] = count;
          count += numel(v);
          break;
        }
      }
    }
  }

  /// User outputs become forward's arguments; one that nothing else claims is computed in the caller's memory.
  constexpr void find_outputs(std::uint32_t steps) {
    for (std::uint32_t i = 0; i < graph_.output_count; ++i) {
      const ValueId v = graph_.outputs[i];
      if (v == no_id || outputs_[i].role == StaticOutputRole::unused) continue;
      const std::uint32_t r = root(v);
      const ScalarType dtype = values_[v].dtype;
      if (outputs_[i].role == StaticOutputRole::user) {
        const StaticOperand to{StaticPlace::argument, dtype, 1, 0, static_cast<std::uint32_t>(plan_.ports.size())};
        plan_.ports.push_back({.value = v, .is_output = 1});
        const bool direct = place_[r].place == StaticPlace::nowhere && bytes(r) == bytes(v) && life_[r].first != no_id;
        if (direct)
          place_[r] = to;
        else
          copies_.push_back({v, to, numel(v)});
        touch(r, steps);
      } else {
        touch(r, steps);
        mutate(v, mutated(outputs_[i].target), steps);
      }
    }
  }
  /// A new value that lies where another write-back may write is moved aside first.
  constexpr void mutate(ValueId v, StaticOperand to, std::uint32_t steps) {
    const StaticOperand& from = place_[root(v)];
    const bool is_input =
        from.place == StaticPlace::state || (from.place == StaticPlace::argument && input_of(root(v)));
    if (is_input && same_address(from, to) && from.dtype == to.dtype) return;
    std::uint32_t temporary = no_id;
    if (is_input) {
      temporary = static_cast<std::uint32_t>(root_.size());
      staged_.push_back(v);
      root_.push_back(temporary);
      place_.push_back({});
      life_.push_back({no_id, 0, 0});
      touch(temporary, steps);
    }
    mutations_.push_back({v, to, numel(v), temporary});
  }
  [[nodiscard]] constexpr bool input_of(ValueId v) const noexcept { return values_[v].source < 0; }
  /// Where the new value of that graph input goes.
  [[nodiscard]] constexpr StaticOperand mutated(std::uint32_t input) noexcept {
    StaticOperand to = place_[graph_.inputs[input]];
    to.writable = 1;
    if (to.place == StaticPlace::argument) plan_.ports[to.offset].is_mutated = 1;
    return to;
  }

  /// Outputs move into inputs that die at their step, where the step allows it.
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
        plan_memory_tightly({plan_.lifetimes.data(), plan_.lifetimes.size()}, 256, static_alignment);
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
    for (const Pending& c : copies_) plan_.copies.push_back({from(c.value), c.to, c.count});
    const auto temporary = [&](const Pending& c) {
      StaticOperand at = place_[c.temporary];
      at.dtype = c.to.dtype;
      return at;
    };
    for (const Pending& c : mutations_)
      if (c.temporary != no_id) plan_.copies.push_back({from(c.value), temporary(c), c.count});
    for (const Pending& c : mutations_)
      plan_.copies.push_back({c.temporary != no_id ? temporary(c) : from(c.value), c.to, c.count});
  }
  [[nodiscard]] static constexpr bool same_address(const StaticOperand& a, const StaticOperand& b) noexcept {
    return a.place == b.place && a.offset == b.offset;
  }

  /// Adds up the constants that a step or a copy reads.
  constexpr void count_constants() {
    for (std::uint32_t i = 0; i < graph_.input_count; ++i)
      if (inputs_[i].role == StaticRole::constant && graph_.inputs[i] != no_id &&
          life_[graph_.inputs[i]].first != no_id)
        plan_.constant_bytes += static_cast<std::uint32_t>(inputs_[i].data.bytes());
  }

  struct Pending {
    ValueId value;
    StaticOperand to;
    std::uint32_t count;
    std::uint32_t temporary = no_id;
  };
  StaticGraph graph_;
  const StaticInput* inputs_;
  const StaticOutput* outputs_;
  const StaticValue* values_;
  std::uint32_t value_count_;
  PlannedProgram& plan_;
  Table<std::uint32_t> root_;
  Table<StaticOperand> place_;
  Table<Lifetime> life_;
  std::vector<ValueId> staged_;
  std::vector<Pending> copies_;
  std::vector<Pending> mutations_;
};

}  // namespace detail

/// Selects steps and plans memory. O(nodes + edges), and O(blocks^2) for up to 256 blocks of the arena.
template <class... Bs>
[[nodiscard]] constexpr PlannedProgram plan_static(const StaticGraph& graph, const StaticInput* inputs,
                                                   const StaticOutput* outputs) {
  PlannedProgram plan;
  plan.selected = select_steps<Bs...>(graph, inputs, outputs);
  if (plan.selected.orphans.empty() && plan.selected.unwritten.empty())
    detail::PlacePlanner(graph, inputs, outputs, plan).run();
  return plan;
}

}  // namespace davit
