// SPDX-License-Identifier: MIT
#include "davit/embed/control_places.hpp"

#include <doctest/doctest.h>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_plan.hpp"
#include "support/static_control.hpp"

namespace {

using namespace davit;
using namespace static_control;

template <auto make>
constexpr PlannedProgram plan(bool tensors_in_arena = false) {
  using Program = static_program_of<make>;
  return plan_static<portable_static>(Program::tables.view(), Program::inputs.data(), Program::outputs.data(),
                                      tensors_in_arena);
}
constexpr bool is_sound_plan(const PlannedProgram& p) {
  MemoryPlan memory{.offsets = {}, .arena_bytes = p.arena_bytes};
  for (const std::uint32_t offset : p.offsets) memory.offsets.push_back(offset);
  return is_sound(memory, p.lifetimes);
}
constexpr std::size_t count(const PlannedProgram& p, StaticControl control) {
  std::size_t n = 0;
  for (const StaticStep& step : p.selected.tables.steps) n += step.control == control ? 1 : 0;
  return n;
}
constexpr std::size_t moves(const PlannedProgram& p) {
  std::size_t n = 0;
  for (const StaticStep& step : p.selected.tables.steps)
    n += step.kernel == kernel_id<detail::control_flow::move> && step.control == StaticControl::none ? 1 : 0;
  return n;
}

constexpr bool branches_compute_in_place() {
  const PlannedProgram p = plan<make_branches>();
  // x in place of the inner branch's missing result, and z, which is an input or an earlier value
  return is_sound_plan(p) && count(p, StaticControl::branch) == 2 && moves(p) == 3;
}
static_assert(branches_compute_in_place());

constexpr bool loops_move_aside_what_is_overwritten() {
  const PlannedProgram p = plan<make_loop>();
  // before the loop: n, a, b; in the loop: b aside (it becomes a), then n, a and b
  return is_sound_plan(p) && moves(p) == 3 + 4;
}
static_assert(loops_move_aside_what_is_overwritten());

constexpr bool values_live_as_long_as_the_loops_that_read_them() {
  const PlannedProgram p = plan<make_loop>();
  const auto& steps = p.selected.tables.steps;
  std::uint32_t end = 0;
  while (steps[end].control != StaticControl::repeat) ++end;
  std::size_t to_the_end = 0;
  for (const Lifetime& life : p.lifetimes) to_the_end += life.first <= 3 && life.last >= end ? 1 : 0;
  return to_the_end == 3;  // t, n3, b3; a3 is the caller's
}
static_assert(values_live_as_long_as_the_loops_that_read_them());

constexpr bool what_loops_make_lives_from_their_beginning() {
  const PlannedProgram p = plan<make_swap>();
  const auto& steps = p.selected.tables.steps;
  std::uint32_t begin = 0, end = 0;
  while (steps[begin].control != StaticControl::count) ++begin;
  while (steps[end].control != StaticControl::repeat) ++end;
  std::size_t through = 0;
  for (const Lifetime& life : p.lifetimes) through += life.first <= begin && life.last >= end ? 1 : 0;
  // a2, b2, the rows, and the number of the iteration; both a2 and b2 are moved aside to change places
  return is_sound_plan(p) && through == 4 && moves(p) == 2 + 4;
}
static_assert(what_loops_make_lives_from_their_beginning());

constexpr bool all_are_sound() {
  return is_sound_plan(plan<make_branches>(true)) && is_sound_plan(plan<make_loop>(true)) &&
         is_sound_plan(plan<make_scan<true>>(true)) && is_sound_plan(plan<make_map>()) &&
         is_sound_plan(plan<make_map>(true));
}
static_assert(all_are_sound());

}  // namespace

TEST_CASE("places of values in control flow") {
  CHECK(branches_compute_in_place());
  CHECK(loops_move_aside_what_is_overwritten());
  CHECK(values_live_as_long_as_the_loops_that_read_them());
  CHECK(what_loops_make_lives_from_their_beginning());
  CHECK(all_are_sound());
}
