// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/lowered/partition_report.hpp"

namespace davit {

/// Returns a colour for each backend index: colour-blind safe, light enough for black text.
[[nodiscard]] constexpr std::string_view backend_colour(std::uint32_t backend) noexcept {
  constexpr std::string_view colours[] = {"#a6cee3", "#fdbf6f", "#b2df8a", "#cab2d6",
                                          "#fb9a99", "#ffff99", "#d9d9d9", "#80cdc1"};
  return backend == no_id ? std::string_view("#ffffff") : colours[backend % std::size(colours)];
}

/// Writes the graph of a report in Graphviz's DOT language. Partitions are boxes in their backend's colour, control
/// flow is a cluster around its sub-graphs, edges show values and their sizes. O(boxes + edges).
[[nodiscard]] std::string write_dot(const PartitionReport& report);

}  // namespace davit
