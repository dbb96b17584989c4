// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/program/graph.hpp"

namespace davit {

/// Use counts and users of a graph's values. A graph output, and any value of keep(), counts as two more uses, so that
/// no pass treats it as a value with a single use.
class Uses {
 public:
  /// Starts with no uses.
  constexpr explicit Uses(std::size_t values) : count_(values, 0), user_(values, no_id) {}
  /// Counts the uses by the nodes and outputs of a graph. O(arguments).
  constexpr explicit Uses(GraphModuleView graph) : Uses(graph.values.size()) {
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
      for (const Argument& a : graph.inputs(graph.nodes[n])) graph.for_each_value(a, [&](ValueId v) { add(v, n); });
    keep_outputs(graph);
  }

  constexpr void add(ValueId v, std::uint32_t user) {
    ++count_[v];
    user_[v] = user;
  }
  constexpr void keep(ValueId v) { count_[v] += 2; }
  constexpr void keep_outputs(GraphModuleView graph) {
    for (const Argument& a : graph.args(graph.root().outputs)) graph.for_each_value(a, [&](ValueId v) { keep(v); });
  }

  [[nodiscard]] constexpr bool any(ValueId v) const noexcept { return count_[v] != 0; }
  [[nodiscard]] constexpr bool is_single(ValueId v) const noexcept { return count_[v] == 1; }
  /// Returns the only user of the value, usually a node; no_id if there are no or several uses.
  [[nodiscard]] constexpr std::uint32_t only_user(ValueId v) const noexcept { return is_single(v) ? user_[v] : no_id; }

 private:
  std::vector<std::uint32_t> count_;
  std::vector<std::uint32_t> user_;  ///< the last user
};

}  // namespace davit
