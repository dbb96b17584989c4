// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/lowering/pattern_partitioner.hpp"

namespace davit::detail {

inline constexpr NodeId several_users = no_id - 1;

/// Per node: the only node that uses its values; no_id without users, `several_users` with more, or if the graph
/// returns one.
[[nodiscard]] std::vector<NodeId> only_users(GraphModuleView graph) {
  std::vector<NodeId> user(graph.nodes.size(), no_id);
  const auto use = [&](ValueId v, NodeId by) {
    const NodeId producer = graph.values[v].producer;
    if (producer == no_id) return;
    user[producer] = user[producer] == no_id || user[producer] == by ? by : several_users;
  };
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    for (const Argument& input : graph.inputs(graph.nodes[n]))
      graph.for_each_value(input, [&](ValueId v) { use(v, n); });
  for (const Graph& g : graph.graphs)
    for (const Argument& output : graph.args(g.outputs))
      graph.for_each_value(output, [&](ValueId v) { use(v, several_users); });
  return user;
}

/// True if a chain of the rule without taken nodes begins at `n`; `chain` then holds it.
[[nodiscard]] bool follow_chain(GraphModuleView graph, const PatternRule& rule, NodeId n,
                                const std::vector<NodeId>& only_user, const std::vector<std::uint32_t>& taken,
                                std::vector<NodeId>& chain) {
  chain.clear();
  for (const auto& target : rule.targets) {
    if (n >= graph.nodes.size() || taken[n] != no_id || graph.target(graph.nodes[n]) != target.view()) return false;
    chain.push_back(n);
    n = only_user[n];
  }
  return true;
}

Result<PartitionResult> partition_patterns(BackendTables backends, std::span<const PatternRule> rules,
                                           const Method& method) {
  const GraphModuleView graph = method.view();
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (rules[r].backend >= backends.size())
      return std::unexpected(no_such_backend(backends, concat("pattern ", r), rules[r].backend));
    if (rules[r].targets.empty())
      return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                   .stage = Stage::partition,
                                   .where = concat("pattern ", r),
                                   .what = "it has no operators",
                                   .fix = "name at least one operator target"});
  }
  const std::vector<NodeId> only_user = only_users(graph);
  std::vector<std::uint32_t> backend_of_node(graph.nodes.size(), no_id);
  std::vector<std::uint32_t> chain_of_node(graph.nodes.size(), no_id);
  std::uint32_t chains = 0;
  std::vector<NodeId> chain;
  for (const PatternRule& rule : rules)
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      if (!follow_chain(graph, rule, n, only_user, chain_of_node, chain)) continue;
      for (const NodeId member : chain) {
        backend_of_node[member] = rule.backend;
        chain_of_node[member] = chains;
      }
      ++chains;
    }
  return assign_nodes(backends, graph, std::move(backend_of_node), chain_of_node, chains);
}

}  // namespace davit::detail
