// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/lowering/quotient_graph.hpp"

namespace davit {

/// A group per node (dense numbers; no_id for nodes that stay alone), and the class of each group.
struct NodeGroups {
  std::vector<std::uint32_t> group_of_node;
  std::vector<std::uint32_t> class_of_group;
  [[nodiscard]] constexpr std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(class_of_group.size());
  }
};

namespace detail {

/// Merges groups of one class unless a path leads from one group through others to the other.
///
/// Merging two vertices that are connected by direct edges alone keeps the graph acyclic. The search for another path
/// stops after `budget` edges and keeps the groups apart, so that the whole pass is linear.
class GroupMerger {
 public:
  static constexpr int budget = 256;

  constexpr GroupMerger(const QuotientGraph& q, std::span<const std::uint32_t> class_of_vertex, std::uint32_t classes)
      : q_(q),
        class_(class_of_vertex),
        latest_(classes, no_id),
        parent_(q.size, 0),
        next_member_(q.size, no_id),
        last_member_(q.size, 0),
        seen_(q.size, no_id) {
    for (std::uint32_t v = 0; v < q.size; ++v) parent_[v] = last_member_[v] = v;
  }

  /// Visits the vertices in a topological order.
  constexpr void run(std::span<const std::uint32_t> order) {
    for (const std::uint32_t v : order) {
      if (class_[v] == no_id) continue;
      std::uint32_t& latest = latest_[class_[v]];
      if (latest != no_id && !reaches(root(latest), v)) {
        join(root(latest), v);
      }
      latest = root(v);
    }
  }
  [[nodiscard]] constexpr std::uint32_t root(std::uint32_t v) noexcept {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

 private:
  /// True if a path with a third vertex leads from `from` to `to`, or if the budget ends the search.
  [[nodiscard]] constexpr bool reaches(std::uint32_t from, std::uint32_t to) {
    int left = budget;
    pending_.assign(1, to);
    seen_[to] = stamp_ = to;
    while (!pending_.empty()) {
      const std::uint32_t at = pending_.back();
      pending_.pop_back();
      for (std::uint32_t member = at; member != no_id; member = next_member_[member])
        for (const std::uint32_t need : q_.needs_of(member)) {
          if (--left < 0) return true;
          const std::uint32_t r = root(need);
          if (r == from) {
            if (at != to) return true;
            continue;
          }
          if (seen_[r] == stamp_) continue;
          seen_[r] = stamp_;
          pending_.push_back(r);
        }
    }
    return false;
  }
  constexpr void join(std::uint32_t a, std::uint32_t b) noexcept {
    parent_[b] = a;
    next_member_[last_member_[a]] = b;
    last_member_[a] = last_member_[b];
  }

  const QuotientGraph& q_;
  std::span<const std::uint32_t> class_;
  std::vector<std::uint32_t> latest_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> next_member_;
  std::vector<std::uint32_t> last_member_;
  std::vector<std::uint32_t> seen_;
  std::vector<std::uint32_t> pending_;
  std::uint32_t stamp_ = no_id;
};

/// Raises the level of vertices that depend on constants alone to the level of their first user, so that no group
/// passes another a value that it could compute itself. Does nothing where the view does not know constants.
constexpr void follow_users(GraphModuleView graph, const QuotientGraph& fixed, std::span<const std::uint32_t> order,
                            std::span<const std::uint32_t> vertex_class, std::vector<std::uint32_t>& level) {
  if (graph.constant == nullptr) return;
  const auto is_constant = [&](std::uint32_t v) {
    bool constant = vertex_class[v] != no_id;
    for (const NodeId n : fixed.nodes_of(v))
      for (const Argument& output : graph.outputs(graph.nodes[n]))
        graph.for_each_value(output, [&](ValueId made) { constant = constant && graph.constant[made] != 0; });
    return constant;
  };
  std::vector<std::uint32_t> highest(fixed.size, no_id);
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::uint32_t v = order[i];
    if (highest[v] != no_id && highest[v] != level[v] && is_constant(v)) level[v] = highest[v];
    for (const std::uint32_t need : fixed.needs_of(v)) {
      const bool same = vertex_class[v] != no_id && vertex_class[v] == vertex_class[need];
      highest[need] = std::min(highest[need], level[v] - (same ? 0u : 1u));
    }
  }
}

}  // namespace detail

