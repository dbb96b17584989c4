// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "davit/lowering/dependencies.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// The graph in which each group of nodes is one vertex. Rows are compressed: the nodes of vertex v are
/// `nodes[first_node[v] .. first_node[v + 1])`, and likewise for the vertices that it needs; edges may repeat.
struct QuotientGraph {
  std::uint32_t size = 0;
  std::vector<std::uint32_t> vertex_of_node;
  std::vector<std::uint32_t> first_node;
  std::vector<NodeId> nodes;  ///< ascending within a vertex
  std::vector<std::uint32_t> first_need;
  std::vector<std::uint32_t> needs;

  [[nodiscard]] constexpr std::span<const NodeId> nodes_of(std::uint32_t v) const noexcept {
    return std::span(nodes).subspan(first_node[v], first_node[v + 1] - first_node[v]);
  }
  [[nodiscard]] constexpr std::span<const std::uint32_t> needs_of(std::uint32_t v) const noexcept {
    return std::span(needs).subspan(first_need[v], first_need[v + 1] - first_need[v]);
  }
};

/// Contracts groups: nodes with the same entry in `group_of_node` become one vertex, nodes with no_id one each.
/// Vertices are numbered by their first node; a vertex needs the vertices that its nodes need (see Dependencies).
/// O(nodes + edges).
[[nodiscard]] constexpr QuotientGraph contract(GraphModuleView graph, std::span<const std::uint32_t> group_of_node,
                                               std::uint32_t groups) {
  QuotientGraph q;
  const Dependencies dependencies(graph);
  const auto count = static_cast<std::uint32_t>(graph.nodes.size());
  q.vertex_of_node.resize(count, 0);
  std::vector<std::uint32_t> vertex_of_group(groups, no_id);
  for (NodeId n = 0; n < count; ++n) {
    const std::uint32_t g = group_of_node[n];
    std::uint32_t v = g == no_id ? no_id : vertex_of_group[g];
    if (v == no_id) {
      v = q.size++;
      if (g != no_id) vertex_of_group[g] = v;
    }
    q.vertex_of_node[n] = v;
  }
  q.first_node.assign(q.size + 1, 0);
  q.first_need.assign(q.size + 1, 0);
  for (NodeId n = 0; n < count; ++n) {
    const std::uint32_t v = q.vertex_of_node[n];
    ++q.first_node[v + 1];
    dependencies.for_each(n, [&](NodeId p) { q.first_need[v + 1] += q.vertex_of_node[p] != v ? 1 : 0; });
  }
  for (std::uint32_t v = 0; v < q.size; ++v) {
    q.first_node[v + 1] += q.first_node[v];
    q.first_need[v + 1] += q.first_need[v];
  }
  q.nodes.resize(count, 0);
  q.needs.resize(q.first_need[q.size], 0);
  std::vector<std::uint32_t> next_node(q.first_node.begin(), q.first_node.end() - 1);
  std::vector<std::uint32_t> next_need(q.first_need.begin(), q.first_need.end() - 1);
  for (NodeId n = 0; n < count; ++n) {
    const std::uint32_t v = q.vertex_of_node[n];
    q.nodes[next_node[v]++] = n;
    dependencies.for_each(n, [&](NodeId p) {
      if (q.vertex_of_node[p] != v) q.needs[next_need[v]++] = q.vertex_of_node[p];
    });
  }
  return q;
}

/// A topological order of the vertices, or a cycle.
struct VertexOrder {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> cycle;  ///< vertices of a cycle: each needs the next, the last needs the first
};

/// Orders the vertices; of several possible ones the one with the first node comes first. O(vertices + edges), no
/// recursion.
[[nodiscard]] constexpr VertexOrder topological_order(const QuotientGraph& q) {
  enum : std::uint8_t { fresh, open, done };
  VertexOrder out;
  out.order.reserve(q.size);
  std::vector<std::uint8_t> state(q.size, fresh);
  std::vector<std::uint32_t> next(q.first_need.begin(), q.first_need.end() - 1);
  std::vector<std::uint32_t> path;
  for (std::uint32_t start = 0; start < q.size; ++start) {
    if (state[start] != fresh) continue;
    path.push_back(start);
    state[start] = open;
    while (!path.empty()) {
      const std::uint32_t v = path.back();
      if (next[v] == q.first_need[v + 1]) {
        state[v] = done;
        out.order.push_back(v);
        path.pop_back();
        continue;
      }
      const std::uint32_t need = q.needs[next[v]++];
      if (state[need] == open) {
        std::size_t at = 0;
        while (path[at] != need) ++at;
        out.cycle.assign(path.begin() + static_cast<std::ptrdiff_t>(at), path.end());
        return out;
      }
      if (state[need] == fresh) {
        state[need] = open;
        path.push_back(need);
      }
    }
  }
  return out;
}

}  // namespace davit
