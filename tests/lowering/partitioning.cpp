// SPDX-License-Identifier: MIT
#include "davit/lowering/partitioning.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "../support/draft.hpp"
#include "../support/toy_backend.hpp"

using namespace davit;
using support::Draft;

namespace {

constexpr GraphModule with_cond() {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  const auto pass = [](auto in) { return in[0]; };
  const ValueId out = d.cond("out", p, {x}, pass, pass);
  d.node("toy.nothing.default", {d.b.value(x)}, {});
  d.output(out);
  return d.finish().graph_module;
}

constexpr bool check_tags() {
  const GraphModule module = with_cond();
  PartitionTags tags(module.view());
  tags.tag_node(0, 2);
  tags.tag_node(0, 2);
  tags.tag_node(1, 0);
  tags.tag_node(1, 3);
  tags.tag_output(root_graph, 1);
  tags.tag_input(module.view(), 0, 4);
  return tags.nodes == std::vector<TagId>{2, 0, no_id} && tags.conflicts.size() == 1 && tags.conflicts[0].first == 1 &&
         tags.conflicts[0].second == 3 && tags.outputs.size() == 1 && tags.values.size() == module.values.size() &&
         tags.values[0] == 4 && tags.values[1] == no_id;
}
static_assert(check_tags());

constexpr bool check_control_flow_and_labels() {
  const GraphModule module = with_cond();
  const GraphModuleView graph = module.view();
  const Name first = node_label(graph, 0);
  const Name second = node_label(graph, 1);
  const Name third = node_label(graph, 2);
  return !is_control_flow(graph, graph.nodes[0]) && is_control_flow(graph, graph.nodes[1]) &&
         !is_control_flow(graph, graph.nodes[2]) && first == "p" && second == "out" && third == "#2";
}
static_assert(check_control_flow_and_labels());

struct NoAnswer {
  using Backends = support::Two;
  [[nodiscard]] int partition(const Method&) const { return 0; }
};
struct Changes {
  using Backends = support::Two;
  [[nodiscard]] Result<Partitioning<Backends>> partition(ExportedProgram&) const { return Partitioning<Backends>(); }
};
static_assert(Partitioner<support::ByHand<support::Two>>);
static_assert(!Partitioner<NoAnswer> && !Partitioner<Changes> && !Partitioner<int> && !Partitioner<support::A>);

}  // namespace

TEST_CASE("tags are beside the program; a second tag of a node is kept as a conflict") { CHECK(check_tags()); }

TEST_CASE("control flow takes sub-graphs; a node is named after its first output, or by its number") {
  CHECK(check_control_flow_and_labels());
}

TEST_CASE("a partitioning adds one tag with its destination after the other") {
  const GraphModule module = with_cond();
  Partitioning<support::Two> partitioning(module.view());
  CHECK(partitioning.tags.nodes.size() == 3);
  CHECK(partitioning.add("first", delegate_to<support::Two, support::B>({.tuning = 5})) == 0);
  CHECK(partitioning.add("second", delegate_to<support::Two, support::A>(), {1}) == 1);
  REQUIRE(partitioning.delegations.size() == 2);
  CHECK(partitioning.delegations[0].backend == 1);
  CHECK(static_cast<const support::B::CompileSpec*>(partitioning.delegations[0].spec.get())->tuning == 5);
  CHECK(partitioning.delegations[1].backend == 0);
  CHECK(partitioning.delegations[1].fallbacks == std::vector<std::uint32_t>{1});
  CHECK(partitioning.tags.names == std::vector<Name>{"first", "second"});
}
