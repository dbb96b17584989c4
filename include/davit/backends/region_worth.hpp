// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "davit/program/graph.hpp"
#include "davit/program/views.hpp"

namespace davit {

/// True if a region has a node that computes more than it moves: a product, a convolution, a pooling, a norm, a function that is
/// more than arithmetic. A library of kernels gains nothing by the rest, and each border has its price. O(nodes).
[[nodiscard]] inline bool computes_more_than_moves(GraphModuleView graph, std::span<const NodeId> nodes) noexcept {
  return std::ranges::any_of(nodes, [&](NodeId n) {
    const std::string_view target = graph.target(graph.nodes[n]);
    if (only_moves(target)) return false;
    const std::string_view name = target.starts_with("aten.") ? target.substr(5, target.rfind('.') - 5) : target;
    for (const std::string_view one : {"abs", "add", "clamp", "div", "hardtanh", "leaky_relu", "maximum", "minimum", "mul", "neg", "pow", "reciprocal",
                                       "relu", "relu6", "round", "sqrt", "square", "sub"})
      if (name == one) return false;
    return true;
  });
}

}  // namespace davit
