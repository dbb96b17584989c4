// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/assign_nodes.hpp"
#include "davit/lowering/backend_list.hpp"

namespace davit {

/// Gives chains of operators to backends, such as {"aten.convolution.default", "aten.relu.default"}.
///
/// A chain is a run of nodes with these targets in which each node but the last has one user, the next; none of its values
/// leaves the chain. Chains do not overlap: earlier patterns come first, then earlier nodes; a chain goes to its backend
/// as a whole or, if that refuses one of its nodes, not at all. Name a longer pattern before its own beginning.
/// Errors: invalid_argument for a pattern without operators; out_of_range for a backend that the list does not have.
/// O(patterns * nodes * length + edges). Source: torch.fx.passes.utils.matcher_utils, for linear patterns.
template <class List>
struct PatternPartitioner {
  using Backends = List;
  struct Rule {
    std::vector<Name> targets;
    std::uint32_t backend = 0;  ///< index of the list
  };
  std::vector<Rule> rules;

  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    const GraphModuleView graph = method.view();
    for (std::size_t r = 0; r < rules.size(); ++r) {
      if (rules[r].backend >= List::size)
        return std::unexpected(detail::no_such_backend(List::tables(), concat("pattern ", r), rules[r].backend));
      if (rules[r].targets.empty())
        return std::unexpected(Error{.code = ErrorCode::invalid_argument, .stage = Stage::partition, .where = concat("pattern ", r),
                                     .what = "it has no operators", .fix = "name at least one operator target"});
    }
    const std::vector<NodeId> only_user = only_users(graph);
    std::vector<std::uint32_t> backend_of_node(graph.nodes.size(), no_id);
    std::vector<std::uint32_t> chain_of_node(graph.nodes.size(), no_id);
    std::uint32_t chains = 0;
    std::vector<NodeId> chain;
    for (const Rule& rule : rules)
      for (NodeId n = 0; n < graph.nodes.size(); ++n) {
        if (!follow(graph, rule, n, only_user, chain_of_node, chain)) continue;
        for (const NodeId member : chain) {
          backend_of_node[member] = rule.backend;
          chain_of_node[member] = chains;
        }
        ++chains;
      }
    return Partitioning<List>(assign_nodes(List::tables(), graph, std::move(backend_of_node), chain_of_node, chains));
  }

 private:
  static constexpr NodeId several = no_id - 1;

  /// Per node: the one node that uses its values; no_id if none does, `several` if more do, or the graph's output.
  [[nodiscard]] static std::vector<NodeId> only_users(GraphModuleView graph) {
    std::vector<NodeId> user(graph.nodes.size(), no_id);
    const auto use = [&](ValueId v, NodeId by) {
      const NodeId producer = graph.values[v].producer;
      if (producer == no_id) return;
      user[producer] = user[producer] == no_id || user[producer] == by ? by : several;
    };
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
      for (const Argument& input : graph.inputs(graph.nodes[n])) graph.for_each_value(input, [&](ValueId v) { use(v, n); });
    for (const Graph& g : graph.graphs)
      for (const Argument& output : graph.args(g.outputs)) graph.for_each_value(output, [&](ValueId v) { use(v, several); });
    return user;
  }

  /// True if a free chain of the rule begins at `n`; `chain` then holds it.
  [[nodiscard]] static bool follow(GraphModuleView graph, const Rule& rule, NodeId n, const std::vector<NodeId>& only_user,
                                   const std::vector<std::uint32_t>& taken, std::vector<NodeId>& chain) {
    chain.clear();
    for (std::size_t i = 0; i < rule.targets.size(); ++i) {
      if (n >= graph.nodes.size() || taken[n] != no_id || graph.target(graph.nodes[n]) != rule.targets[i].view()) return false;
      chain.push_back(n);
      n = only_user[n];
    }
    return true;
  }
};

}  // namespace davit
