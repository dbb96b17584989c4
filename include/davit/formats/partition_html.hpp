// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/lowering/partition_report.hpp"
#include "davit/lowering/partitioned_graph.hpp"

namespace davit::formats {

/// A page about a lowered program: per method the totals, the partitions drawn, and the tables of its report.
///
/// It needs nothing beside itself, and no script. All names are escaped. Graphs of more than 2000 boxes are not drawn.
/// `graphs` and `reports` are in the order of the methods; a report may be missing. O(boxes + edges + size of the
/// reports).
[[nodiscard]] std::string partition_html(std::string_view title, std::span<const PartitionedGraph> graphs,
                                         std::span<const MethodReport> reports);

}  // namespace davit::formats

#if !defined(DAVIT_COMPILED)
#include "davit/formats/impl/partition_html.ipp"
#endif
