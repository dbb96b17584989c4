// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/lowering/group_nodes.hpp"
#include "davit/lowering/partitioning.hpp"

namespace davit {

/// Sends nodes to the backends that a partitioner wants for them, in few large groups that form no cycle.
///
/// `backend_of_node` holds an index of the list per node, or no_id for a node that stays untagged. Control flow and nodes
/// that their backend refuses stay untagged, the latter with its reason in the answer. Nodes with the same entry in
/// `chain_of_node` (no_id, or numbers below `chains`; empty: no chains) stay in one group; they must have one backend and
/// contracting the chains must form no cycle. Backends after a partition's own are its fallbacks. O(nodes + edges).
template <class List>
[[nodiscard]] Partitioning<List> assign_nodes(GraphModuleView graph, std::vector<std::uint32_t> backend_of_node,
                                              std::span<const std::uint32_t> chain_of_node = {}, std::uint32_t chains = 0) {
  Partitioning<List> out(graph);
  std::vector<std::uint8_t> broken(chains, 0);
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    std::uint32_t& wanted = backend_of_node[n];
    if (wanted == no_id) continue;
    const char* reason = nullptr;
    List::visit(wanted, [&]<class B, std::size_t>() {
      if constexpr (SelectsNodes<B>) reason = B::refuses(graph, n);
    });
    if (reason != nullptr) out.refusals.push_back({n, wanted, reason});
    if (reason == nullptr && wanted < List::size && !is_control_flow(graph, graph.nodes[n])) continue;
    wanted = no_id;
    if (!chain_of_node.empty() && chain_of_node[n] != no_id) broken[chain_of_node[n]] = 1;
  }
  std::vector<std::uint32_t> fixed(graph.nodes.size(), no_id);
  if (!chain_of_node.empty())
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      if (chain_of_node[n] == no_id) continue;
      if (broken[chain_of_node[n]] != 0) {
        backend_of_node[n] = no_id;
      } else {
        fixed[n] = chain_of_node[n];
      }
    }
  const QuotientGraph whole = contract(graph, fixed, chains);
  const NodeGroups groups = group_nodes(graph, backend_of_node, static_cast<std::uint32_t>(List::size), whole,
                                        topological_order(whole).order);
  std::vector<std::uint32_t> count(List::size, 0);
  for (const std::uint32_t backend : groups.class_of_group)
    List::visit(backend, [&]<class B, std::size_t I>() {
      std::vector<std::uint32_t> fallbacks;
      for (std::uint32_t b = I + 1; b < List::size; ++b) fallbacks.push_back(b);
      out.add(concat(B::name, "_", count[I]++), DelegationSpec<List>(std::in_place_index<I>), std::move(fallbacks));
    });
  out.tags.nodes = groups.group_of_node;
  return out;
}

namespace detail {

/// The error of a partitioner that was given an index that no backend has.
template <class List>
[[nodiscard]] Error no_such_backend(Name where, std::uint32_t index) {
  return Error{.code = ErrorCode::out_of_range, .stage = Stage::partition, .where = std::move(where),
               .what = concat("there is no backend ", index), .fix = concat("the list has: ", List::names())};
}
/// The error of a partitioner that was given a name that no backend has.
template <class List>
[[nodiscard]] Error no_such_backend(Name where, std::string_view name) {
  return Error{.code = ErrorCode::not_found, .stage = Stage::partition, .where = std::move(where),
               .what = concat("there is no backend '", name, "'"), .fix = concat("the list has: ", List::names())};
}

}  // namespace detail

}  // namespace davit
