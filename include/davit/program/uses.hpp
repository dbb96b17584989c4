// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/program/graph.hpp"

namespace davit {

/// How often the values of a graph are used, and by whom. What its outputs, or others, need besides counts twice, so
/// that nothing takes it for a value with a single use.
class Uses {
 public:
  /// Of no value yet.
  constexpr explicit Uses(std::size_t values) : count_(values, 0), user_(values, no_id) {}
  /// Of the values of a graph by its nodes and outputs. O(arguments).
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
  /// Who alone uses the value, most often a node; no_id if there are more uses, or none.
  [[nodiscard]] constexpr std::uint32_t only_user(ValueId v) const noexcept { return is_single(v) ? user_[v] : no_id; }

 private:
  std::vector<std::uint32_t> count_;
  std::vector<std::uint32_t> user_;  ///< the last one
};

}  // namespace davit
