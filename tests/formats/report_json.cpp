// SPDX-License-Identifier: MIT
#include "davit/formats/report_json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "../support/toy_backend.hpp"
#include "davit/formats/json/json.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using formats::Json;
using formats::JsonDocument;
using formats::report_json;
using support::A, support::Draft, support::Toys, support::Two;

namespace {

PartitionReport report_of(const ExportedProgram& program) {
  Diagnostics diagnostics;
  REQUIRE(to_backend(program, CapabilityPartitioner<Two>{}, {}, &diagnostics));
  return diagnostics.reports.at(0);
}
/// The value at a path such as "methods.0.partitions.1.tag".
Json at(const JsonDocument& document, std::string_view path) {
  Json json = document.root();
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view step = path.substr(0, dot);
    path.remove_prefix(std::min(path.size(), dot + 1));
    if (step[0] < '0' || step[0] > '9') {
      json = *json.at(step);
      continue;
    }
    const auto array = json.array();
    REQUIRE(array);
    int i = std::stoi(std::string(step));
    for (const Json item : *array)
      if (i-- == 0) json = item;
    REQUIRE(i < 0);
  }
  return json;
}
std::string text(const JsonDocument& document, std::string_view path) {
  return std::string(*at(document, path).string());
}
std::int64_t number(const JsonDocument& document, std::string_view path) { return *at(document, path).integer(); }

}  // namespace

TEST_CASE("all that a report knows is in its JSON") {
  const Toys toys;
  A::state.refused = "mul";
  Draft d;
  d.output(d.mul("m", d.add("a", d.user("x", {2}), d.parameter("w", programs::tensor({2}, {1, 2}))), 2.0));
  PartitionReport report = report_of(d.finish());
  report.partitions[1].ns = 77;
  report.nodes[0].place = 1;
  report.nodes[1].place = 0;
  const Name trace("  File \"model.py\", line 12, in forward\n    y = x + w\n");
  report.places = {{trace, "s,,Net;c,conv,Conv"}, {trace, "s,,Net;c,conv,Conv"}};
  report.memory = {.arena_bytes = 64,
                   .total_bytes = 8,
                   .ticks = 2,
                   .blocks = {{.what = "'a'", .partition = 0, .bytes = 8, .first = 1, .last = 2}}};
  report.memory.sizes = "s0=8";
  report.sizes = "s0=2";
  report.weights = {{.target = "w", .type = "float32[2]", .bytes = 8, .least = -0.5}};
  report.nodes[0].attributes = {{.name = "other", .weight = 0}, {.name = "alpha", .value = "1", .is_default = true}};
  report.candidates = {{.what = "the program", .candidate = "toy0", .chosen = true}};
  const auto json = formats::parse_json(report_json("a title", std::span(&report, 1)));
  REQUIRE(json);
  CHECK(number(*json, "davit_report") == 1);
  CHECK(text(*json, "title") == "a title");
  CHECK(text(*json, "methods.0.method") == "forward");
  CHECK(text(*json, "methods.0.partitions.1.backend") == "toy1");
  CHECK(number(*json, "methods.0.partitions.1.ns") == 77);
  CHECK(number(*json, "methods.0.partitions.0.constant_bytes") == 8);
  CHECK(text(*json, "methods.0.nodes.0.target") == "aten.add.Tensor");
  CHECK(text(*json, "methods.0.nodes.0.type") == "float32[2]");
  CHECK(number(*json, "methods.0.nodes.1.partition") == 1);
  CHECK(number(*json, "methods.0.nodes.1.inputs.0") == 0);
  CHECK(number(*json, "methods.0.nodes.0.place") == 0);  // equal places are shared
  CHECK(number(*json, "methods.0.nodes.1.place") == 0);
  CHECK(text(*json, "methods.0.places.0.source") == "model.py:12");
  CHECK(text(*json, "methods.0.places.0.modules") == "top(Net) > conv(Conv)");
  CHECK(text(*json, "methods.0.places.0.stack_trace") == trace);
  CHECK(text(*json, "methods.0.constants.0.fate") == "moved");
  CHECK(text(*json, "methods.0.refusals.0.reason") == "it was told not to take this operator");
  CHECK(*at(*json, "methods.0.candidates.0.chosen").boolean());
  CHECK(text(*json, "methods.0.graph.boxes.1.kind") == "partition");
  CHECK(number(*json, "methods.0.graph.boxes.1.partition") == 0);
  CHECK(number(*json, "methods.0.graph.edges.0.bytes") == 8);
  CHECK(number(*json, "methods.0.graph.graphs.0.boxes.3") == 3);
  CHECK(number(*json, "methods.0.memory.blocks.0.last") == 2);
  CHECK(text(*json, "methods.0.memory.sizes") == "s0=8");
  CHECK(text(*json, "methods.0.sizes") == "s0=2");
  CHECK(text(*json, "methods.0.weights.0.type") == "float32[2]");
  CHECK(*at(*json, "methods.0.weights.0.least").number() == -0.5);
  CHECK(at(*json, "methods.0.nodes.0").find("attributes").value().has_value());
  CHECK(number(*json, "methods.0.nodes.0.attributes.0.weight") == 0);
  CHECK(text(*json, "methods.0.nodes.0.attributes.1.value") == "1");
  CHECK(*at(*json, "methods.0.nodes.0.attributes.1.default").boolean());
  CHECK_FALSE(at(*json, "methods.0.nodes.1").find("attributes").value().has_value());
  const std::string written = report_json("", std::span(&report, 1));
  for (const char* unknown : {"\"ns\":null", "\"partition\":null", "\"most\":null"})
    CHECK_MESSAGE(written.find(unknown) != std::string::npos, unknown);
}

TEST_CASE("names are text, whatever they contain") {
  const Toys toys;
  const std::string_view name = "</script>\"\\\n\x01\x7f h\xC3\xA4t";
  Draft d;
  d.output(d.add(name, d.user("x"), 1.0));
  const PartitionReport report = report_of(d.finish());
  const auto json = formats::parse_json(report_json("\xFF<\xC0\xBC", std::span(&report, 1)));
  REQUIRE(json);
  CHECK(text(*json, "methods.0.nodes.0.name") == name);
  CHECK(text(*json, "title") == "\xEF\xBF\xBD<\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("no report is a list without methods") {
  CHECK(report_json("t", {}) == R"({"davit_report":1,"title":"t","methods":[]})");
}
