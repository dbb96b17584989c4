// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/lowering/print_report.hpp"

namespace davit {

DAVIT_INLINE std::vector<RefusalGroup> group_refusals(const PartitionReport& report) {
  std::vector<RefusalGroup> groups;
  for (const PartitionReport::Refusal& r : report.refusals)
    groups.push_back({std::string(r.target.view()), std::string(r.backend.view()), std::string(r.reason.view()), 1});
  const auto key = [](const RefusalGroup& g) { return std::tie(g.target, g.backend, g.reason); };
  std::ranges::sort(groups, [&](const RefusalGroup& a, const RefusalGroup& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (kept > 0 && key(groups[kept - 1]) == key(groups[i])) {
      ++groups[kept - 1].count;
    } else {
      if (kept != i) groups[kept] = std::move(groups[i]);
      ++kept;
    }
  }
  groups.resize(kept);
  std::ranges::sort(groups, [&](const RefusalGroup& a, const RefusalGroup& b) { return a.count != b.count ? a.count > b.count : key(a) < key(b); });
  return groups;
}

DAVIT_INLINE ConstantBytes constant_bytes(const PartitionReport& report) noexcept {
  ConstantBytes out;
  for (const PartitionReport::Constant& c : report.constants) {
    if (c.fate == "moved") out.moved += c.bytes;
    else if (c.fate == "shared") out.shared += c.bytes;
    else if (c.fate == "duplicated") out.duplicated += c.bytes * c.partitions;
    else out.kept += c.bytes;
  }
  return out;
}

namespace detail {
[[nodiscard]] DAVIT_INLINE std::string cell(const Name& name) { return std::string(name.view()); }
[[nodiscard]] DAVIT_INLINE std::string cell(std::size_t number) { return std::to_string(number); }
/// Nanoseconds as microseconds with three decimals; "?" if they are not known.
[[nodiscard]] DAVIT_INLINE std::string microseconds(std::uint64_t ns) {
  if (ns == UINT64_MAX) return "?";
  const std::string decimals = std::to_string(1000 + ns % 1000);
  return std::to_string(ns / 1000) + "." + decimals.substr(1);
}
}  // namespace detail

DAVIT_INLINE ReportTables report_tables(const PartitionReport& report) {
  using detail::cell;
  ReportTables out;
  out.partitions = {{"partition", "backend", "nodes", "inputs", "outputs", "constant bytes"}, {false, false, true, true, true, true}, {}};
  out.candidates = {{"of", "candidate", "partitions", "us", ""}, {false, false, true, true, false}, {}};
  out.constants = {{"constant", "fate", "partitions", "bytes"}, {false, false, true, true}, {}};
  out.refusals = {{"operator", "backend", "nodes", "reason"}, {false, false, true, false}, {}};
  const bool timed = std::ranges::any_of(report.partitions, [](const PartitionReport::Partition& p) { return p.ns != UINT64_MAX; });
  if (timed) {
    out.partitions.headline.push_back("us");
    out.partitions.numeric.push_back(true);
  }
  for (const PartitionReport::Partition& p : report.partitions) {
    out.partitions.rows.push_back({cell(p.tag), cell(p.backend), cell(p.nodes), cell(p.inputs), cell(p.outputs), cell(p.constant_bytes)});
    if (timed) out.partitions.rows.back().push_back(detail::microseconds(p.ns));
  }
  for (const CostCandidate& c : report.candidates)
    out.candidates.rows.push_back({cell(c.what), cell(c.candidate), cell(c.partitions), detail::microseconds(c.ns), c.chosen ? "chosen" : ""});
  for (const PartitionReport::Constant& c : report.constants)
    out.constants.rows.push_back({cell(c.target), cell(c.fate), cell(std::size_t{c.partitions}), cell(c.bytes)});
  for (RefusalGroup& g : group_refusals(report)) out.refusals.rows.push_back({std::move(g.target), std::move(g.backend), cell(g.count), std::move(g.reason)});
  return out;
}

DAVIT_INLINE std::string report_totals(const PartitionReport& report) {
  std::size_t nodes = 0;
  for (const PartitionReport::Partition& p : report.partitions) nodes += p.nodes;
  const ConstantBytes bytes = constant_bytes(report);
  return std::to_string(nodes) + " nodes in " + std::to_string(report.partitions.size()) + " partitions; bytes of constants: " +
         std::to_string(bytes.moved) + " moved, " + std::to_string(bytes.shared) + " shared, " + std::to_string(bytes.duplicated) +
         " duplicated, " + std::to_string(bytes.kept) + " kept";
}

DAVIT_INLINE std::string print_report(const PartitionReport& report) {
  const ReportTables tables = report_tables(report);
  std::string out = "method '" + detail::cell(report.method) + "': " + report_totals(report) + "\n";
  const auto section = [&](const char* title, const TextTable& table) {
    if (!table.rows.empty()) (out += title) += table.print();
  };
  section("partitions\n", tables.partitions);
  section("costs\n", tables.candidates);
  section("constants\n", tables.constants);
  section("not taken\n", tables.refusals);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 32 && c != '\n') c = '?';
  return out;
}

}  // namespace davit
