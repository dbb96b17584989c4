// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "davit/program/graph.hpp"

namespace davit {

/// True for a convolution or a product of matrices, or an operator whose name, without namespace and overload, is among `more`. A library
/// of kernels gains nothing by a region without any: portable computes the rest as fast, and each border has its price. O(1).
[[nodiscard]] inline bool is_worth_a_library(GraphModuleView graph, NodeId n, std::initializer_list<std::string_view> more = {}) noexcept {
  const std::string_view target = graph.target(graph.nodes[n]);
  if (!target.starts_with("aten.")) return false;
  const std::string_view name = target.substr(5, target.rfind('.') - 5);
  const auto is = [&](std::string_view one) { return name == one; };
  return std::ranges::any_of(std::initializer_list<std::string_view>{"addmm", "bmm", "conv1d", "conv2d", "conv3d", "convolution", "linear", "matmul", "mm"}, is) ||
         std::ranges::any_of(more, is);
}

}  // namespace davit
