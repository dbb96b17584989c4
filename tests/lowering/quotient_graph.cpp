// SPDX-License-Identifier: MIT
#include "davit/lowering/quotient_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;
using Numbers = std::vector<std::uint32_t>;

namespace {

/// n0 = x + 1, n1 = n0 + n0, n2 = n0 + n1, n3 = x + 1
constexpr GraphModule diamond() {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId n0 = d.add("n0", x, 1.0);
  const ValueId n1 = d.add("n1", n0, n0);
  d.output(d.add("n2", n0, n1));
  d.output(d.add("n3", x, 1.0));
  return d.finish().graph_module;
}

constexpr bool equal(std::span<const std::uint32_t> a, const Numbers& b) { return std::ranges::equal(a, b); }

constexpr bool check_producers() {
  const GraphModule module = diamond();
  Numbers found;
  for_each_producer(module.view(), 2, [&](NodeId p) { found.push_back(p); });
  for_each_producer(module.view(), 1, [&](NodeId p) { found.push_back(p); });
  for_each_producer(module.view(), 3, [&](NodeId p) { found.push_back(p); });
  return found == Numbers{0, 1, 0, 0};
}
static_assert(check_producers());

constexpr bool check_alone() {
  const GraphModule module = diamond();
  const QuotientGraph q = contract(module.view(), Numbers(4, no_id), 0);
  return q.size == 4 && q.vertex_of_node == Numbers{0, 1, 2, 3} && equal(q.nodes_of(2), {2}) &&
         equal(q.needs_of(0), {}) && equal(q.needs_of(1), {0, 0}) && equal(q.needs_of(2), {0, 1}) &&
         equal(q.needs_of(3), {}) && topological_order(q).order == Numbers{0, 1, 2, 3};
}
static_assert(check_alone());

constexpr bool
check_groups() {  // edges inside a group are gone; vertices are numbered by first node; group 1 is unused
  const GraphModule module = diamond();
  const Numbers groups{no_id, 2, 0, 2};
  const QuotientGraph q = contract(module.view(), groups, 3);
  return q.size == 3 && q.vertex_of_node == Numbers{0, 1, 2, 1} && equal(q.nodes_of(1), {1, 3}) &&
         equal(q.needs_of(1), {0, 0}) && equal(q.needs_of(2), {0, 1}) && topological_order(q).cycle.empty();
}
static_assert(check_groups());

constexpr bool check_order_of_late_needs() {  // n0 waits in a group for n2
  const GraphModule module = diamond();
  const Numbers groups{no_id, no_id, no_id, no_id};
  QuotientGraph q = contract(module.view(), groups, 0);
  q.first_need = {0, 1, 1, 1, 1};  // 0 needs 2
  q.needs = {2};
  return topological_order(q).order == Numbers{2, 0, 1, 3};
}
static_assert(check_order_of_late_needs());

constexpr bool check_cycle() {
  const GraphModule module = diamond();
  const QuotientGraph q = contract(module.view(), Numbers{0, 1, 0, no_id}, 2);
  const VertexOrder order = topological_order(q);
  return order.cycle == Numbers{0, 1};
}
static_assert(check_cycle());

constexpr bool check_self_need() {
  QuotientGraph q{.size = 2,
                  .vertex_of_node = {0, 1},
                  .first_node = {0, 1, 2},
                  .nodes = {0, 1},
                  .first_need = {0, 0, 1},
                  .needs = {1}};
  return topological_order(q).cycle == Numbers{1};
}
static_assert(check_self_need());

constexpr bool check_empty() {
  Draft d;
  d.output(d.user("x"));
  const GraphModule module = d.finish().graph_module;
  const QuotientGraph q = contract(module.view(), {}, 0);
  return q.size == 0 && topological_order(q).order.empty() && topological_order(q).cycle.empty();
}
static_assert(check_empty());

}  // namespace

TEST_CASE("the producers of a node's operands, one for each use") { CHECK(check_producers()); }

TEST_CASE("without groups every node is a vertex") { CHECK(check_alone()); }

TEST_CASE("groups become one vertex, numbered by first node, and edges inside are gone") { CHECK(check_groups()); }

TEST_CASE("a vertex comes after all vertices that it needs, also those with larger numbers") {
  CHECK(check_order_of_late_needs());
}

TEST_CASE("a cycle is returned vertex by vertex") {
  CHECK(check_cycle());
  CHECK(check_self_need());
}

TEST_CASE("a graph without nodes has no vertices") { CHECK(check_empty()); }

TEST_CASE("a chain of 200,000 vertices is ordered without recursion") {
  QuotientGraph q{.size = 200'000, .vertex_of_node = {}, .first_node = {}, .nodes = {}, .first_need = {0}, .needs = {}};
  for (std::uint32_t v = 0; v < q.size; ++v) {
    if (v + 1 < q.size) q.needs.push_back(v + 1);  // each needs the next
    q.first_need.push_back(static_cast<std::uint32_t>(q.needs.size()));
  }
  const VertexOrder order = topological_order(q);
  CHECK(order.cycle.empty());
  REQUIRE(order.order.size() == q.size);
  CHECK(order.order.front() == q.size - 1);
  CHECK(order.order.back() == 0);
}
