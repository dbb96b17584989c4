// SPDX-License-Identifier: MIT
#include "davit/embed/place_planner.hpp"

#include <doctest/doctest.h>

#include "davit/embed/static_plan.hpp"
#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;

constexpr bool is_sound_plan(const PlannedProgram& p) {
  MemoryPlan memory{.offsets = {}, .arena_bytes = p.arena_bytes};
  for (const std::uint32_t offset : p.offsets) memory.offsets.push_back(offset);
  return is_sound(memory, p.lifetimes);
}

/// y = 1 / (x + t) + t, and x becomes t.
constexpr GraphModule make_in_arena() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {4}), t = b.input("t", f32, {4});
  const ValueId r = call(b, "aten.reciprocal.default", "r", add(b, "s", x, t));
  b.end_graph({t, add(b, "y", r, t)});
  return std::move(b).finish();
}
struct in_arena : static_program_of<make_in_arena> {
  static constexpr std::array outputs{mutation_of(0), user_output()};
};

constexpr bool lives_from_the_call_to_its_end() {
  const PlannedProgram p =
      plan_static<calculator>(in_arena::tables.view(), in_arena::inputs.data(), in_arena::outputs.data(), true);
  bool ok = is_sound_plan(p) && p.ports.size() == 3 && p.copies.size() == 2 && p.selected.tables.steps.size() == 3;
  std::uint32_t from_the_first = 0, to_the_end = 0;
  for (const Lifetime& life : p.lifetimes) {
    from_the_first += life.first == 0 ? 1 : 0;
    to_the_end += life.last == 3 ? 1 : 0;
  }
  // from the start: x, t, and s in its own block; to the end: x (written back), t (its new value), the temporary, and y
  ok = ok && from_the_first == 3 && to_the_end == 4;
  const StaticPort *x = p.ports.data(), *t = x + 1, *y = x + 2;
  ok = ok && x->is_output == 0 && t->is_output == 0 && y->is_output == 1;
  ok = ok && x->offset != t->offset && t->offset != y->offset && x->offset != y->offset;
  const StaticCopy& aside = p.copies[0];
  const StaticCopy& back = p.copies[1];
  return ok && aside.from.offset == t->offset && back.from.offset == aside.to.offset && back.to.offset == x->offset;
}
static_assert(lives_from_the_call_to_its_end());

}  // namespace

TEST_CASE("tensors in the arena keep their places while they are needed") { CHECK(lives_from_the_call_to_its_end()); }
