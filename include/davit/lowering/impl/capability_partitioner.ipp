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
    const std::vector<std::uint8_t> constant = constant_values(*method.program);
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
    // choice[n]: index in `order` of the backend of node n; order.size(): none
    std::vector<std::uint32_t> choice(graph.nodes.size(), 0);
    for (NodeId n = 0; n < graph.nodes.size(); ++n) advance(graph, n, order, choice[n], out.refusals);
    for (std::uint32_t at = 0; at + 1 < order.size(); ++at) offload(graph, at, order, choice, out);
    for (std::size_t round = 0; round < order.size(); ++round) {
      const NodeGroups groups = group(graph, order, choice);
      if (round + 1 < order.size() && reject(graph, groups, order, choice, out.refusals)) continue;
      add_groups(groups, order, out);
      return out;
    }
    return out;
  }

 private:
  /// Advances `at` to the first backend from there on that takes the node.
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

  /// Moves nodes of the backend at `at` to later backends with lower estimates: first group by group, then all
  /// remaining nodes, joined with the nodes of the later backend, because no value then crosses between the two.
  void offload(GraphModuleView graph, std::uint32_t at, std::span<const std::uint32_t> order,
               std::vector<std::uint32_t>& choice, PartitionResult& out) const {
    const auto estimates = [&](std::uint32_t b) { return backends_[b].offload_cost != nullptr; };
    if (!estimates(order[at]) || std::ranges::none_of(order.subspan(at + 1), estimates)) return;
    const NodeGroups groups = group(graph, order, choice);
    const std::vector<std::vector<NodeId>> all = members(groups);
    for (std::uint32_t g = 0; g < groups.count(); ++g) {
      if (groups.class_of_group[g] != at) continue;
      const std::vector<NodeId>& nodes = all[g];
      Move best{.to = at};
      for (std::uint32_t to = at + 1; to < order.size(); ++to)
        if (estimates(order[to])) consider(graph, nodes, {}, at, to, order, best);
      carry_out(graph, best, at, order, choice, out);
    }
    for (std::uint32_t to = at + 1; to < order.size(); ++to) {
      if (!estimates(order[to])) continue;
      std::vector<NodeId> left, there;
      for (NodeId n = 0; n < graph.nodes.size(); ++n)
        if (choice[n] == at || choice[n] == to) (choice[n] == at ? left : there).push_back(n);
      Move move{.to = at};
      if (!there.empty()) consider(graph, left, there, at, to, order, move);
      carry_out(graph, move, at, order, choice, out);
    }
  }

  /// Nodes to move to another backend, with both estimates.
  struct Move {
    std::uint32_t to = 0;
    std::vector<NodeId> nodes{};
    double stay_ns = 0;
    double go_ns = 0;
  };
  /// Makes `best` the move of those `nodes` that `to` takes from `at` to `to`, if it saves more time than the
  /// estimates' error (3 %). `there`: the nodes that `to` has already.
  void consider(GraphModuleView graph, std::span<const NodeId> nodes, std::span<const NodeId> there, std::uint32_t at,
                std::uint32_t to, std::span<const std::uint32_t> order, Move& best) const {
    constexpr double noticed = 0.97;
    std::vector<NodeId> going, staying;
    for (const NodeId n : nodes) (backends_.refuses(order[to], graph, n) == nullptr ? going : staying).push_back(n);
    if (going.empty()) return;
    std::vector<NodeId> joined(going.size() + there.size());
    std::ranges::merge(going, there, joined.begin());
    if (!is_wanted(graph, joined, order[to]) || !is_profitable(graph, joined, order[to])) return;
    const auto cost = [&](std::uint32_t b, std::span<const NodeId> of) {
      return of.empty() ? 0 : backends_[order[b]].offload_cost(graph, of);
    };
    const double stay = cost(at, nodes) + cost(to, there), go = cost(to, joined) + cost(at, staying);
    if (go < (best.nodes.empty() ? stay * noticed : best.go_ns)) best = {to, std::move(going), stay, go};
  }
  void carry_out(GraphModuleView graph, const Move& move, std::uint32_t at, std::span<const std::uint32_t> order,
                 std::vector<std::uint32_t>& choice, PartitionResult& out) const {
    if (move.nodes.empty()) return;
    for (const NodeId n : move.nodes) {
      out.refusals.push_back({n, order[at], "a later backend of the list is estimated to take its group less time"});
      choice[n] = move.to;
    }
    const Name what = concat(move.nodes.size(), " nodes from ", node_label(graph, move.nodes[0]), ", estimated");
    const auto candidate = [&](std::uint32_t b, double ns, bool chosen) {
      out.candidates.push_back({.what = what,
                                .candidate = Name(backends_.name(order[b])),
                                .ns = static_cast<std::uint64_t>(std::clamp(ns, 0.0, 1e18)),
                                .chosen = chosen});
    };
    candidate(at, move.stay_ns, false);
    candidate(move.to, move.go_ns, true);
  }

  /// Returns the nodes of each group, ascending.
  [[nodiscard]] static std::vector<std::vector<NodeId>> members(const NodeGroups& groups) {
    std::vector<std::vector<NodeId>> all(groups.count());
    for (NodeId n = 0; n < groups.group_of_node.size(); ++n)
      if (groups.group_of_node[n] != no_id) all[groups.group_of_node[n]].push_back(n);
    return all;
  }

  [[nodiscard]] static NodeGroups group(GraphModuleView graph, std::span<const std::uint32_t> order,
                                        std::span<const std::uint32_t> choice) {
    std::vector<std::uint32_t> classes(choice.begin(), choice.end());
    for (std::uint32_t& c : classes)
      if (c >= order.size()) c = no_id;
    return group_nodes(graph, classes, static_cast<std::uint32_t>(order.size()));
  }

  /// Moves groups that are too small, too many or not profitable to the next backend; true if there were any.
  [[nodiscard]] bool reject(GraphModuleView graph, const NodeGroups& groups, std::span<const std::uint32_t> order,
                            std::vector<std::uint32_t>& choice, std::vector<NodeRefusal>& refusals) const {
    const std::vector<std::vector<NodeId>> members = PartitionByCapability::members(groups);
    std::vector<const char*> verdict(groups.count(), nullptr);
    for (std::uint32_t g = 0; g < groups.count(); ++g) {
      const std::uint32_t at = groups.class_of_group[g];
      if (at + 1 == order.size()) continue;
      if (members[g].size() < options_.min_nodes)
        verdict[g] = "its group has fewer nodes than the partitioner asks for";
      else if (!is_wanted(graph, members[g], order[at]))
        verdict[g] = "its group is not worth a delegate call";
      else if (!is_profitable(graph, members[g], order[at]) && others_take(graph, members[g], order.subspan(at + 1)))
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

  /// True if the partitioner's options want a region on a backend.
  [[nodiscard]] bool is_wanted(GraphModuleView graph, std::span<const NodeId> nodes, std::uint32_t backend) const {
    return options_.profitable == nullptr || options_.profitable(graph, nodes, backend);
  }
  [[nodiscard]] bool is_profitable(GraphModuleView graph, std::span<const NodeId> nodes, std::uint32_t backend) const {
    const auto moves = [&](NodeId n) { return is_data_movement(graph.target(graph.nodes[n])); };
    if (std::ranges::all_of(nodes, moves)) return false;
    return backends_[backend].is_profitable == nullptr || backends_[backend].is_profitable(graph, nodes);
  }
  /// True if later backends take all of the nodes.
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
