// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/lowered/print_report.hpp"

namespace davit {

std::vector<RefusalGroup> group_refusals(const PartitionReport& report) {
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
  std::ranges::sort(groups, [&](const RefusalGroup& a, const RefusalGroup& b) {
    return a.count != b.count ? a.count > b.count : key(a) < key(b);
  });
  return groups;
}

ConstantBytes constant_bytes(const PartitionReport& report) noexcept {
  ConstantBytes out;
  for (const PartitionReport::Constant& c : report.constants) {
    if (c.fate == "moved")
      out.moved += c.bytes;
    else if (c.fate == "shared")
      out.shared += c.bytes;
    else if (c.fate == "duplicated")
      out.duplicated += c.bytes * c.partitions;
    else
      out.kept += c.bytes;
  }
  return out;
}

std::vector<OperatorTime> operator_times(const PartitionReport& report) {
  std::map<std::pair<std::string_view, std::string_view>, OperatorTime> rows;  // by backend and operator
  const auto row = [&](std::string_view backend, std::string_view target) -> OperatorTime& {
    return rows.try_emplace({backend, target}, OperatorTime{std::string(target), std::string(backend)}).first->second;
  };
  for (const PartitionReport::Partition& p : report.partitions)
    if (p.ns != UINT64_MAX) row(p.backend.view(), {}).ns += p.ns;
  for (const PartitionReport::Node& node : report.nodes) {
    if (node.ns == UINT64_MAX || node.partition >= report.partitions.size()) continue;
    const std::string_view backend = report.partitions[node.partition].backend.view();
    OperatorTime& time = row(backend, node.target.view());
    ++time.nodes;
    time.ns += node.ns;
    OperatorTime& rest = row(backend, {});
    rest.ns -= std::min(rest.ns, node.ns);
  }
  std::vector<OperatorTime> out;
  for (auto& [key, time] : rows)
    if (time.nodes > 0 || time.ns > 0) out.push_back(std::move(time));
  std::ranges::sort(out, [](const OperatorTime& a, const OperatorTime& b) {
    return a.ns != b.ns ? a.ns > b.ns : std::tie(a.backend, a.target) < std::tie(b.backend, b.target);
  });
  return out;
}

namespace detail {
[[nodiscard]] std::string cell(const Name& name) { return std::string(name.view()); }
[[nodiscard]] std::string cell(std::size_t number) { return std::to_string(number); }
/// Prints nanoseconds as microseconds with three decimals; "?" if not known.
[[nodiscard]] std::string microseconds(std::uint64_t ns) {
  if (ns == UINT64_MAX) return "?";
  const std::string decimals = std::to_string(1000 + ns % 1000);
  return std::to_string(ns / 1000) + "." + decimals.substr(1);
}
/// Prints a percentage with one decimal; empty if not known.
[[nodiscard]] std::string share(std::uint64_t ns, std::uint64_t total) {
  if (ns == UINT64_MAX || total == 0) return {};
  const auto tenths =
      static_cast<std::uint64_t>(std::llround(static_cast<double>(ns) / static_cast<double>(total) * 1000));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "%";
}
[[nodiscard]] std::uint64_t total_ns(const PartitionReport& report) noexcept {
  std::uint64_t total = 0;
  for (const PartitionReport::Partition& p : report.partitions)
    if (p.ns != UINT64_MAX) total += p.ns;
  return total;
}
/// The operator in a table of times that stands for none.
constexpr std::string_view rest_of_operators = "(the rest)";

/// Joins the tables, each under its title.
[[nodiscard]] std::string sections(std::initializer_list<std::pair<const char*, const TextTable*>> tables) {
  std::string out;
  for (const auto& [title, table] : tables) {
    if (!table->rows.empty()) ((out += title) += '\n') += table->print();
    const auto is_rest = [](const std::vector<std::string>& row) { return row[0] == rest_of_operators; };
    if (table->headline[0] == "operator" && table->headline.back() == "share" &&
        std::ranges::any_of(table->rows, is_rest))
      out.append("  ").append(rest_of_operators).append(": time of partitions that is no single node's\n");
  }
  return out;
}
/// Leaves each table the first rows of those that fit `lines`, its headline and title, and a line with the number of
/// the others. Tables get rows in turn.
void shorten(std::initializer_list<TextTable*> tables, std::size_t lines) {
  std::vector<std::size_t> kept(tables.size(), 0);
  const auto used = [&](const TextTable& table, std::size_t rows) {
    return table.rows.empty() ? 0 : rows + 2 + (rows < table.rows.size() ? 1 : 0);
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t t = 0; t < kept.size(); ++t) {
      std::size_t sum = 0;
      for (std::size_t i = 0; i < kept.size(); ++i) sum += used(*tables.begin()[i], kept[i] + (i == t ? 1 : 0));
      if (kept[t] == tables.begin()[t]->rows.size() || sum > lines) continue;
      ++kept[t];
      grows = true;
    }
  }
  for (std::size_t t = 0; t < kept.size(); ++t) {
    TextTable& table = *tables.begin()[t];
    const std::size_t left = table.rows.size() - kept[t];
    table.rows.resize(kept[t]);
    if (left > 0) table.rows.push_back({std::string("and ").append(std::to_string(left)).append(" more")});
  }
}
[[nodiscard]] std::string without_control(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 && c != '\n') c = '?';
  return text;
}
}  // namespace detail

