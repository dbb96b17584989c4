// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "davit/core/name.hpp"
#include "davit/program/graph.hpp"

namespace davit {

namespace detail {

/// Precedence of an operator in Python: 1 for sums, 2 for products, 0 for expressions without parentheses.
constexpr int size_binding(ExprOp op) noexcept {
  if (op == ExprOp::add) return 1;
  return op == ExprOp::mul || op == ExprOp::floor_div || op == ExprOp::mod || op == ExprOp::python_mod ? 2 : 0;
}
constexpr std::string_view size_operator(ExprOp op) noexcept {
  if (op == ExprOp::add) return " + ";
  if (op == ExprOp::mul) return "*";
  return op == ExprOp::floor_div ? "//" : " % ";
}

template <class NameOf>
[[nodiscard]] constexpr Name expr_text(std::span<const Expr> exprs, ExprId id, const NameOf& name_of, int depth) {
  if (id == no_id || depth < 0) return "...";
  const Expr& e = exprs[id];
  if (e.op == ExprOp::symbol) return name_of(id);
  if (e.op == ExprOp::integer) return concat(e.value);
  const int binding = size_binding(e.op);
  const bool is_function = e.op == ExprOp::max || e.op == ExprOp::min;
  if (depth == 0 || (binding == 0 && !is_function)) return "...";
  const auto operand = [&](ExprId of, bool is_right) {
    Name text = expr_text(exprs, of, name_of, depth - 1);
    const int inner = of == no_id ? 0 : size_binding(exprs[of].op);
    if (binding != 0 && inner != 0 && (inner < binding || (is_right && e.op != ExprOp::add)))
      return concat("(", text, ")");
    return text;
  };
  const Name left = operand(e.a, false), right = operand(e.b, true);
  if (is_function) return concat(e.op == ExprOp::max ? "max(" : "min(", left, ", ", right, ")");
  return concat(left, size_operator(e.op), right);
}

}  // namespace detail

/// Prints a size in Python syntax: "3", "s0", "2*s0 + 1", "max(s0, 4)".
///
/// `name_of` returns the symbol name of an ExprId. Expressions nested more than four deep, and functions that are rare
/// in sizes, are printed as "...". O(1).
template <class NameOf>
[[nodiscard]] constexpr Name size_text(std::span<const Expr> exprs, const Dim& dim, const NameOf& name_of) {
  if (dim.is_static()) return concat(dim.value);
  return detail::expr_text(exprs, dim.expr, name_of, 4);
}

/// Prints the bounds of a symbol as `davit embed --dim` takes them: "s0=2..64", "s0=2..", "s0=..9"; empty if there are
/// none.
template <class = void>
[[nodiscard]] constexpr Name range_text(const Name& symbol, std::int64_t min, std::int64_t max) {
  if (min == INT64_MIN && max == INT64_MAX) return {};
  if (min == INT64_MIN) return concat(symbol, "=..", max);
  if (max == INT64_MAX) return concat(symbol, "=", min, "..");
  return concat(symbol, "=", min, "..", max);
}

}  // namespace davit
