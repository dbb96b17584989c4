// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "davit/program/graph.hpp"

namespace davit {

/// True if two expressions of a program's table are structurally equal, whatever their ids. False if they differ, and
/// if they are too large to compare. `text`: the text table, with the symbols' names. O(1).
[[nodiscard]] constexpr bool same_expr(std::span<const Expr> exprs, std::string_view text, ExprId a,
                                       ExprId b) noexcept {
  std::array<std::pair<ExprId, ExprId>, 64> open{};
  open[0] = {a, b};
  std::size_t count = 1;
  for (std::size_t looked_at = 0; count != 0; ++looked_at) {
    if (looked_at == open.size()) return false;
    const auto [left, right] = open[--count];
    if (left == right) continue;
    if (left == no_id || right == no_id) return false;
    const Expr& x = exprs[left];
    const Expr& y = exprs[right];
    if (x.op != y.op || x.value != y.value ||
        text.substr(x.name.first, x.name.size) != text.substr(y.name.first, y.name.size) || count + 3 > open.size())
      return false;
    if (x.op == ExprOp::rational) {
      if (x.c != y.c) return false;  // the denominator, a number
      continue;
    }
    open[count++] = {x.a, y.a};
    open[count++] = {x.b, y.b};
    open[count++] = {x.c, y.c};
  }
  return true;
}

/// True if two sizes are equal numbers or structurally equal expressions.
[[nodiscard]] constexpr bool same_size(GraphModuleView graph, const Dim& a, const Dim& b) noexcept {
  return a.is_static() == b.is_static() &&
         (a.is_static() ? a.value == b.value : same_expr(graph.exprs, graph.text, a.expr, b.expr));
}
[[nodiscard]] constexpr bool same_sizes(GraphModuleView graph, std::span<const Dim> a,
                                        std::span<const Dim> b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (!same_size(graph, a[d], b[d])) return false;
  return true;
}

}  // namespace davit
