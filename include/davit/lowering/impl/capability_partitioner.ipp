// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/group_nodes.hpp"
#include "davit/lowering/value_sources.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace detail {

class PartitionByCapability {
 public:
  PartitionByCapability(BackendTables backends, const CapabilityOptions& options)
      : backends_(backends), options_(options) {}

  [[nodiscard]] Result<PartitionResult> run(const Method& method) const {
    GraphModuleView graph = method.view();
    const std::vector<std::uint8_t> used = used_values(graph);
    graph.used = used.data();
    std::vector<ValueSource> sources = value_sources(*method.program);
    for (const Node& node : graph.nodes) (void)note_source(graph, node, sources);
    std::vector<std::uint8_t> constant;
    for (const ValueSource source : sources) constant.push_back(source == ValueSource::constant ? 1 : 0);
    graph.constant = constant.data();
    PartitionResult out(graph);
    std::vector<std::uint32_t> order = options_.order;
    if (order.empty())
      for (std::uint32_t b = 0; b < backends_.size(); ++b) order.push_back(b);
    for (const std::uint32_t b : order)
      if (b >= backends_.size())
        return std::unexpected(Error{.code = ErrorCode::out_of_range,
                                     .stage = Stage::partition,
                                     .where = "CapabilityOptions::order",
                                     .what = concat("there is no backend ", b),
                                     .fix = concat("the list has ", backends_.size())});
    if (options_.only_available) std::erase_if(order, [&](std::uint32_t b) { return !backends_[b].is_available(); });
    // choice[n]: the position in `order` of the backend that gets node n; past the end: none
    std::vector<std::uint32_t> choice(graph.nodes.size(), 0);
    for (NodeId n = 0; n < graph.nodes.size(); ++n) advance(graph, n, order, choice[n], out.refusals);
    for (std::size_t round = 0; round < order.size(); ++round) {
      const NodeGroups groups = group(graph, order, choice);
      if (round + 1 < order.size() && reject(graph, groups, order, choice, out.refusals)) continue;
      add_groups(groups, order, out);
      return out;
    }
    return out;
  }

 private:
  /// Moves `at` on to the first backend from there that takes the node.
  void advance(GraphModuleView graph, NodeId n, std::span<const std::uint32_t> order, std::uint32_t& at,
               std::vector<NodeRefusal>& refusals) const {
    if (is_control_flow(graph, graph.nodes[n])) {
      at = static_cast<std::uint32_t>(order.size());
      return;
    }
    for (; at < order.size(); ++at) {
      const char* reason = backends_.refuses(order[at], graph, n);
      if (reason == nullptr) return;
      refusals.push_back({n, order[at], reason});
    }
  }

  [[nodiscard]] static NodeGroups group(GraphModuleView graph, std::span<const std::uint32_t> order,
                                        std::span<const std::uint32_t> choice) {
    std::vector<std::uint32_t> classes(choice.begin(), choice.end());
    for (std::uint32_t& c : classes)
      if (c >= order.size()) c = no_id;
    return group_nodes(graph, classes, static_cast<std::uint32_t>(order.size()));
  }

  /// Sends groups that are too small, too many or not worthwhile on to the next backend; true if there were any.
  [[nodiscard]] bool reject(GraphModuleView graph, const NodeGroups& groups, std::span<const std::uint32_t> order,
                            std::vector<std::uint32_t>& choice, std::vector<NodeRefusal>& refusals) const {
    std::vector<std::vector<NodeId>> members(groups.count());
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
      if (groups.group_of_node[n] != no_id) members[groups.group_of_node[n]].push_back(n);
    std::vector<const char*> verdict(groups.count(), nullptr);
    for (std::uint32_t g = 0; g < groups.count(); ++g) {
      const std::uint32_t at = groups.class_of_group[g];
      if (at + 1 == order.size()) continue;
      if (members[g].size() < options_.min_nodes)
        verdict[g] = "its group has fewer nodes than the partitioner asks for";
      else if (options_.worthwhile != nullptr && !options_.worthwhile(graph, members[g], order[at]))
        verdict[g] = "its group is not worth a delegate call";
      else if (!is_worthwhile(graph, members[g], order[at]) && others_take(graph, members[g], order.subspan(at + 1)))
        verdict[g] = "its group gains nothing by this backend";
    }
    if (options_.max_partitions != SIZE_MAX)
      for (std::uint32_t at = 0; at + 1 < order.size(); ++at) {
        std::vector<std::uint32_t> own;
        for (std::uint32_t g = 0; g < groups.count(); ++g)
          if (groups.class_of_group[g] == at && verdict[g] == nullptr) own.push_back(g);
        std::ranges::sort(own, [&](std::uint32_t a, std::uint32_t b) {
          return members[a].size() != members[b].size() ? members[a].size() > members[b].size() : a < b;
        });
        for (std::size_t i = options_.max_partitions; i < own.size(); ++i)
          verdict[own[i]] = "its backend has as many partitions as the partitioner allows";
      }
    bool any = false;
    for (std::uint32_t g = 0; g < groups.count(); ++g) {
      if (verdict[g] == nullptr) continue;
      any = true;
      for (const NodeId n : members[g]) {
        refusals.push_back({n, order[choice[n]], verdict[g]});
        ++choice[n];
        advance(graph, n, order, choice[n], refusals);
      }
    }
    return any;
  }

  [[nodiscard]] bool is_worthwhile(GraphModuleView graph, std::span<const NodeId> nodes, std::uint32_t backend) const {
    const auto moves = [&](NodeId n) { return only_moves(graph.target(graph.nodes[n])); };
    if (std::ranges::all_of(nodes, moves)) return false;
    return backends_[backend].is_worthwhile == nullptr || backends_[backend].is_worthwhile(graph, nodes);
  }
  /// True if each of the nodes has a backend among the later ones.
  [[nodiscard]] bool others_take(GraphModuleView graph, std::span<const NodeId> nodes,
                                 std::span<const std::uint32_t> later) const {
    return std::ranges::all_of(nodes, [&](NodeId n) {
      return std::ranges::any_of(later, [&](std::uint32_t b) { return backends_.refuses(b, graph, n) == nullptr; });
    });
  }

  void add_groups(const NodeGroups& groups, std::span<const std::uint32_t> order, PartitionResult& out) const {
    std::vector<std::uint32_t> count(backends_.size(), 0);
    for (const std::uint32_t at : groups.class_of_group) {
      Delegation to{.backend = order[at]};
      if (options_.fallbacks) to.fallbacks.assign(order.begin() + at + 1, order.end());
      out.add(concat(backends_.name(order[at]), "_", count[order[at]]++), std::move(to));
    }
    out.tags.nodes = groups.group_of_node;
  }

  BackendTables backends_;
  const CapabilityOptions& options_;
};

}  // namespace detail

Result<PartitionResult> partition_by_capability(BackendTables backends, const CapabilityOptions& options,
                                                const Method& method) {
  return detail::PartitionByCapability(backends, options).run(method);
}

}  // namespace davit
