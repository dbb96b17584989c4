// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/program/graph.hpp"

namespace davit {

/// The nodes that read each value, ascending, one entry per use. Rows are compressed.
struct ValueUsers {
  std::vector<std::uint32_t> first;  ///< per value, and one more
  std::vector<NodeId> nodes;
  std::vector<std::uint8_t> is_output;  ///< per value: its graph returns it

  [[nodiscard]] constexpr std::span<const NodeId> of(ValueId v) const noexcept {
    return std::span(nodes).subspan(first[v], first[v + 1] - first[v]);
  }
};

/// Lists the users of all values. O(nodes + edges).
[[nodiscard]] constexpr ValueUsers value_users(GraphModuleView graph) {
  ValueUsers users{.first = std::vector<std::uint32_t>(graph.values.size() + 1, 0),
                   .nodes = {},
                   .is_output = std::vector<std::uint8_t>(graph.values.size(), 0)};
  const auto for_each = [&](auto&& visit) {
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
      for (const Argument& input : graph.inputs(graph.nodes[n]))
        graph.for_each_value(input, [&](ValueId v) { visit(v, n); });
  };
  for_each([&](ValueId v, NodeId) { ++users.first[v + 1]; });
  for (std::size_t v = 0; v + 1 < users.first.size(); ++v) users.first[v + 1] += users.first[v];
  users.nodes.resize(users.first.back(), 0);
  std::vector<std::uint32_t> next(users.first.begin(), users.first.end() - 1);
  for_each([&](ValueId v, NodeId n) { users.nodes[next[v]++] = n; });
  for (const Graph& each : graph.graphs)
    for (const Argument& output : graph.args(each.outputs))
      graph.for_each_value(output, [&](ValueId v) { users.is_output[v] = 1; });
  return users;
}

}  // namespace davit
