// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "davit/backend/embed_graph.hpp"

namespace davit {

/// The partition of each node of a static program: consecutive nodes of one backend share a partition; no_id for nodes
/// that are not computed. O(nodes).
[[nodiscard]] constexpr std::vector<std::uint32_t> number_partitions(std::span<const std::uint8_t> backend_of) {
  std::vector<std::uint32_t> partition_of(backend_of.size(), no_id);
  std::uint32_t partition = no_id;
  std::uint8_t backend = EmbedGraph::unassigned;
  for (std::size_t n = 0; n < backend_of.size(); ++n) {
    if (backend_of[n] == EmbedGraph::unassigned) continue;
    if (backend_of[n] != backend) ++partition;  // starts at no_id, so that the first is 0
    backend = backend_of[n];
    partition_of[n] = partition;
  }
  return partition_of;
}

}  // namespace davit
