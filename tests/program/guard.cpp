// SPDX-License-Identifier: MIT
#include "davit/program/guard.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace davit;

namespace {

/// x.shape[0] % n == 1, for a tensor of rank 1 and an int
constexpr Guards remainder() {
  Guards guards;
  guards.nodes = {{.op = GuardOp::size, .a = 0, .b = 0},
                  {.op = GuardOp::input, .a = 1},
                  {.op = GuardOp::modulo, .a = 0, .b = 1},
                  {.value = 1},
                  {.op = GuardOp::equal, .a = 2, .b = 3}};
  guards.roots = {4};
  return guards;
}
constexpr GuardInput inputs[] = {{.is_tensor = true, .rank = 1}, {.is_number = true}};

/// True if the table still fits after a change.
template <class Change>
constexpr bool fits(Change change) {
  Guards guards = remainder();
  change(guards);
  return guards_fit(guards, inputs);
}
constexpr bool check_fit() {
  return fits([](Guards&) {}) && !fits([](Guards& g) { g.nodes[0].b = 1; }) &&
         !fits([](Guards& g) { g.nodes[0].a = 1; }) && !fits([](Guards& g) { g.nodes[1].a = 0; }) &&
         !fits([](Guards& g) { g.nodes[1].a = 2; }) && !fits([](Guards& g) { g.nodes[2].b = 2; }) &&
         !fits([](Guards& g) { g.nodes[4].a = no_guard_node; }) && !fits([](Guards& g) { g.roots[0] = 5; }) &&
         !fits([](Guards& g) { g.nodes[3].op = static_cast<GuardOp>(200); }) &&
         !fits([](Guards& g) { g.nodes[3].op = GuardOp::argument; }) &&
         !fits([](Guards& g) { g.roots.resize(6, 4); }) &&
         !fits([](Guards& g) { g.nodes[3] = {.op = GuardOp::boolean, .value = 2}; }) &&
         !fits([](Guards& g) { g.nodes[4] = {.op = GuardOp::function, .a = 3, .value = guard_function_count}; }) &&
         fits([](Guards& g) { g.nodes[4] = {.op = GuardOp::function, .a = 3, .value = guard_function_count - 1}; });
}
static_assert(check_fit());

constexpr bool check_arguments() {
  Guards guards;
  for (std::uint32_t i = 0; i < 4; ++i) {
    guards.nodes.push_back({.value = 1});
    guards.nodes.push_back({.op = GuardOp::argument, .a = i == 0 ? no_guard_node : 2 * i - 1, .b = 2 * i});
  }
  guards.nodes.push_back({.op = GuardOp::non_overlapping_and_dense, .a = 7});
  guards.roots = {8};
  if (!guards_fit(guards, {})) return false;
  guards.nodes[8].a = 5;  // three arguments cannot be pairs of size and stride
  if (guards_fit(guards, {})) return false;
  guards.nodes[8].a = 6;  // node 6 is not an argument
  if (guards_fit(guards, {})) return false;
  guards.nodes[8] = {.op = GuardOp::negative, .a = 7};  // an argument outside a list
  return !guards_fit(guards, {});
}
static_assert(check_arguments());

const std::vector<Name> names{"x", "n"};

}  // namespace

TEST_CASE("a guard that needs values which inputs do not have, or that is inconsistent, is refused") {
  CHECK(check_fit());
  CHECK(check_arguments());
}

TEST_CASE("a guard is printed in Python") {
  CHECK(print_guard(remainder(), 0, names) == "x.shape[0] % n == 1");
  CHECK(print_guard(remainder(), 0, names, 5) == "x.sha...");
  CHECK(print_guard(remainder(), 0, {}) == "?.shape[0] % ? == 1");
  Guards guards = remainder();
  guards.nodes.push_back({.op = GuardOp::multiply, .a = 2, .b = 2});
  guards.nodes.push_back({.op = GuardOp::where, .a = 4, .b = 5, .c = 3});
  guards.nodes.push_back({.op = GuardOp::negative, .a = 6});
  guards.nodes.push_back({.op = GuardOp::max, .a = 7, .b = 0});
  guards.roots.push_back(8);
  CHECK(print_guard(guards, 1, names) ==
        "max(-(x.shape[0] % n * (x.shape[0] % n) if x.shape[0] % n == 1 else 1), x.shape[0])");
}

TEST_CASE("tables that print to much more than they are do not take long") {
  Guards guards;
  guards.nodes.push_back({.value = 1});
  for (std::uint32_t i = 0; i < 5000; ++i) guards.nodes.push_back({.op = GuardOp::add, .a = i, .b = i});
  guards.roots = {5000};
  CHECK(print_guard(guards, 0, {}, 1000).size() == 1003);
}
