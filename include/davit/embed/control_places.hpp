// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "davit/backend/memory_plan.hpp"
#include "davit/core/table.hpp"
#include "davit/embed/control_flow.hpp"
#include "davit/embed/planned_program.hpp"

namespace davit::detail {

/// The effect of control flow on memory planning: lifetimes across loops, and moves that can be dropped. `Planner`
/// knows places, lifetimes and aliases.
template <class Planner>
class ControlPlaces {
 public:
  constexpr explicit ControlPlaces(Planner& planner) : planner_(planner), tables_(planner.plan_.selected.tables) {}

  /// Before lifetimes are known: replaces the two moves of a loop-carried value through a temporary by one, unless the
  /// value is in another carried value's block.
  constexpr void drop_detours() {
    Table<std::uint8_t> is_carried(planner_.root_.size());
    for (StaticStep& step : tables_.steps)
      if (is_move(step) && from(step).kind == StepOperand::Kind::temporary) is_carried[planner_.block_of(to(step))] = 1;
    Table<std::uint32_t> aside(tables_.temporaries.size(), no_id);  // per temporary: the step that wrote it
    for (std::uint32_t s = 0; s < tables_.steps.size(); ++s) {
      StaticStep& step = tables_.steps[s];
      if (!is_move(step)) continue;
      if (to(step).kind == StepOperand::Kind::temporary) {
        aside[to(step).id] = s;
      } else if (from(step).kind == StepOperand::Kind::temporary) {
        StaticStep& earlier = tables_.steps[aside[from(step).id]];
        const std::uint32_t block = planner_.block_of(from(earlier));
        if (is_carried[block] != 0 && block != planner_.block_of(to(step))) continue;
        earlier.control = StaticControl::nothing;
        from(step) = from(earlier);
      }
      if (planner_.block_of(to(step)) == planner_.block_of(from(step))) step.control = StaticControl::nothing;
    }
  }

  /// Extends lifetimes over loops: a value from before a loop that the loop reads lives to the loop's end, and a value
  /// that the loop makes for later steps lives from the loop's beginning.
  constexpr void stretch() {
    Table<std::uint32_t> begins;
    for (std::uint32_t s = 0; s < tables_.steps.size(); ++s) {
      const StaticControl control = tables_.steps[s].control;
      if (control == StaticControl::loop || control == StaticControl::count) begins.push_back(s);
      if (control != StaticControl::repeat) continue;
      const std::uint32_t begin = begins.back();
      begins.shrink(begins.size() - 1);
      for (Lifetime& life : planner_.life_) {
        if (life.first == no_id || life.first > s || life.last < begin) continue;
        if (life.first < begin)
          life.last = std::max(life.last, s);
        else if (life.last > s)
          life.first = begin;
      }
    }
  }

  /// A value that dies in a move to another block is computed in that block, if the block is free until then.
  constexpr void merge() {
    Table<std::uint32_t> sides;  // the first step of the current side of each open branch
    for (std::uint32_t s = 0; s < tables_.steps.size(); ++s) {
      StaticStep& step = tables_.steps[s];
      if (step.control == StaticControl::branch) sides.push_back(s);
      if (step.control == StaticControl::otherwise) sides.back() = s;
      if (step.control == StaticControl::join) sides.shrink(sides.size() - 1);
      if (!is_move(step) || to(step).kind != StepOperand::Kind::output || from(step).kind != StepOperand::Kind::input)
        continue;
      const std::uint32_t place = planner_.block_of(to(step)), made = planner_.block_of(from(step));
      if (place == made || !planner_.in_arena(made) || planner_.values_[made].source < 0) continue;
      Lifetime& whole = planner_.life_[place];
      Lifetime& part = planner_.life_[made];
      const bool is_first = whole.first == s, is_within = !sides.empty() && part.first > sides.back() && ends_side(s);
      if (part.last != s || planner_.bytes(made) != planner_.bytes(place) || !(is_first || is_within)) continue;
      whole.first = std::min(whole.first, part.first);
      part.first = no_id;
      planner_.root_[made] = place;
      step.control = StaticControl::nothing;
    }
  }

 private:
  [[nodiscard]] constexpr bool is_move(const StaticStep& step) const noexcept {
    return step.kernel == kernel_id<control_flow::move> && step.control == StaticControl::none;
  }
  [[nodiscard]] constexpr StepOperand& to(const StaticStep& step) noexcept {
    return tables_.operands[step.operands.first];
  }
  [[nodiscard]] constexpr StepOperand& from(const StaticStep& step) noexcept {
    return tables_.operands[step.operands.first + 1];
  }
  /// True if the move ends a side of a branch.
  [[nodiscard]] constexpr bool ends_side(std::uint32_t s) noexcept {
    while (s < tables_.steps.size() &&
           (is_move(tables_.steps[s]) || tables_.steps[s].control == StaticControl::nothing))
      ++s;
    return s < tables_.steps.size() &&
           (tables_.steps[s].control == StaticControl::otherwise || tables_.steps[s].control == StaticControl::join);
  }

  Planner& planner_;
  StepTables& tables_;
};

}  // namespace davit::detail
