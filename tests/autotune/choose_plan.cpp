// SPDX-License-Identifier: MIT
#include "davit/autotune/choose_plan.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;
using Bits = std::vector<std::uint64_t>;
using Numbers = std::vector<std::uint32_t>;

namespace {

/// Three operators in a chain, each a region.
constexpr ProgramTables sample() {
  Draft d;
  d.output(d.sub("s", d.mul("m", d.add("a", d.user("x", {4}), 1.0), 2.0), 3.0));
  return d.finish();
}
constexpr RegionChoice choice_of(const ProgramTables& program) {
  return RegionChoice(program, {3, 3, 3}, {"A", "B"}, {.regions = 3});
}
/// A costs 100 per region; B costs 100 too, but 40 for the middle region.
constexpr CostTable costs(const RegionChoice& choice, std::uint64_t border = 0) {
  CostTable table;
  table.border_ns = border;
  for (std::uint32_t r = 0; r < 3; ++r) {
    table.set({.region = choice.key(r, r + 1), .backend = "A", .ns = 100});
    table.set({.region = choice.key(r, r + 1), .backend = "B", .ns = r == 1 ? 40u : 110u});
  }
  return table;
}
constexpr RegionPlan chosen(const ProgramTables& program, const RegionChoice& choice, const CostTable& table) {
  const PlanChoice plans = choose_plan(program, choice, table);
  return plans.candidates[plans.chosen].plan;
}
const RegionPlan all_a{{0, 0, 0}, {0}};
const RegionPlan all_b{{0, 0, 0}, {1}};
const RegionPlan mixed{{0, 1, 2}, {0, 1, 0}};

constexpr bool check_sums() {
  const ProgramTables program = sample();
  const RegionChoice choice = choice_of(program);
  const bool split = chosen(program, choice, costs(choice)) == RegionPlan{{0, 1, 2}, {0, 1, 0}};
  const bool border = chosen(program, choice, costs(choice, 15)) == RegionPlan{{0, 0, 0}, {1}};
  CostTable joined = costs(choice);
  joined.set({.region = choice.key(0, 3), .backend = "A", .ns = 230});
  return split && border && chosen(program, choice, joined) == RegionPlan{{0, 0, 0}, {0}};
}
static_assert(check_sums());

}  // namespace

TEST_CASE("each region goes to its cheapest backend, unless borders or joined regions cost more") {
  CHECK(check_sums());
}

TEST_CASE("programs that were measured as a whole are compared by these times alone") {
  const ProgramTables program = sample();
  const RegionChoice choice = choice_of(program);
  CostTable table = costs(choice);
  const auto measured = [&](const RegionPlan& plan, std::uint64_t ns) {
    table.set(PlanCost{.plan = choice.plan_key(plan, choice.keys_of(program, plan)), .ns = ns});
  };
  measured(all_a, 1000);
  CHECK(chosen(program, choice, table) == all_a);
  measured(all_b, 900);
  CHECK(chosen(program, choice, table) == all_b);
  measured(mixed, 895);  // saves too little for two more borders
  CHECK(chosen(program, choice, table) == all_b);
  measured(mixed, 800);
  CHECK(chosen(program, choice, table) == mixed);
}

TEST_CASE("a program's own border counts, that of others does not") {
  const ProgramTables program = sample();
  const RegionChoice choice = choice_of(program);
  CostTable table = costs(choice, 1000);
  table.set(BorderCost{.program = choice.program_key(), .ns = 1});
  CHECK(chosen(program, choice, table) == mixed);
  CostTable other = costs(choice);
  other.set(BorderCost{.program = {choice.program_key().bits + 1}, .ns = 1000});
  CHECK(chosen(program, choice, other) == mixed);
}

TEST_CASE("one backend needs no costs; no nodes need no backend") {
  const ProgramTables program = sample();
  const RegionChoice one(program, Bits(3, 1), {"A"});
  CHECK(chosen(program, one, {}) == all_a);
  const RegionChoice none(program, Bits(3, 0), {"A", "B"});
  CHECK(chosen(program, none, {}) == RegionPlan{Numbers(3, no_id), {}});
}

TEST_CASE("random costs: no backend alone is cheaper by its sum, and the choice is the same every time") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    Draft d;
    ValueId v = d.user("x", {4});
    const auto count = static_cast<std::uint32_t>(2 + random() % 8);
    for (std::uint32_t i = 0; i < count; ++i) v = d.add(concat("n", i), v, static_cast<double>(i));
    d.output(v);
    const ProgramTables program = d.finish();
    const RegionChoice choice(program, Bits(count, 7), {"A", "B", "C"}, {.regions = 5});
    CostTable table;
    table.border_ns = random() % 30;
    for (std::uint32_t first = 0; first < choice.regions().count(); ++first)
      for (std::uint32_t last = first + 1; last <= choice.regions().count(); ++last)
        for (std::uint32_t b = 0; b < 3; ++b)
          if (last == first + 1 || random() % 2 == 0)
            table.set({.region = choice.key(first, last),
                       .backend = Name::own(choice.backends()[b]),
                       .ns = random() % 100 * (last - first)});
    const PlanChoice plans = choose_plan(program, choice, table);
    const PlanCandidate& best = plans.candidates[plans.chosen];
    for (const PlanCandidate& c : plans.candidates) REQUIRE((c.sum == no_cost || best.sum <= c.sum));
    REQUIRE(choose_plan(program, choice, table).candidates[plans.chosen].plan == best.plan);
  }
}
