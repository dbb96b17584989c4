// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowered/partition_report.hpp"
#include "davit/lowered/text_table.hpp"

namespace davit {

/// Refusals of one operator for one reason by one backend.
struct RefusalGroup {
  std::string target;
  std::string backend;
  std::string reason;
  std::size_t count = 0;
};

/// Counts the refusals of a report by operator, backend and reason; the most frequent first. O(n log n).
[[nodiscard]] std::vector<RefusalGroup> group_refusals(const PartitionReport& report);

/// Bytes of parameters, buffers and constants by their fate in lowering.
struct ConstantBytes {
  std::size_t kept = 0;        ///< in the lowered program
  std::size_t moved = 0;       ///< into the one partition that uses them
  std::size_t shared = 0;      ///< one storage for several partitions
  std::size_t duplicated = 0;  ///< sum of all copies
};
[[nodiscard]] ConstantBytes constant_bytes(const PartitionReport& report) noexcept;

/// Duration of all nodes of one operator on one backend in one run.
struct OperatorTime {
  std::string target;  ///< empty: time of the backend's partitions that belongs to no single node
  std::string backend;
  std::size_t nodes = 0;  ///< number of measured nodes
  std::uint64_t ns = 0;   ///< sum over these nodes
};

/// Returns the operators of a measured report, the slowest first. O(n log n).
[[nodiscard]] std::vector<OperatorTime> operator_times(const PartitionReport& report);

/// Tables of a report: partitions, operators by time, candidates by cost, constants, refusals.
struct ReportTables {
  TextTable partitions;
  TextTable operators;
  TextTable candidates;
  TextTable constants;
  TextTable refusals;
};
[[nodiscard]] ReportTables report_tables(const PartitionReport& report);
/// Returns one sentence with the totals of nodes, partitions and bytes.
[[nodiscard]] std::string report_totals(const PartitionReport& report);

/// All rows of a report, or the most expensive and frequent ones, in at most 20 lines.
enum class ReportLength : std::uint8_t { full, brief };
/// Prints a report: totals, then the tables of partitions, operators, costs, constants and refusals. Replaces control
/// characters in names by '?'. O(n log n).
[[nodiscard]] std::string print_report(const PartitionReport& report, ReportLength length = ReportLength::full);
/// Prints only the times of partitions and operators of a measured report.
[[nodiscard]] std::string print_times(const PartitionReport& report);

}  // namespace davit
