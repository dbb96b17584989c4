// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/lowering/partition_report.hpp"

namespace davit::formats {

/// A page about a lowered program: per method the totals, the partitions drawn, and the tables of its report.
///
/// It needs nothing beside itself, and no script. All names are escaped. Graphs of more than 2000 boxes are not drawn.
/// O(boxes + edges + size of the reports).
[[nodiscard]] std::string partition_html(std::string_view title, std::span<const PartitionReport> reports);

}  // namespace davit::formats

#if !defined(DAVIT_COMPILED)
#include "davit/formats/impl/partition_html.ipp"
#endif
