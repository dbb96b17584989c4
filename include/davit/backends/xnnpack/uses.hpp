// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "davit/program/graph.hpp"

namespace davit::xnnpack_parts {

/// How often the values of a graph are used, and by whom.
class Uses {
 public:
  /// O(arguments).
  constexpr explicit Uses(GraphModuleView g) : count_(g.values.size(), 0), user_(g.values.size(), no_id) {
    for (NodeId n = 0; n < g.nodes.size(); ++n)
      for (const Argument& a : g.inputs(g.nodes[n]))
        g.for_each_value(a, [&](ValueId v) {
          ++count_[v];
          user_[v] = n;
        });
    for (const Argument& a : g.args(g.root().outputs)) g.for_each_value(a, [&](ValueId v) { count_[v] += 2; });
  }

  /// The node that alone uses the value; no_id if there are more uses or it leaves the graph.
  [[nodiscard]] constexpr NodeId only_user(ValueId v) const noexcept { return count_[v] == 1 ? user_[v] : no_id; }
  [[nodiscard]] constexpr bool any(ValueId v) const noexcept { return count_[v] != 0; }

 private:
  std::vector<std::uint32_t> count_;  ///< an output of the graph counts as two
  std::vector<NodeId> user_;          ///< the last one
};

}  // namespace davit::xnnpack_parts
