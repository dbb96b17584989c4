// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/lowering/assign_nodes.hpp"
#include "davit/lowering/group_nodes.hpp"

namespace davit {

PartitionResult assign_nodes(BackendTables backends, GraphModuleView graph, std::vector<std::uint32_t> backend_of_node,
                             std::span<const std::uint32_t> chain_of_node, std::uint32_t chains) {
  PartitionResult out(graph);
  const std::vector<std::uint8_t> used = used_values(graph);
  graph.used = used.data();
  std::vector<std::uint8_t> broken(chains, 0);
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    std::uint32_t& wanted = backend_of_node[n];
    if (wanted == no_id) continue;
    const char* reason = wanted < backends.size() ? backends.refuses(wanted, graph, n) : nullptr;
    if (reason != nullptr) out.refusals.push_back({n, wanted, reason});
    if (reason == nullptr && wanted < backends.size() && !is_control_flow(graph, graph.nodes[n])) continue;
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
  const NodeGroups groups = group_nodes(graph, backend_of_node, static_cast<std::uint32_t>(backends.size()), whole,
                                        topological_order(whole).order);
  std::vector<std::uint32_t> count(backends.size(), 0);
  for (const std::uint32_t backend : groups.class_of_group) {
    Delegation to{.backend = backend};
    for (std::uint32_t b = backend + 1; b < backends.size(); ++b) to.fallbacks.push_back(b);
    out.add(concat(backends.name(backend), "_", count[backend]++), std::move(to));
  }
  out.tags.nodes = groups.group_of_node;
  return out;
}

namespace detail {

Error no_such_backend(BackendTables backends, Name where, std::uint32_t index) {
  return Error{.code = ErrorCode::out_of_range,
               .stage = Stage::partition,
               .where = std::move(where),
               .what = concat("there is no backend ", index),
               .fix = concat("the list has: ", backends.names())};
}
Error no_such_backend(BackendTables backends, Name where, std::string_view name) {
  return Error{.code = ErrorCode::not_found,
               .stage = Stage::partition,
               .where = std::move(where),
               .what = concat("there is no backend '", name, "'"),
               .fix = concat("the list has: ", backends.names())};
}

}  // namespace detail

}  // namespace davit
