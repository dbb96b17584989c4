// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/lowering/pattern_partitioner.hpp"
#include "davit/lowering/value_users.hpp"

namespace davit::detail {

/// The only node that uses the values of `n`; no_id if there are none or several, or if the graph returns a value.
[[nodiscard]] NodeId only_user(GraphModuleView graph, const ValueUsers& users, NodeId n) {
  NodeId user = no_id;
  bool single = true;
  for (const Argument& output : graph.outputs(graph.nodes[n]))
    graph.for_each_value(output, [&](ValueId v) {
      single = single && users.is_output[v] == 0;
      for (const NodeId by : users.of(v)) {
        single = single && (user == no_id || user == by);
        user = by;
      }
    });
  return single ? user : no_id;
}

/// True if a chain of the rule without taken nodes begins at `n`; `chain` then holds it.
[[nodiscard]] bool follow_chain(GraphModuleView graph, const PatternRule& rule, NodeId n, const ValueUsers& users,
                                const std::vector<std::uint32_t>& taken, std::vector<NodeId>& chain) {
  chain.clear();
  for (const auto& target : rule.targets) {
    if (n >= graph.nodes.size() || taken[n] != no_id || graph.target(graph.nodes[n]) != target.view()) return false;
    chain.push_back(n);
    n = only_user(graph, users, n);
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
  const ValueUsers users = value_users(graph);
  std::vector<std::uint32_t> backend_of_node(graph.nodes.size(), no_id);
  std::vector<std::uint32_t> chain_of_node(graph.nodes.size(), no_id);
  std::uint32_t chains = 0;
  std::vector<NodeId> chain;
  for (const PatternRule& rule : rules)
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      if (!follow_chain(graph, rule, n, users, chain_of_node, chain)) continue;
      for (const NodeId member : chain) {
        backend_of_node[member] = rule.backend;
        chain_of_node[member] = chains;
      }
      ++chains;
    }
  return assign_nodes(backends, graph, std::move(backend_of_node), chain_of_node, chains);
}

}  // namespace davit::detail
