// SPDX-License-Identifier: MIT
#include "davit/lowered/write_dot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "../support/toy_backend.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/partitioned_graph.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::A, support::Draft, support::Toys, support::Two;

namespace {
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
}  // namespace

TEST_CASE("partitions are coloured boxes, and edges carry names and sizes") {
  const Toys toys;
  A::state.refused = "mul";
  Draft d;
  d.output(d.mul("m", d.add("a", d.user("x", {2, 3}), 1.0), 2.0));
  const auto lowered = to_backend(d.finish(), CapabilityPartitioner<Two>{});
  REQUIRE(lowered);
  CHECK(write_dot(partition_report(*lowered, 0)) ==
        "digraph \"forward\" {\n"
        "  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=10];\n"
        "  b0 [label=\"inputs\", shape=ellipse];\n"
        "  b1 [label=\"toy0_0\\ntoy0\", fillcolor=\"#a6cee3\"];\n"
        "  b2 [label=\"toy1_0\\ntoy1\", fillcolor=\"#fdbf6f\"];\n"
        "  b3 [label=\"outputs\", shape=ellipse];\n"
        "  b0 -> b1 [label=\"x\\nfloat32[2, 3]\\n24 bytes\"];\n"
        "  b1 -> b2 [label=\"a\\nfloat32[2, 3]\\n24 bytes\"];\n"
        "  b2 -> b3 [label=\"m\\nfloat32[2, 3]\\n24 bytes\"];\n"
        "}\n");
}

TEST_CASE("control flow is a cluster around the graphs it runs") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  d.output(
      d.cond("out", d.gt("p", x, 0.0), {x}, [&](auto in) { return d.neg("y", in[0]); }, [](auto in) { return in[0]; }));
  const auto lowered = to_backend(d.finish(), CapabilityPartitioner<Two>{});
  REQUIRE(lowered);
  const std::string dot = write_dot(partition_report(*lowered, 0));
  CHECK(has(dot, "label=\"higher_order.cond\""));
  CHECK(has(dot, "label=\"out_true\""));
  CHECK(has(dot, "label=\"out_false\""));
  CHECK(std::ranges::count(dot, '{') == std::ranges::count(dot, '}'));
}

TEST_CASE("names cannot leave their quotes") {
  PartitionReport report;
  report.method = "a\"b\\";
  report.graph.boxes = {{.label = "x\"];\n evil -> c", .detail = "b"}};
  report.graph.graphs = {{.name = "g", .boxes = {0}, .edges = {}}};
  const std::string dot = write_dot(report);
  CHECK(has(dot, "digraph \"a\\\"b\\\\\" {"));
  CHECK(has(dot, "label=\"x\\\"];  evil -> c\\nb\""));
  CHECK(write_dot(PartitionReport{}).ends_with("}\n"));
}

TEST_CASE("every backend has a colour") {
  CHECK(backend_colour(0) != backend_colour(1));
  CHECK(backend_colour(8) == backend_colour(0));
  CHECK(backend_colour(no_id) == "#ffffff");
}
