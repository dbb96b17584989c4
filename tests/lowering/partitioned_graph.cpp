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

TEST_CASE("bytes of a value are those of its example sizes; none where they do not fit") {
  GraphBuilder b;
  b.begin_graph();
  const ExprId s = b.symbol("s0");
  const ExprId twice = b.expr({.op = ExprOp::add, .a = s, .b = s, .name = {}});
  const Dim dims[] = {{.value = 4, .expr = s}, {.value = 8, .expr = twice}, {.value = 2}};
  const ValueId v = b.declare({.name = b.text("v"), .sizes = b.dims(dims), .dtype = ScalarType::int64});
  const ValueId huge = b.tensor("huge", ScalarType::float64, {INT64_MAX, INT64_MAX});
  const GraphModuleView graph = b.module().view();
  CHECK(detail::value_bytes(graph, graph.values[v]) == 512);
  CHECK(detail::value_bytes(graph, graph.values[huge]) == 0);
}

TEST_CASE("attributes of a node have the names of its schema, and its weights types and ranges") {
  Draft d;
  const ValueId w = d.parameter("w", programs::tensor({2, 2}, {1, -3, 0.5, INFINITY}));
  const ValueId x = d.user("x", {2});
  const ValueId m = d.b.tensor("m", ScalarType::float32, {2});
  d.node("aten.linear.default", {d.b.value(x), d.b.value(w)}, {m});
  const Argument dims[] = {d.b.integer(0)};
  const ValueId s = d.b.tensor("s", ScalarType::float32, {});
  d.node("aten.sum.dim_IntList", {d.b.value(m), d.b.list(dims, ArgumentKind::int_)}, {s});
  const ValueId c = d.b.tensor("c", ScalarType::float32, {4, 2});
  const Argument parts[] = {d.b.value(w), d.b.value(w)};
  d.node("aten.cat.default", {d.b.list(parts, ArgumentKind::value)}, {c});
  d.output(s);
  d.output(c);
  const ExportedProgram program = d.finish();
  PartitionReport report;
  report.nodes = detail::node_rows(program.view(), std::vector<std::uint32_t>(3, 0));
  detail::add_attributes(program, report);
  REQUIRE(report.weights.size() == 1);
  CHECK(report.weights[0].target == "w");
  CHECK(report.weights[0].type == "float32[2, 2]");
  CHECK(report.weights[0].bytes == 16);
  CHECK((report.weights[0].least == -3 && report.weights[0].most == 1));  // of the finite ones
  const auto& linear = report.nodes[0].attributes;
  REQUIRE(linear.size() == 2);
  CHECK((linear[0].name == "weight" && linear[0].weight == 0 && linear[0].value.empty()));
  CHECK((linear[1].name == "bias" && linear[1].value == "None" && linear[1].is_default));
  const auto& sum = report.nodes[1].attributes;
  REQUIRE(sum.size() == 3);
  CHECK((sum[0].name == "dim" && sum[0].value == "[0]" && !sum[0].is_default));
  CHECK((sum[1].name == "keepdim" && sum[1].value == "False" && sum[1].is_default));
  const auto& cat = report.nodes[2].attributes;
  REQUIRE(cat.size() == 3);
  CHECK((cat[0].name == "tensors[0]" && cat[1].name == "tensors[1]" && cat[1].weight == 0));
  CHECK((cat[2].name == "dim" && cat[2].value == "0"));
}

TEST_CASE("a long attribute is cut, and a weight that repeats its elements has no range") {
  Draft d;
  Tensor wide = programs::tensor({1}, {2});
  wide.sizes = {1 << 30};
  wide.strides = {0};
  const ValueId w = d.parameter("w", wide);
  std::vector<Argument> sizes(500, d.b.integer(1));
  const ValueId v = d.b.tensor("v", ScalarType::float32, {1});
  d.node("aten.view.default", {d.b.value(w), d.b.list(sizes, ArgumentKind::int_)}, {v});
  d.output(v);
  const ExportedProgram program = d.finish();
  PartitionReport report;
  report.nodes = detail::node_rows(program.view(), std::vector<std::uint32_t>(1, 0));
  detail::add_attributes(program, report);
  REQUIRE(report.nodes[0].attributes.size() == 2);
  CHECK(std::isnan(report.weights.at(0).least));
  CHECK(report.nodes[0].attributes[1].value.view().size() == 303);
  CHECK(report.nodes[0].attributes[1].value.view().ends_with("..."));
}
