// SPDX-License-Identifier: MIT
#include "davit/autotune/cost_table.hpp"

#include <doctest/doctest.h>

using namespace davit;

namespace {

constexpr bool check_table() {
  CostTable table;
  table.set({.region = {7}, .backend = "b", .ns = 70});
  table.set({.region = {3}, .backend = "b", .ns = 30});
  table.set({.region = {3}, .backend = "a", .ns = 31});
  table.set({.region = {3}, .backend = "b", .ns = 32});
  table.set(PlanCost{.plan = {9}, .ns = 90});
  table.set(PlanCost{.plan = {1}, .ns = 10});
  table.border_ns = 5;
  table.set(BorderCost{.program = {4}, .ns = 6});
  return table.regions().size() == 3 && table.regions()[0].ns == 31 && table.regions()[1].ns == 32 &&
         table.find({7}, "b")->ns == 70 && table.find({7}, "a") == nullptr && table.find({8}, "b") == nullptr &&
         table.find(RegionKey{1})->ns == 10 && table.find(RegionKey{2}) == nullptr && table.border_of({4}) == 6 &&
         table.border_of({5}) == 5;
}
static_assert(check_table());

}  // namespace

TEST_CASE("entries are found by key and backend, and replaced") { CHECK(check_table()); }

TEST_CASE("costs are small enough to be added up") {
  CostTable table;
  table.set({.region = {1}, .backend = "b", .ns = UINT64_MAX});
  table.set(PlanCost{.plan = {1}, .ns = UINT64_MAX});
  table.set(BorderCost{.program = {1}, .ns = UINT64_MAX});
  CHECK(table.find({1}, "b")->ns == longest_cost_ns);
  CHECK(table.find(RegionKey{1})->ns == longest_cost_ns);
  CHECK(table.border_of({1}) == longest_cost_ns);
}
