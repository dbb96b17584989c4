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

/// The refusals of a report, counted; the most frequent first. O(n log n).
[[nodiscard]] std::vector<RefusalGroup> group_refusals(const PartitionReport& report);

/// What became of the bytes of parameters, buffers and constants.
struct ConstantBytes {
  std::size_t kept = 0;        ///< in the lowered program
  std::size_t moved = 0;       ///< into the one partition that uses them
  std::size_t shared = 0;      ///< one storage for several partitions
  std::size_t duplicated = 0;  ///< the copies of the first, second, ... partition together
};
[[nodiscard]] ConstantBytes constant_bytes(const PartitionReport& report) noexcept;

/// What the nodes of one operator on one backend took in one run.
struct OperatorTime {
  std::string target;  ///< empty: what a backend's partitions took beyond the nodes that it tells apart
  std::string backend;
  std::size_t nodes = 0;  ///< that were measured
  std::uint64_t ns = 0;   ///< all of them together
};

/// The operators of a report that was measured, the longest first. O(n log n).
[[nodiscard]] std::vector<OperatorTime> operator_times(const PartitionReport& report);

/// The partitions, the operators by time, the candidates by cost, the constants and the refusals of a report, as
/// tables.
struct ReportTables {
  TextTable partitions;
  TextTable operators;
  TextTable candidates;
  TextTable constants;
  TextTable refusals;
};
[[nodiscard]] ReportTables report_tables(const PartitionReport& report);
/// One sentence with the totals of nodes, partitions and bytes.
[[nodiscard]] std::string report_totals(const PartitionReport& report);

/// The report as text: totals, then the tables of partitions, operators, costs, constants and refusals. Control
/// characters in names are printed as '?'. O(n log n).
[[nodiscard]] std::string print_report(const PartitionReport& report);
/// Of a report that was measured, only the times of partitions and operators.
[[nodiscard]] std::string print_times(const PartitionReport& report);

}  // namespace davit
