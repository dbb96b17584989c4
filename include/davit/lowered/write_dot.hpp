// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/lowered/partition_report.hpp"

namespace davit {

/// Colours for backends, by index; colour-blind safe, light enough for black text.
[[nodiscard]] constexpr std::string_view backend_colour(std::uint32_t backend) noexcept {
  constexpr std::string_view colours[] = {"#a6cee3", "#fdbf6f", "#b2df8a", "#cab2d6",
                                          "#fb9a99", "#ffff99", "#d9d9d9", "#80cdc1"};
  return backend == no_id ? std::string_view("#ffffff") : colours[backend % std::size(colours)];
}

/// The graph of a report in Graphviz's DOT language: a box per partition in its backend's colour, control flow as
/// clusters that hold the graphs it runs, edges with the values that cross and their sizes. O(boxes + edges).
[[nodiscard]] std::string write_dot(const PartitionReport& report);

}  // namespace davit
