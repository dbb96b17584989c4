// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowering/partition_report.hpp"
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
[[nodiscard]] std::vector<RefusalGroup> group_refusals(const PartitionReport& report);

/// What became of the bytes of parameters, buffers and constants.
struct ConstantBytes {
  std::size_t kept = 0;        ///< in the lowered program
  std::size_t moved = 0;       ///< into the one partition that uses them
  std::size_t shared = 0;      ///< one storage for several partitions
  std::size_t duplicated = 0;  ///< the copies of the first, second, ... partition together
};
[[nodiscard]] ConstantBytes constant_bytes(const PartitionReport& report) noexcept;

/// The partitions, the candidates by cost, the constants and the refusals of a report, as tables.
struct ReportTables {
  TextTable partitions;
  TextTable candidates;
  TextTable constants;
  TextTable refusals;
};
[[nodiscard]] ReportTables report_tables(const PartitionReport& report);
/// One sentence with the totals of nodes, partitions and bytes.
[[nodiscard]] std::string report_totals(const PartitionReport& report);

/// The report as text: totals, then the tables of partitions, costs, constants and refusals. Control characters in names are
/// printed as '?'. O(n log n).
[[nodiscard]] std::string print_report(const PartitionReport& report);

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/lowering/impl/print_report.ipp"
#endif
