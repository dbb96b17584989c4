// SPDX-License-Identifier: MIT
#include "davit/autotune/region_choice.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;
using Bits = std::vector<std::uint64_t>;
using Numbers = std::vector<std::uint32_t>;

namespace {

/// add, add, mul, add
constexpr ProgramTables sample() {
  Draft d;
  ValueId v = d.add("a", d.user("x", {4}), 1.0);
  v = d.mul("m", d.add("b", v, 2.0), 3.0);
  d.output(d.add("c", v, 4.0));
  return d.finish();
}
constexpr std::uint64_t unknown = no_cost;

constexpr bool check_choice() {
  const ProgramTables program = sample();
  const RegionChoice choice(program, {3, 3, 2, 3}, {"A", "B"}, {.regions = 1});
  const auto wholes = choice.single_backend_plans();
  const bool keys = choice.key(0, 1) == wholes[0].keys[0] && choice.key(0, 3) == wholes[1].keys[0];
  return keys && choice.regions().count() == 3 && choice.takes(0, 0) && !choice.takes(0, 1) && wholes.size() == 2 &&
         wholes[0].plan == RegionPlan{{0, 0, 1, 2}, {0, 1, 0}} && wholes[1].plan == RegionPlan{{0, 0, 0, 0}, {1}} &&
         choice.plan_of({.steps = {{0, 1, 1}, {1, 3, 1}}}) == RegionPlan{{0, 0, 1, 1}, {1, 1}} &&
         choice.plan_of({.steps = {{0, 1, 1}}}) == RegionPlan{{0, 0, no_id, no_id}, {1}};
}
static_assert(check_choice());

constexpr bool check_costs() {
  const ProgramTables program = sample();
  const RegionChoice choice(program, {3, 3, 2, 3}, {"A", "B"}, {.regions = 1});
  CostTable table;
  table.set({.region = choice.key(0, 1), .backend = "A", .ns = 100});
  table.set({.region = choice.key(0, 1), .backend = "B", .ns = 200});
  table.set({.region = choice.key(1, 2), .backend = "B", .ns = 50});
  const RegionCosts some(choice, table, 90);
  const bool lacks = some.missing().size() == 2 && some.missing()[0].region == 2 && some.missing()[0].backend == 0 &&
                     some(0, 1, 0) == 100 && some(0, 2, 1) == 225 && some(1, 2, 0) == unknown && some(2, 3, 0) == 0 &&
                     some(2, 3, 1) == unknown;
  table.set({.region = choice.key(2, 3), .backend = "A", .ns = 0, .outcome = CostOutcome::refused});
  table.set({.region = choice.key(2, 3), .backend = "B", .ns = 7});
  table.set({.region = choice.key(0, 2), .backend = "B", .ns = 120});
  table.set({.region = choice.key(0, 3), .backend = "B", .ns = 0, .outcome = CostOutcome::not_run});
  const RegionCosts all(choice, table);
  return lacks && all.missing().empty() && all(0, 2, 1) == 120 && all(1, 3, 1) == 57 && all(0, 3, 1) == unknown &&
         all(2, 3, 0) == unknown;
}
static_assert(check_costs());

}  // namespace

TEST_CASE("regions, their keys, and plans that prefer one backend") { CHECK(check_choice()); }

TEST_CASE("costs: alone, joined as measured or as their sum, missing, refused") { CHECK(check_costs()); }

TEST_CASE("regions that nothing was measured on go to the first backend that is not known to refuse them") {
  const ProgramTables program = sample();
  const RegionChoice choice(program, Bits(4, 7), {"A", "B", "C"}, {.regions = 1});
  CostTable table;
  table.set({.region = choice.key(0, 1), .backend = "A", .outcome = CostOutcome::refused});
  table.set({.region = choice.key(0, 1), .backend = "B", .outcome = CostOutcome::not_run});
  table.set({.region = choice.key(0, 1), .backend = "C", .outcome = CostOutcome::not_run});
  const RegionCosts costs(choice, table);
  CHECK(costs(0, 1, 0) == no_cost);
  CHECK(costs(0, 1, 1) == 0);
  CHECK(costs(0, 1, 2) == no_cost);
  for (const std::string_view b : {"A", "B", "C"})
    table.set({.region = choice.key(0, 1), .backend = Name::own(b), .outcome = CostOutcome::refused});
  CHECK(RegionCosts(choice, table)(0, 1, 2) == 0);
}

TEST_CASE("keys of plans identify the cuts of a program and their backends") {
  const ProgramTables program = sample();
  const RegionChoice choice(program, Bits(4, 3), {"A", "B"}, {.regions = 4});
  const auto key = [&](Numbers groups, Numbers backends) {
    const RegionPlan plan{std::move(groups), std::move(backends)};
    return choice.plan_key(plan, choice.keys_of(program, plan));
  };
  CHECK(key({0, 0, 0, 0}, {0}) == key({0, 0, 0, 0}, {0}));
  CHECK(key({0, 0, 0, 0}, {0}) != key({0, 0, 0, 0}, {1}));
  CHECK(key({0, 0, 1, 1}, {0, 1}) != key({0, 1, 1, 1}, {0, 1}));
  CHECK(key({0, 0, 1, 1}, {0, 1}) != key({0, 0, 1, 1}, {1, 0}));
  const RegionChoice other(program, Bits(4, 3), {"A", "C"}, {.regions = 4});
  CHECK(choice.program_key() != other.program_key());
  CHECK(choice.program_key() == RegionChoice(program, Bits(4, 3), {"A", "B"}, {.regions = 2}).program_key());
}