ReportTables report_tables(const PartitionReport& report) {
  using detail::cell;
  ReportTables out;
  out.partitions = {{"partition", "backend", "nodes", "inputs", "outputs", "constant bytes"},
                    {false, false, true, true, true, true},
                    {}};
  out.candidates = {{"of", "candidate", "partitions", "us", ""}, {false, false, true, true, false}, {}};
  out.constants = {{"constant", "fate", "partitions", "bytes"}, {false, false, true, true}, {}};
  out.refusals = {{"operator", "backend", "nodes", "reason"}, {false, false, true, false}, {}};
  out.operators = {{"operator", "backend", "nodes", "us", "share"}, {false, false, true, true, true}, {}};
  const bool timed =
      std::ranges::any_of(report.partitions, [](const PartitionReport::Partition& p) { return p.ns != UINT64_MAX; });
  const std::uint64_t total = detail::total_ns(report);
  if (timed) {
    out.partitions.headline.insert(out.partitions.headline.end(), {"us", "share"});
    out.partitions.numeric.insert(out.partitions.numeric.end(), {true, true});
  }
  for (const PartitionReport::Partition& p : report.partitions) {
    out.partitions.rows.push_back(
        {cell(p.tag), cell(p.backend), cell(p.nodes), cell(p.inputs), cell(p.outputs), cell(p.constant_bytes)});
    if (timed)
      out.partitions.rows.back().insert(out.partitions.rows.back().end(),
                                        {detail::microseconds(p.ns), detail::share(p.ns, total)});
  }
  for (OperatorTime& time : operator_times(report))
    out.operators.rows.push_back({time.target.empty() ? std::string(detail::rest_of_operators) : std::move(time.target),
                                  std::move(time.backend), time.nodes == 0 ? "" : cell(time.nodes),
                                  detail::microseconds(time.ns), detail::share(time.ns, total)});
  for (const CostCandidate& c : report.candidates)
    out.candidates.rows.push_back(
        {cell(c.what), cell(c.candidate), cell(c.partitions), detail::microseconds(c.ns), c.chosen ? "chosen" : ""});
  for (const PartitionReport::Constant& c : report.constants)
    out.constants.rows.push_back({cell(c.target), cell(c.fate), cell(std::size_t{c.partitions}), cell(c.bytes)});
  for (RefusalGroup& g : group_refusals(report))
    out.refusals.rows.push_back({std::move(g.target), std::move(g.backend), cell(g.count), std::move(g.reason)});
  return out;
}

std::string report_totals(const PartitionReport& report) {
  std::size_t nodes = 0;
  for (const PartitionReport::Partition& p : report.partitions) nodes += p.nodes;
  const ConstantBytes bytes = constant_bytes(report);
  const std::size_t partitions = report.partitions.size();
  return std::to_string(nodes) + (nodes == 1 ? " node in " : " nodes in ") + std::to_string(partitions) +
         (partitions == 1 ? " partition" : " partitions") + "; bytes of constants: " + std::to_string(bytes.moved) +
         " moved, " + std::to_string(bytes.shared) + " shared, " + std::to_string(bytes.duplicated) + " duplicated, " +
         std::to_string(bytes.kept) + " kept";
}

std::string print_report(const PartitionReport& report, ReportLength length) {
  ReportTables tables = report_tables(report);
  if (length == ReportLength::brief) {
    constexpr std::size_t lines = 20;
    tables.constants.rows.clear();  // their bytes are in the totals
    const bool timed = tables.partitions.headline.size() > 6;
    const auto size = [&](const PartitionReport::Partition& p) {
      return timed ? (p.ns == UINT64_MAX ? 0 : p.ns) : p.nodes;
    };
    std::vector<std::size_t> order(report.partitions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const auto size_a = size(report.partitions[a]), size_b = size(report.partitions[b]);
      return size_a != size_b ? size_a > size_b : a < b;
    });
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t p : order) rows.push_back(std::move(tables.partitions.rows[p]));
    tables.partitions.rows = std::move(rows);
    // the last lines: of "(the rest)", and the one that names the whole
    detail::shorten({&tables.partitions, &tables.operators, &tables.candidates, &tables.refusals}, lines - 3);
  }
  return detail::without_control("method '" + detail::cell(report.method) + "': " + report_totals(report) + "\n" +
                                 detail::sections({{"partitions", &tables.partitions},
                                                   {"operators", &tables.operators},
                                                   {"costs", &tables.candidates},
                                                   {"constants", &tables.constants},
                                                   {"not taken", &tables.refusals}}));
}

std::string print_times(const PartitionReport& report) {
  ReportTables tables = report_tables(report);
  TextTable& partitions = tables.partitions;  // without the columns that only lowering knows
  const auto only_times = [](auto& cells) {
    if (cells.size() > 6) cells.erase(cells.begin() + 2, cells.begin() + 6);
  };
  only_times(partitions.headline);
  only_times(partitions.numeric);
  for (std::vector<std::string>& row : partitions.rows) only_times(row);
  return detail::without_control(detail::sections({{"partitions", &partitions}, {"operators", &tables.operators}}));
}

}  // namespace davit
