// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/floor_divide.hpp"
#include "davit/program/same_sizes.hpp"
#include "davit/program/symbols.hpp"

namespace davit::xnnpack_parts {

/// The values of symbolic sizes for one set of inputs.
///
/// Unlike SymbolValues it also knows the values of whole expressions: the inputs of a partition may have the size s0 +
/// s1, but neither s0 nor s1.
class SymbolSizes {
 public:
  SymbolSizes() = default;
  explicit SymbolSizes(std::span<const Expr> exprs, std::string_view text)
      : exprs_(exprs), text_(text), symbols_(exprs), values_(exprs.size(), 0), known_(exprs.size(), 0) {}

  void reset() noexcept {
    symbols_.reset();
    std::ranges::fill(known_, std::uint8_t{0});
  }
  /// Sets the value of an expression, of equal expressions, and of x in x + constant and x * 1. O(expressions).
  void bind(ExprId id, std::int64_t value, bool symbols_only) noexcept {
    if (symbols_only && exprs_[id].op != ExprOp::symbol) return;
    (void)symbols_.bind(id, value);
    while (true) {
      for (ExprId e = 0; e < exprs_.size(); ++e)
        if (known_[e] == 0 && same_expr(exprs_, text_, e, id)) set(e, value);
      const Expr& whole = exprs_[id];
      if ((whole.op != ExprOp::add && whole.op != ExprOp::mul) || (known_[whole.a] != 0) == (known_[whole.b] != 0))
        return;
      const std::int64_t other = values_[known_[whole.a] != 0 ? whole.a : whole.b];
      id = known_[whole.a] != 0 ? whole.b : whole.a;
      if (whole.op == ExprOp::add) {
        if (__builtin_sub_overflow(value, other, &value)) return;
      } else {
        if (!has_quotient(value, other) || value % other != 0) return;
        value /= other;
      }
    }
  }
  /// Derives further values from the known ones. O(expressions^2) if quotients of quotients are unknown.
  void settle() noexcept {
    symbols_.settle();
    for (ExprId e = 0; e < exprs_.size(); ++e)
      if (known_[e] == 0) solve(e);
  }
  [[nodiscard]] std::optional<std::int64_t> value(ExprId id) const noexcept {
    return known_[id] != 0 ? std::optional(values_[id]) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::int64_t> value(const Dim& d) const noexcept {
    return d.is_static() ? std::optional(d.value) : value(d.expr);
  }

 private:
  void set(ExprId id, std::int64_t value) noexcept {
    values_[id] = value;
    known_[id] = 1;
  }
  void solve(ExprId id) noexcept {
    if (const std::optional<std::int64_t> v = symbols_.value(id)) return set(id, *v);
    const Expr& e = exprs_[id];
    if (e.a == no_id || e.b == no_id || known_[e.b] == 0) return;
    if (known_[e.a] == 0) return e.op == ExprOp::floor_div ? solve_quotient(id) : void();
    const std::int64_t a = values_[e.a];
    const std::int64_t b = values_[e.b];
    std::int64_t r = 0;
    if (e.op == ExprOp::add && !__builtin_add_overflow(a, b, &r)) set(id, r);
    if (e.op == ExprOp::mul && !__builtin_mul_overflow(a, b, &r)) set(id, r);
    if (e.op == ExprOp::floor_div && b > 0) set(id, floor_divide(a, b));
    if (e.op == ExprOp::max) set(id, std::max(a, b));
    if (e.op == ExprOp::min) set(id, std::min(a, b));
  }

  /// x // m -> x // (m * n), which is torch's form of a quotient of a quotient.
  void solve_quotient(ExprId id) noexcept {
    const Expr& whole = exprs_[id];
    for (ExprId k = 0; k < exprs_.size(); ++k) {
      const Expr& e = exprs_[k];
      if (known_[k] == 0 || e.op != ExprOp::floor_div || e.b == no_id || known_[e.b] == 0 || values_[e.b] <= 0)
        continue;
      if (values_[whole.b] % values_[e.b] != 0 || values_[whole.b] <= 0 || !same_expr(exprs_, text_, e.a, whole.a))
        continue;
      return set(id, floor_divide(values_[k], values_[whole.b] / values_[e.b]));
    }
  }

  std::span<const Expr> exprs_;
  std::string_view text_;
  SymbolValues symbols_;
  std::vector<std::int64_t> values_;
  std::vector<std::uint8_t> known_;
};

}  // namespace davit::xnnpack_parts
