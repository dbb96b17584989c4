// SPDX-License-Identifier: MIT
#include "davit/lowered/print_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../support/toy_backend.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::A, support::Draft, support::Toys, support::Two;

namespace {

/// s = relu(x + w) * v + w
ExportedProgram sample() {
  Draft d;
  const ValueId w = d.parameter("w", programs::tensor({2}, {1, 2}));
  const ValueId v = d.parameter("v", programs::tensor({2}, {3, 4}));
  const ValueId m = d.mul("m", d.relu("r", d.add("a", d.user("x", {2}), w)), v);
  d.output(d.add("s", m, w));
  return d.finish();
}
PartitionReport report_of(LowerOptions options = {}) {
  A::state.refused = "mul relu";
  Diagnostics diagnostics;
  REQUIRE(to_backend(sample(), CapabilityPartitioner<Two>{}, options, &diagnostics));
  REQUIRE(diagnostics.reports.size() == 1);
  return diagnostics.reports[0];
}

}  // namespace

TEST_CASE("the report describes the lowering in aligned tables") {
  const Toys toys;
  CHECK(print_report(report_of()) ==
        "method 'forward': 4 nodes in 3 partitions; bytes of constants: 8 moved, 8 shared, 0 duplicated, 0 kept\n"
        "partitions\n"
        "  partition  backend  nodes  inputs  outputs  constant bytes\n"
        "  toy0_0     toy0         1       1        1               8\n"
        "  toy1_0     toy1         2       1        1               8\n"
        "  toy0_1     toy0         1       1        1               8\n"
        "constants\n"
        "  constant  fate    partitions  bytes\n"
        "  w         shared           2      8\n"
        "  v         moved            1      8\n"
        "not taken\n"
        "  operator           backend  nodes  reason\n"
        "  aten.mul.Tensor    toy0         1  it was told not to take this operator\n"
        "  aten.relu.default  toy0         1  it was told not to take this operator\n");
}

TEST_CASE("a brief report has the largest rows of each table in at most 20 lines") {
  const Toys toys;
  PartitionReport report = report_of();
  CHECK(print_report(report, ReportLength::brief).contains("toy1_0"));
  CHECK_FALSE(print_report(report, ReportLength::brief).contains("constants\n"));
  CHECK_FALSE(print_report(report, ReportLength::brief).contains(" more"));
  for (std::size_t i = 0; i < 50; ++i) {
    const Name name = concat("p", i);
    report.partitions.push_back({.tag = name, .backend = "b", .nodes = i, .ns = i * 1000});
    report.nodes.push_back({.name = name, .target = concat("op.", i), .partition = 3, .ns = i});
    report.refusals.push_back({name, name, "b", "no"});
    report.candidates.push_back({.what = name, .candidate = "b"});
  }
  const std::string text = print_report(report, ReportLength::brief);
  CHECK(std::ranges::count(text, '\n') <= 19);  // the command adds a line
  for (const char* part : {"  p49  ", "and 51 more", "costs\n", "not taken\n", "(the rest): "})
    CHECK_MESSAGE(text.contains(part), text);
  CHECK_FALSE(text.contains("  p3  "));
}

TEST_CASE("times have a column where there are any") {
  const Toys toys;
  PartitionReport report = report_of();
  report.partitions[1].ns = 12345;
  const TextTable table = report_tables(report).partitions;
  CHECK(table.headline[6] == "us");
  CHECK(table.numeric.size() == table.headline.size());
  CHECK((table.rows[0][6] == "?" && table.rows[1][6] == "12.345"));
  CHECK((table.rows[0][7].empty() && table.rows[1][7] == "100.0%"));
}

TEST_CASE("times are summed per operator and backend, with the time that a backend does not divide") {
  PartitionReport report;
  report.partitions = {{.tag = "p0", .backend = "fast", .ns = 6000},
                       {.tag = "p1", .backend = "slow", .ns = 2000},
                       {.tag = "p2", .backend = "fast"}};
  const auto node = [&](const char* target, std::uint32_t partition, std::uint64_t ns) {
    report.nodes.push_back({.name = "n", .target = Name::own(target), .partition = partition, .ns = ns});
  };
  node("op.a", 0, 1000);
  node("op.b", 0, 3000);
  node("op.a", 0, 700);
  node("op.a", 1, 2000);
  node("op.a", 2, UINT64_MAX);
  node("op.cond", no_id, UINT64_MAX);
  CHECK(print_times(report) ==
        "partitions\n"
        "  partition  backend     us  share\n"
        "  p0         fast     6.000  75.0%\n"
        "  p1         slow     2.000  25.0%\n"
        "  p2         fast         ?\n"
        "operators\n"
        "  operator    backend  nodes     us  share\n"
        "  op.b        fast         1  3.000  37.5%\n"
        "  op.a        slow         1  2.000  25.0%\n"
        "  op.a        fast         2  1.700  21.3%\n"
        "  (the rest)  fast            1.300  16.3%\n"
        "  (the rest): time of partitions that is no single node's\n");
  CHECK(print_report(report).contains("operators\n"));
  CHECK_FALSE(print_report(report_of()).contains("operators\n"));
}

TEST_CASE("copies count as often as they are made") {
  const Toys toys;
  const ConstantBytes bytes = constant_bytes(report_of({.shared_constants = SharedConstants::duplicate}));
  CHECK(bytes.duplicated == 16);
  CHECK(bytes.moved == 8);
  CHECK(bytes.shared == 0);
  CHECK(bytes.kept == 0);
}

TEST_CASE("equal refusals are counted, the most frequent first") {
  PartitionReport report;
  for (const char* node : {"a", "b", "c"}) report.refusals.push_back({Name::own(node), "op.x", "gpu", "too small"});
  report.refusals.push_back({"d", "op.a", "gpu", "too small"});
  report.refusals.push_back({"e", "op.x", "npu", "too small"});
  report.refusals.push_back({"f", "op.x", "gpu", "too large"});
  const auto groups = group_refusals(report);
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].target == "op.x");
  CHECK(groups[0].count == 3);
  CHECK(groups[1].target == "op.a");
  CHECK(groups[2].reason == "too large");
  CHECK(groups[3].backend == "npu");
}

TEST_CASE("an empty report is one line, and control characters do not reach the terminal") {
  PartitionReport report;
  report.method = "m";
  CHECK(print_report(report) ==
        "method 'm': 0 nodes in 0 partitions; bytes of constants: 0 moved, 0 shared, 0 duplicated, 0 kept\n");
  report.partitions.push_back({.tag = "\x1b[2J", .backend = "b"});
  CHECK(print_report(report).find('\x1b') == std::string::npos);
}
