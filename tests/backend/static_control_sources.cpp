// SPDX-License-Identifier: MIT
#include "davit/backend/static_control_sources.hpp"

#include <doctest/doctest.h>

#include <string>

#include "davit/backend/static_rows.hpp"
#include "support/static_control.hpp"

namespace {

using namespace davit;
using namespace static_control;

/// The values that nodes of sub-graphs read, by name, and how often values are read.
std::string reads(const StaticGraph& graph) {
  std::string out;
  for (std::uint32_t g = 1; g < graph.graph_count; ++g)
    for (NodeId n = graph.graphs[g].first_node; n < graph.graphs[g].first_node + graph.graphs[g].nodes; ++n)
      for (std::uint32_t i = 0; i < graph.nodes[n].inputs; ++i)
        graph.for_each_value(graph.arguments[graph.nodes[n].first_input + i],
                             [&](ValueId v) { out += std::string(graph.name(v)) + " "; });
  return out;
}
std::uint32_t users(const StaticGraph& graph, std::string_view name) {
  for (ValueId v = 0; v < graph.value_count; ++v)
    if (graph.name(v) == name) return graph.values[v].users;
  return no_id;
}

}  // namespace

TEST_CASE("nodes of sub-graphs read operands, loop-carried values and slices") {
  const GraphModule branches = make_branches(), loop = make_loop(), scan = make_scan<false>();
  CHECK(reads(StaticGraphRows(branches.view()).view()) == "if_q x inner t x x x t ");
  CHECK(reads(StaticGraphRows(loop.view()).view()) == "n3 a3 b3 n3 sum t ");
  CHECK(reads(StaticGraphRows(scan.view()).view()) == "last x1 x1 u ");
  const StaticGraphRows rows(scan.view());
  CHECK(rows.text.size() == rows.text.capacity());  // names do not move
  CHECK(users(rows.view(), "x1") == 2);
  CHECK(users(rows.view(), "sum") == 1);
  CHECK(users(rows.view(), "u") == 2);  // the scan, and the node in it
  for (ValueId v = 0; v < rows.values.size(); ++v)
    if (rows.view().name(v) == "x1")
      CHECK(rows.view().target(static_cast<NodeId>(rows.values[v].source)) == "higher_order.scan");
}

TEST_CASE("a sub-graph that two nodes call has no place in a static program, nor one that does not fit") {
  for (const bool shared : {true, false}) {
    GraphBuilder b;
    b.begin_graph();
    const ValueId p = b.input("p", b8, {}), x = b.input("x", f32, {2});
    const GraphId same = b.begin_graph("same");
    const ValueId own = b.input("own", f32, {2});
    b.end_graph({add(b, "twice", own, own)});
    const ValueId y = b.tensor("y", f32, {2});
    node(b, "higher_order.cond",
         {b.value(p), b.subgraph(same), b.subgraph(shared ? same : 7), shared ? b.tensors({x}) : b.tensors({x, x})},
         {y});
    b.end_graph({y});
    const GraphModule module = std::move(b).finish();
    const StaticGraphRows rows(module.view());
    for (const StaticArgument& a : rows.arguments) CHECK(a.kind != ArgumentKind::graph);
    CHECK(static_control_sources(module.view()).uses[same] ==
          (shared ? StaticControlSources::shared : StaticControlSources::unused));
  }
}

TEST_CASE("a program without control flow has no graphs in its static form") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {2});
  b.end_graph({add(b, "y", x, x)});
  const GraphModule module = std::move(b).finish();
  const StaticGraphRows rows(module.view());
  CHECK(rows.graphs.empty());
  CHECK(rows.view().graph_count == 0);
}
