// SPDX-License-Identifier: MIT
#include "davit/formats/partition_html.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "../support/toy_backend.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using formats::partition_html;
using support::A;
using support::Draft;
using support::Toys;
using support::Two;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}
std::string page_of(const ExportedProgram& program) {
  Diagnostics diagnostics;
  const auto lowered = to_backend(program, CapabilityPartitioner<Two>{}, {}, &diagnostics);
  REQUIRE(lowered);
  return partition_html("page", diagnostics.reports);
}

}  // namespace

TEST_CASE("the page holds the tables and the drawing, and asks for nothing else") {
  const Toys toys;
  A::state.refused = "mul";
  Draft d;
  d.output(d.mul("m", d.add("a", d.user("x", {2}), d.parameter("w", programs::tensor({2}, {1, 2}))), 2.0));
  const std::string page = page_of(d.finish());
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(count(page, "<rect") == 4);
  CHECK(count(page, "<path") == 6);
  for (const char* part : {"toy0_0", "toy1_0", "float32[2]", "8 bytes", "Partitions", "Constants", "Not taken", "fill=\"#fdbf6f\"",
                           "it was told not to take this operator", "<td>moved</td>", "2 nodes in 2 partitions"})
    CHECK_MESSAGE(has(page, part), part);
  for (const char* part : {"href", "src=", "<script", "url(", "@import"}) CHECK_MESSAGE(!has(page, part), part);
  for (const char* tag : {"g", "svg", "table", "tr", "td", "th", "div", "title", "text"}) {
    const std::string name(tag);
    CHECK_MESSAGE(count(page, "<" + name + ">") + count(page, "<" + name + " ") == count(page, "</" + name + ">"), tag);
  }
}

TEST_CASE("names from model files cannot become markup") {
  const Toys toys;
  Draft d;
  d.output(d.add("<script>alert(1)</script>", d.user("\"><img src=x>"), 1.0));
  const std::string page = page_of(d.finish());
  CHECK(!has(page, "<script"));
  CHECK(!has(page, "<img"));
  CHECK(has(page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
}

TEST_CASE("the graphs of control flow are drawn inside its box") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  d.output(d.cond("out", d.gt("p", x, 0.0), {x}, [&](auto in) { return d.neg("y", in[0]); }, [](auto in) { return in[0]; }));
  const std::string page = page_of(d.finish());
  CHECK(count(page, "<rect") == 9);
  CHECK(has(page, "out_true"));
}

TEST_CASE("a graph of too many boxes is not drawn") {
  PartitionReport report;
  report.method = "m";
  report.graph.graphs = {{.name = "", .boxes = {}, .edges = {}}};
  report.graph.boxes.resize(2001);
  const std::string page = partition_html("t", std::span(&report, 1));
  CHECK(has(page, "too many to draw"));
  CHECK(!has(page, "<svg"));
  CHECK(partition_html("t", {}).ends_with("</html>\n"));
}
