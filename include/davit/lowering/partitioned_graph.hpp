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
/// dtype and sizes of a tensor, or the kind of another value.
[[nodiscard]] Name type_text(GraphModuleView graph, const Value& v);
/// Bytes of a tensor of the recorded sizes; 0 for other values, and if there are too many.
[[nodiscard]] std::size_t value_bytes(GraphModuleView graph, const Value& v) noexcept;
/// A report's rows of the nodes of a program that was partitioned so. O(nodes + arguments).
[[nodiscard]] std::vector<PartitionReport::Node> node_rows(GraphModuleView graph,
                                                           std::span<const std::uint32_t> partition_of_node);
}  // namespace detail

/// The picture of a lowered method, whose partitions are these rows of its report. O(size of the parent).
[[nodiscard]] PartitionedGraph partitioned_graph(const LoweredMethod& method,
                                                 std::span<const PartitionReport::Partition> partitions);

/// What a lowered program itself tells of method `index`, one that was loaded too: partitions and graph, without
/// numbers of nodes and bytes. O(size of the parent).
[[nodiscard]] PartitionReport partition_report(const LoweredProgram& program, std::size_t index);

}  // namespace davit
