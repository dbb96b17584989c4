// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "davit/lowered/partition_report.hpp"

namespace davit {

namespace detail {
/// Bytes of a tensor with its recorded sizes; 0 for other values, and if they do not fit std::size_t.
[[nodiscard]] std::size_t value_bytes(GraphModuleView graph, const Value& v) noexcept;
/// The report's rows for the nodes of a partitioned program. O(nodes + arguments).
[[nodiscard]] std::vector<PartitionReport::Node> node_rows(GraphModuleView graph,
                                                           std::span<const std::uint32_t> partition_of_node);
/// Adds attributes and weights to the rows that node_rows() made of this program. O(arguments + elements of weights).
void add_attributes(const ExportedProgram& program, PartitionReport& report);
}  // namespace detail

/// The graph of a lowered method; its partitions are these rows of the report. O(size of the parent).
[[nodiscard]] PartitionedGraph partitioned_graph(const LoweredMethod& method,
                                                 std::span<const PartitionReport::Partition> partitions);

/// The report that a lowered or loaded program itself can give of method `index`: partitions and graph, without numbers
/// of nodes and bytes. O(size of the parent).
[[nodiscard]] PartitionReport partition_report(const LoweredProgram& program, std::size_t index);

}  // namespace davit
