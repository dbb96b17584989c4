// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/lowering/diagnostics.hpp"
#include "davit/lowering/text_table.hpp"

namespace davit {

/// Refusals of one operator for one reason by one backend.
struct RefusalGroup {
  std::string target;
  std::string backend;
  std::string reason;
  std::size_t count = 0;
};

/// The refusals of a report, counted; the most frequent first. O(n log n).
[[nodiscard]] inline std::vector<RefusalGroup> group_refusals(const MethodReport& report) {
  std::vector<RefusalGroup> groups;
  for (const MethodReport::Refusal& r : report.refusals)
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

/// What became of the bytes of parameters, buffers and constants.
struct ConstantBytes {
  std::size_t kept = 0;        ///< in the lowered program
  std::size_t moved = 0;       ///< into the one partition that uses them
  std::size_t shared = 0;      ///< one storage for several partitions
  std::size_t duplicated = 0;  ///< the copies of the first, second, ... partition together
};
[[nodiscard]] inline ConstantBytes constant_bytes(const MethodReport& report) noexcept {
  ConstantBytes out;
  for (const MethodReport::Constant& c : report.constants) {
    if (c.fate == "moved") out.moved += c.bytes;
    else if (c.fate == "shared") out.shared += c.bytes;
    else if (c.fate == "duplicated") out.duplicated += c.bytes * c.partitions;
    else out.kept += c.bytes;
  }
  return out;
}

namespace detail {
[[nodiscard]] inline std::string cell(const Name& name) { return std::string(name.view()); }
[[nodiscard]] inline std::string cell(std::size_t number) { return std::to_string(number); }
/// Nanoseconds as microseconds with three decimals; "?" if they are not known.
[[nodiscard]] inline std::string microseconds(std::uint64_t ns) {
  if (ns == UINT64_MAX) return "?";
  const std::string decimals = std::to_string(1000 + ns % 1000);
  return std::to_string(ns / 1000) + "." + decimals.substr(1);
}
}  // namespace detail

/// The partitions, the candidates by cost, the constants and the refusals of a report, as tables.
struct ReportTables {
  TextTable partitions{{"partition", "backend", "nodes", "inputs", "outputs", "bytes held"}, {false, false, true, true, true, true}, {}};
  TextTable candidates{{"of", "candidate", "partitions", "us", ""}, {false, false, true, true, false}, {}};
  TextTable constants{{"constant", "fate", "partitions", "bytes"}, {false, false, true, true}, {}};
  TextTable refusals{{"operator", "backend", "nodes", "reason"}, {false, false, true, false}, {}};
};
[[nodiscard]] inline ReportTables report_tables(const MethodReport& report) {
  using detail::cell;
  ReportTables out;
  for (const MethodReport::Partition& p : report.partitions)
    out.partitions.rows.push_back({cell(p.tag), cell(p.backend), cell(p.nodes), cell(p.inputs), cell(p.outputs), cell(p.held_bytes)});
  for (const CostCandidate& c : report.candidates)
    out.candidates.rows.push_back({cell(c.what), cell(c.candidate), cell(c.partitions), detail::microseconds(c.ns), c.chosen ? "chosen" : ""});
  for (const MethodReport::Constant& c : report.constants)
    out.constants.rows.push_back({cell(c.target), cell(c.fate), cell(std::size_t{c.partitions}), cell(c.bytes)});
  for (RefusalGroup& g : group_refusals(report)) out.refusals.rows.push_back({std::move(g.target), std::move(g.backend), cell(g.count), std::move(g.reason)});
  return out;
}
/// One sentence with the totals of nodes, partitions and bytes.
[[nodiscard]] inline std::string report_totals(const MethodReport& report) {
  std::size_t nodes = 0;
  for (const MethodReport::Partition& p : report.partitions) nodes += p.nodes;
  const ConstantBytes bytes = constant_bytes(report);
  return std::to_string(nodes) + " nodes in " + std::to_string(report.partitions.size()) + " partitions; bytes of constants: " +
         std::to_string(bytes.moved) + " moved, " + std::to_string(bytes.shared) + " shared, " + std::to_string(bytes.duplicated) +
         " duplicated, " + std::to_string(bytes.kept) + " kept";
}

/// The report as text: totals, then the tables of partitions, costs, constants and refusals. Control characters in names are
/// printed as '?'. O(n log n).
[[nodiscard]] inline std::string print_report(const MethodReport& report) {
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
