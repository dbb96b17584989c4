// SPDX-License-Identifier: MIT
#include "davit/embed/static_plan.hpp"

#include <doctest/doctest.h>

#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;

template <class Program, class... Bs>
constexpr PlannedProgram plan() {
  return plan_static<Bs...>(Program::tables.view(), Program::inputs.data(), Program::outputs.data());
}
constexpr bool is_sound_plan(const PlannedProgram& p) {
  MemoryPlan memory{.offsets = {}, .arena_bytes = p.arena_bytes};
  for (const std::uint32_t offset : p.offsets) memory.offsets.push_back(offset);
  return is_sound(memory, p.lifetimes);
}

constexpr bool reuses_memory_in_place() {
  const PlannedProgram p = plan<static_program_of<make_chain<20>>, calculator>();
  return p.lifetimes.size() == 1 && p.arena_bytes == 16 && is_sound_plan(p);
}
static_assert(reuses_memory_in_place());

/// h = x + bias; y = relu(h) + h: h is read again, so that relu must not overwrite it.
constexpr GraphModule make_read_again() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {4});
  const ValueId h = add(b, "h", x, x);
  const ValueId active = call(b, "aten.relu.default", "active", h);
  const ValueId z = add(b, "z", active, h);
  b.end_graph({add(b, "y", z, x)});
  return std::move(b).finish();
}
constexpr bool keeps_what_is_read_again() {
  const PlannedProgram p = plan<static_program_of<make_read_again>, calculator>();
  return p.lifetimes.size() == 2 && p.arena_bytes == 32 && is_sound_plan(p);
}
static_assert(keeps_what_is_read_again());

/// x * 2 factors, with a kernel that needs scratch and a table.
constexpr GraphModule make_scaled() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId factors = b.input("factors", f32, {4}), x = b.input("x", f32, {4});
  const ValueId y = b.call("aten.mul.Tensor", {{"self", b.value(x)}, {"other", b.value(factors)}}, "y", f32, {4});
  b.end_graph({y});
  return std::move(b).finish();
}
struct scaled : static_program_of<make_scaled> {
  static constexpr std::array inputs{constant_input(bias), user_input()};
};
constexpr bool places_scratch_and_tables() {
  const PlannedProgram p = plan<scaled, calculator>();
  return p.arena_bytes == 16 && p.operands.size() == 4 && p.operands[0].place == StaticPlace::argument &&
         p.operands[0].writable == 1 && p.operands[1].place == StaticPlace::arena &&
         p.operands[2].place == StaticPlace::argument && p.operands[2].writable == 0 &&
         p.operands[3].place == StaticPlace::table && p.constant_bytes == 0;  // the constant itself is not read
}
static_assert(places_scratch_and_tables());

constexpr bool copies_after_the_steps() {
  const PlannedProgram p = plan<running_total, calculator>();
  return p.copies.size() == 1 && p.copies[0].to.place == StaticPlace::state &&
         p.copies[0].from.place == StaticPlace::arena && p.copies[0].count == 4 && p.state.bytes() == 16 &&
         p.ports.size() == 2;
}
static_assert(copies_after_the_steps());

}  // namespace

TEST_CASE("memory is planned at run time as in constant evaluation") {
  CHECK(reuses_memory_in_place());
  CHECK(keeps_what_is_read_again());
  CHECK(places_scratch_and_tables());
  CHECK(copies_after_the_steps());
}
