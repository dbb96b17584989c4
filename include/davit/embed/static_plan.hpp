// SPDX-License-Identifier: MIT
#pragma once

#include "davit/embed/place_planner.hpp"
#include "davit/embed/planned_program.hpp"
#include "davit/embed/select_steps.hpp"

namespace davit {

/// Selects steps and plans memory, with user inputs and outputs in the arena or in the caller's memory. O(nodes +
/// edges), and O(blocks^2) for up to 256 blocks of the arena.
template <class... Bs>
[[nodiscard]] constexpr PlannedProgram plan_static(const StaticGraph& graph, const StaticInput* inputs,
                                                   const StaticOutput* outputs, bool tensors_in_arena = false) {
  PlannedProgram plan;
  plan.selected = select_steps<Bs...>(graph, inputs, outputs);
  if (plan.selected.orphans.empty() && plan.selected.unwritten.empty())
    detail::PlacePlanner(graph, inputs, outputs, tensors_in_arena, plan).run();
  return plan;
}

}  // namespace davit
