// SPDX-License-Identifier: MIT
#include "davit/lowering/partitioned_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "../support/toy_backend.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::A, support::Draft, support::Toys, support::Two;
using Kind = PartitionedGraph::BoxKind;

namespace {

/// The graph of the report; a lowered program alone gives the same graph, without the numbers of nodes.
PartitionedGraph graph_of(const ExportedProgram& program) {
  Diagnostics diagnostics;
  const auto lowered = to_backend(program, CapabilityPartitioner<Two>{}, {}, &diagnostics);
  REQUIRE(lowered);
  const PartitionReport& report = diagnostics.reports.at(0);
  const PartitionReport own = partition_report(*lowered, 0);
  CHECK(own.method == report.method);
  REQUIRE(own.partitions.size() == report.partitions.size());
  for (std::size_t p = 0; p < own.partitions.size(); ++p) {
    CHECK(own.partitions[p].tag == report.partitions[p].tag);
    CHECK(own.partitions[p].backend == report.partitions[p].backend);
    CHECK(own.partitions[p].inputs == report.partitions[p].inputs);
    CHECK(own.partitions[p].outputs == report.partitions[p].outputs);
  }
  CHECK(own.graph.edges.size() == report.graph.edges.size());
  return report.graph;
}
const PartitionedGraph::Edge* edge(const PartitionedGraph& graph, std::string_view value, std::uint32_t to) {
  const auto at = std::ranges::find_if(graph.edges, [&](const auto& e) { return e.value == value && e.to == to; });
  return at == graph.edges.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("a box per partition, an edge per value that crosses") {
  const Toys toys;
  A::state.refused = "mul";
  Draft d;
  const ValueId x = d.user("x", {2, 3});
  const ValueId m = d.mul("m", d.add("a", x, 1.0), x);
  d.output(d.neg("n", d.add("b", m, m)));
  const PartitionedGraph graph = graph_of(d.finish());
  REQUIRE(graph.graphs.size() == 1);
  REQUIRE(graph.boxes.size() == 5);
  CHECK(graph.boxes[0].kind == Kind::inputs);
  CHECK(graph.boxes[1].label == "toy0_0");
  CHECK(graph.boxes[2].detail == "toy1");
  CHECK(graph.boxes[2].backend == 1);
  CHECK(graph.boxes[3].nodes == 2);
  CHECK(graph.boxes[4].kind == Kind::outputs);
  REQUIRE(graph.edges.size() == 5);  // x twice, a, m, n
  const auto* a = edge(graph, "a", 2);
  REQUIRE(a != nullptr);
  CHECK(a->from == 1);
  CHECK(a->type == "float32[2, 3]");
  CHECK(a->bytes == 24);
  CHECK(edge(graph, "x", 1) != nullptr);
  CHECK(edge(graph, "x", 2) != nullptr);
  CHECK(edge(graph, "n", 4) != nullptr);
}

TEST_CASE("control flow is a box that names the graphs it runs") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  d.output(d.cond("out", p, {x}, [&](auto in) { return d.neg("y", in[0]); }, [](auto in) { return in[0]; }));
  const PartitionedGraph graph = graph_of(d.finish());
  REQUIRE(graph.graphs.size() == 3);
  const auto at = std::ranges::find(graph.boxes, Kind::control_flow, &PartitionedGraph::Box::kind);
  REQUIRE(at != graph.boxes.end());
  CHECK(at->label == "out");
  CHECK(at->detail == "higher_order.cond");
  CHECK(at->graphs == std::vector<GraphId>{1, 2});
  CHECK(graph.graphs[1].name == "out_true");
  CHECK(graph.graphs[1].boxes.size() == 3);
  CHECK(graph.graphs[2].boxes.size() == 2);
  CHECK(graph.boxes[graph.graphs[1].boxes[1]].backend == 0);
}

TEST_CASE("sizes that are symbols are printed by name") {
  GraphBuilder b;
  b.begin_graph();
  const ExprId s = b.symbol("s0");
  const ExprId twice = b.expr({.op = ExprOp::add, .a = s, .b = s, .name = {}});
  const Dim dims[] = {{.value = 4, .expr = s}, {.value = 8, .expr = twice}, {.value = 2}};
  const ValueId v = b.declare({.name = b.text("v"), .sizes = b.dims(dims), .dtype = ScalarType::int64});
  const ValueId huge = b.tensor("huge", ScalarType::float64, {INT64_MAX, INT64_MAX});
  const ValueId token = b.declare({.name = b.text("t"), .kind = ValueKind::token});
  const GraphModuleView graph = b.module().view();
  CHECK(detail::type_text(graph, graph.values[v]) == "int64[s0, s0 + s0, 2]");
  CHECK(detail::value_bytes(graph, graph.values[v]) == 512);
  CHECK(detail::value_bytes(graph, graph.values[huge]) == 0);
  CHECK(detail::type_text(graph, graph.values[token]) == "token");
}
