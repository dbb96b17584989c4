// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/assign_nodes.hpp"

namespace davit {

/// Gives every node to one backend of the list; control flow stays with the lowered program.
///
/// Nodes that the backend refuses stay untagged, with its reason in the answer. Errors: out_of_range for a backend that
/// the list does not have. O(nodes + edges).
/// Source: executorch.exir.backend.test's AllNodesPartitioner.
template <class List>
struct AllNodePartitioner {
  using Backends = List;
  std::uint32_t backend = 0;  ///< index of the list

  [[nodiscard]] std::vector<std::uint32_t> preference() const { return {backend}; }
  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    if (backend >= List::size)
      return std::unexpected(detail::no_such_backend(List::tables(), "AllNodePartitioner", backend));
    const GraphModuleView graph = method.view();
    return Partitioning<List>(
        assign_nodes(List::tables(), graph, std::vector<std::uint32_t>(graph.nodes.size(), backend)));
  }
};

}  // namespace davit