/// Groups nodes of one class (nodes of one backend, for example) into few large groups whose quotient graph has no
/// cycle.
///
/// `class_of_node` holds a class below `classes`, or no_id for a node that stays alone. Nodes with one entry in `fixed`
/// count as one node that stays alone (empty: none). Groups never span two graphs. Nodes of one class and level form a
/// group; a node's level is the largest number of class changes on a path to it. Neighbouring groups are then merged
/// where no path leaves and re-enters. Nodes that depend on constants alone join their first user. Deterministic,
/// O(nodes + edges). Better than torch.fx's CapabilityBasedPartitioner, which is quadratic and proposes groups that
/// depend on each other.
[[nodiscard]] constexpr NodeGroups group_nodes(GraphModuleView graph, std::span<const std::uint32_t> class_of_node,
                                               std::uint32_t classes, const QuotientGraph& fixed,
                                               std::span<const std::uint32_t> order) {
  const auto graphs = static_cast<std::uint32_t>(graph.graphs.size());
  const auto class_of = [&](std::uint32_t v) {  // graphs do not share classes
    const NodeId n = fixed.nodes_of(v)[0];
    return class_of_node[n] == no_id ? no_id : class_of_node[n] * graphs + graph.nodes[n].graph;
  };
  std::vector<std::uint32_t> level(fixed.size, 0);
  std::vector<std::uint32_t> vertex_class(fixed.size, no_id);
  std::uint32_t levels = 0;
  for (const std::uint32_t v : order) {
    vertex_class[v] = class_of(v);
    for (const std::uint32_t need : fixed.needs_of(v)) {
      const bool same = vertex_class[v] != no_id && vertex_class[v] == vertex_class[need];
      level[v] = std::max(level[v], level[need] + (same ? 0u : 1u));
    }
    levels = std::max(levels, level[v] + 1);
  }
  detail::follow_users(graph, fixed, order, vertex_class, level);
  // groups of equal (class, level): sort by counting, level first
  std::vector<std::uint32_t> first(levels + 1, 0);
  for (std::uint32_t v = 0; v < fixed.size; ++v) ++first[level[v] + 1];
  for (std::uint32_t l = 0; l < levels; ++l) first[l + 1] += first[l];
  std::vector<std::uint32_t> by_level(fixed.size, 0);
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::uint32_t v = 0; v < fixed.size; ++v) by_level[next[level[v]]++] = v;
  const std::uint32_t all_classes = classes * graphs;
  std::vector<std::uint32_t> group_of_class(all_classes, no_id);
  std::vector<std::uint32_t> level_of_class(all_classes, no_id);
  std::vector<std::uint32_t> group_of_vertex(fixed.size, no_id);
  std::vector<std::uint32_t> class_of_group;
  for (const std::uint32_t v : by_level) {
    const std::uint32_t c = vertex_class[v];
    if (c == no_id) continue;
    if (level_of_class[c] != level[v]) {
      level_of_class[c] = level[v];
      group_of_class[c] = static_cast<std::uint32_t>(class_of_group.size());
      class_of_group.push_back(c);
    }
    group_of_vertex[v] = group_of_class[c];
  }
  const auto count = static_cast<std::uint32_t>(class_of_group.size());
  // nodes that `fixed` joins must stay together: each such vertex becomes a group behind the others
  std::vector<std::uint32_t> group_of_node(graph.nodes.size(), 0);
  std::uint32_t all = count;
  for (std::uint32_t v = 0; v < fixed.size; ++v) {
    const std::uint32_t g = group_of_vertex[v] != no_id ? group_of_vertex[v] : all++;
    for (const NodeId n : fixed.nodes_of(v)) group_of_node[n] = g;
  }
  const QuotientGraph q = contract(graph, group_of_node, all);
  std::vector<std::uint32_t> merge_class(q.size, no_id);
  for (std::uint32_t v = 0; v < q.size; ++v)
    if (const std::uint32_t g = group_of_node[q.nodes_of(v)[0]]; g < count) merge_class[v] = class_of_group[g];
  detail::GroupMerger merger(q, merge_class, all_classes);
  merger.run(topological_order(q).order);
  NodeGroups out{.group_of_node = std::vector<std::uint32_t>(graph.nodes.size(), no_id), .class_of_group = {}};
  std::vector<std::uint32_t> number(q.size, no_id);
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const std::uint32_t v = q.vertex_of_node[n];
    if (merge_class[v] == no_id) continue;
    std::uint32_t& g = number[merger.root(v)];
    if (g == no_id) {
      g = out.count();
      out.class_of_group.push_back(merge_class[v] / graphs);
    }
    out.group_of_node[n] = g;
  }
  return out;
}
[[nodiscard]] constexpr NodeGroups group_nodes(GraphModuleView graph, std::span<const std::uint32_t> class_of_node,
                                               std::uint32_t classes) {
  const std::vector<std::uint32_t> alone(graph.nodes.size(), no_id);
  const QuotientGraph each = contract(graph, alone, 0);
  std::vector<std::uint32_t> order(each.size, 0);
  for (std::uint32_t v = 0; v < each.size; ++v) order[v] = v;
  return group_nodes(graph, class_of_node, classes, each, order);
}

}  // namespace davit
