// SPDX-License-Identifier: MIT
#include "davit/lowering/group_nodes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;
using Numbers = std::vector<std::uint32_t>;

namespace {

constexpr bool acyclic(GraphModuleView graph, const NodeGroups& groups) {
  return topological_order(contract(graph, groups.group_of_node, groups.count())).cycle.empty();
}

/// x -> n0 -> n1 -> ... a chain of adds.
constexpr GraphModule chain(std::uint32_t length) {
  Draft d;
  ValueId v = d.user("x");
  for (std::uint32_t i = 0; i < length; ++i) v = d.add(concat("n", i), v, 1.0);
  d.output(v);
  return d.finish().graph_module;
}

constexpr bool check_chain() {
  const GraphModule module = chain(6);
  const NodeGroups one = group_nodes(module.view(), Numbers(6, 0), 1);
  const NodeGroups split = group_nodes(module.view(), Numbers{0, 0, 1, 1, 0, 0}, 2);
  const NodeGroups gap = group_nodes(module.view(), Numbers{0, 0, no_id, 0, no_id, 0}, 1);
  const NodeGroups none = group_nodes(module.view(), Numbers(6, no_id), 0);
  return one.group_of_node == Numbers(6, 0) && one.class_of_group == Numbers{0} &&
         split.group_of_node == Numbers{0, 0, 1, 1, 2, 2} && split.class_of_group == Numbers{0, 1, 0} &&
         gap.group_of_node == Numbers{0, 0, no_id, 1, no_id, 2} && none.count() == 0 &&
         none.group_of_node == Numbers(6, no_id);
}
static_assert(check_chain());

/// P02: a = x + x, b = x + x, m1 = a * x, m2 = b * x, c = b + m1, d = m2 + a, where add is supported.
constexpr GraphModule mutual() {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId a = d.add("a", x, x);
  const ValueId b = d.add("b", x, x);
  const ValueId m1 = d.mul("m1", a, x);
  const ValueId m2 = d.mul("m2", b, x);
  d.output(d.add("c", b, m1));
  d.output(d.add("d", m2, a));
  return d.finish().graph_module;
}
constexpr bool check_mutual() {
  const GraphModule module = mutual();
  const NodeGroups groups = group_nodes(module.view(), Numbers{0, 0, no_id, no_id, 0, 0}, 1);
  const Numbers& g = groups.group_of_node;
  const bool apart = g[0] != g[5] || g[1] != g[4];  // not {a, d} and {b, c}
  const NodeGroups both = group_nodes(module.view(), Numbers{0, 0, 1, 1, 0, 0}, 2);
  return acyclic(module.view(), groups) && apart && groups.count() == 2 && acyclic(module.view(), both) &&
         both.count() == 3;
}
static_assert(check_mutual());

constexpr bool check_independent() {  // independent branches join into few large groups
  Draft d;
  const ValueId x = d.user("x");
  const ValueId y = d.user("y");
  const ValueId a = d.add("a", x, 1.0);
  const ValueId m = d.mul("m", y, y);
  const ValueId b = d.add("b", m, 1.0);
  d.output(a);
  d.output(b);
  const GraphModule module = d.finish().graph_module;
  const NodeGroups groups = group_nodes(module.view(), Numbers{0, no_id, 0}, 1);
  return groups.group_of_node == Numbers{0, no_id, 0} && acyclic(module.view(), groups);
}
static_assert(check_independent());

constexpr bool check_graphs_apart() {  // nodes of a sub-graph and of the root never share a group
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  GraphId graphs[2] = {};
  for (GraphId& g : graphs) {
    g = d.b.begin_graph("branch");
    const ValueId in = d.b.input("in", ScalarType::float32, {});
    d.b.end_graph({d.add("y", in, 1.0)});
  }
  const ValueId out = d.like(x, "out");
  d.node("higher_order.cond", {d.b.value(p), d.b.subgraph(graphs[0]), d.b.subgraph(graphs[1]), d.b.tensors({x})},
         {out});
  d.output(d.add("z", x, 1.0));
  const GraphModule module = d.finish().graph_module;
  Numbers classes(module.nodes.size(), 0);
  for (NodeId n = 0; n < classes.size(); ++n)
    if (module.view().target(module.nodes[n]) == "higher_order.cond") classes[n] = no_id;
  const NodeGroups groups = group_nodes(module.view(), classes, 1);
  for (NodeId a = 0; a < classes.size(); ++a)
    for (NodeId b = 0; b < a; ++b)
      if (groups.group_of_node[a] != no_id && groups.group_of_node[a] == groups.group_of_node[b] &&
          module.nodes[a].graph != module.nodes[b].graph)
        return false;
  return groups.count() == 3 && acyclic(module.view(), groups);
}
static_assert(check_graphs_apart());

constexpr bool check_fixed() {  // n1 and n3 were fixed together: n0, n2 and n4 cannot all join around them
  const GraphModule module = chain(2);
  Draft d;
  const ValueId x = d.user("x");
  const ValueId n0 = d.add("n0", x, 1.0);
  const ValueId n1 = d.add("n1", n0, 1.0);
  const ValueId n2 = d.add("n2", x, 1.0);
  const ValueId n3 = d.add("n3", x, 2.0);
  d.output(d.add("n4", n1, n3));
  d.output(n2);
  const GraphModule fixed_module = d.finish().graph_module;
  const Numbers tags{no_id, 0, no_id, 0, no_id};
  const QuotientGraph fixed = contract(fixed_module.view(), tags, 1);
  const NodeGroups groups =
      group_nodes(fixed_module.view(), Numbers{0, no_id, 0, no_id, 0}, 1, fixed, topological_order(fixed).order);
  Numbers all = groups.group_of_node;
  all[1] = all[3] = groups.count();
  return groups.group_of_node[1] == no_id && groups.group_of_node[3] == no_id &&
         groups.group_of_node[0] != groups.group_of_node[4] && groups.group_of_node[0] == groups.group_of_node[2] &&
         topological_order(contract(fixed_module.view(), all, groups.count() + 1)).cycle.empty() &&
         module.nodes.size() == 2;
}
static_assert(check_fixed());

constexpr bool check_constants() {  // a node that depends on constants alone goes with its first user, if known
  Draft d;
  const ValueId x = d.user("x");
  const ValueId w = d.user("w");
  const ValueId twice = d.mul("twice", w, 2.0);
  const ValueId more = d.add("more", twice, 1.0);
  const ValueId a = d.add("a", x, 1.0);
  const ValueId m = d.mul("m", a, a);
  const ValueId b = d.add("b", m, more);
  const ValueId n = d.mul("n", b, b);
  d.output(d.add("c", n, more));
  const GraphModule module = d.finish().graph_module;
  GraphModuleView graph = module.view();
  const Numbers classes{0, 0, 0, 1, 0, 1, 0};
  const Numbers early = group_nodes(graph, classes, 2).group_of_node;
  std::vector<std::uint8_t> constant(graph.values.size(), 0);
  constant[w] = constant[twice] = constant[more] = 1;
  graph.constant = constant.data();
  const NodeGroups late = group_nodes(graph, classes, 2);
  const Numbers& g = late.group_of_node;
  return early[0] == early[2] && early[1] == early[2] && g[0] == g[4] && g[1] == g[4] && g[2] != g[4] && g[6] != g[4] &&
         acyclic(graph, late);
}
static_assert(check_constants());

}  // namespace

TEST_CASE("a chain of one class is one group; where classes change, a new one begins") { CHECK(check_chain()); }

TEST_CASE("P02: groups that would depend on each other are split, where the original proposes a cycle") {
  CHECK(check_mutual());
}

TEST_CASE("nodes that do not touch join their class") { CHECK(check_independent()); }

TEST_CASE("groups never span two graphs") { CHECK(check_graphs_apart()); }

TEST_CASE("nodes that are fixed together stay together and alone, and no cycle leads through them") {
  CHECK(check_fixed());
}

TEST_CASE("a node that depends on constants alone is in the group of its first user") { CHECK(check_constants()); }

TEST_CASE("alternating groups of ten nodes stay groups of ten") {
  const GraphModule module = chain(1000);
  Numbers classes(1000);
  for (std::uint32_t n = 0; n < 1000; ++n) classes[n] = n / 10 % 2;
  const NodeGroups groups = group_nodes(module.view(), classes, 2);
  CHECK(groups.count() == 100);
  CHECK(acyclic(module.view(), groups));
  for (NodeId n = 0; n < 1000; ++n) CHECK_MESSAGE(groups.group_of_node[n] == n / 10, n);
}
