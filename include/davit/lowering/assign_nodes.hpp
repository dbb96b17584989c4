// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowering/partitioning.hpp"

namespace davit {

/// Sends nodes to the backends that a partitioner wants for them, in few large groups that form no cycle.
///
/// `backend_of_node` holds an index of the list per node, or no_id for a node that stays untagged. Control flow and
/// nodes that their backend refuses stay untagged, the latter with its reason in the answer. Nodes with the same entry
/// in `chain_of_node` (no_id, or numbers below `chains`; empty: no chains) stay in one group; they must have one
/// backend and contracting the chains must form no cycle. Backends after a partition's own are its fallbacks. O(nodes +
/// edges).
[[nodiscard]] PartitionResult assign_nodes(BackendTables backends, GraphModuleView graph,
                                           std::vector<std::uint32_t> backend_of_node,
                                           std::span<const std::uint32_t> chain_of_node = {}, std::uint32_t chains = 0);

namespace detail {

/// Makes the error for a backend index that the list does not have.
[[nodiscard]] Error no_such_backend(BackendTables backends, Name where, std::uint32_t index);
/// Makes the error for a backend name that the list does not have.
[[nodiscard]] Error no_such_backend(BackendTables backends, Name where, std::string_view name);

/// Converts a PartitionResult to the Partitioning of a list.
template <class List>
[[nodiscard]] Result<Partitioning<List>> partitioning_of(Result<PartitionResult> answer) {
  if (!answer) return error_of(std::move(answer));
  return Partitioning<List>(std::move(*answer));
}

}  // namespace detail

}  // namespace davit
