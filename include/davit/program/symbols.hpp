// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "davit/core/floor_divide.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// Values of a program's symbolic expressions for one set of inputs.
///
/// Call bind() with the inputs' sizes, settle(), then value(). Uses the table of expressions only; allocates nothing
/// after construction.
class SymbolValues {
 public:
  constexpr SymbolValues() = default;
  constexpr explicit SymbolValues(std::span<const Expr> exprs)
      : exprs_(exprs), values_(exprs.size(), 0), known_(exprs.size(), 0) {}

  template <class = void>
  constexpr void reset() noexcept {
    for (std::uint8_t& known : known_) known = 0;
  }

  /// Sets the value of expression `id`. Solves `a*s + b` and similar expressions with one unknown symbol for the symbol
  /// (call settle() first). Returns false on a contradiction with known values. O(expressions).
  template <class = void>
  constexpr bool bind(ExprId id, std::int64_t value) noexcept {
    while (true) {
      if (known_[id] != 0) return values_[id] == value;
      const Expr& e = exprs_[id];
      if (e.op == ExprOp::symbol) {
        set(id, value);
        return true;
      }
      if (e.op != ExprOp::add && e.op != ExprOp::mul) return true;
      if (e.a == no_id || e.b == no_id || (known_[e.a] == 0 && known_[e.b] == 0)) return true;  // two unknowns
      const std::int64_t other = known_[e.a] != 0 ? values_[e.a] : values_[e.b];
      id = known_[e.a] != 0 ? e.b : e.a;
      if (e.op == ExprOp::add) {
        if (__builtin_sub_overflow(value, other, &value)) return false;
        continue;
      }
      if (other == 0) return value == 0;
      if (!has_quotient(value, other) || value % other != 0) return false;
      value /= other;
    }
  }

  /// Computes every expression whose symbols are known; an overflow leaves it unknown. O(expressions).
  template <class = void>
  constexpr void settle() noexcept {
    for (ExprId id = 0; id < exprs_.size(); ++id) solve(id);
  }

  /// Returns the value of an expression after the last settle(); nullopt if unknown.
  [[nodiscard]] constexpr std::optional<std::int64_t> value(ExprId id) const noexcept {
    if (known_[id] == 0) return std::nullopt;
    return values_[id];
  }
  [[nodiscard]] constexpr std::optional<std::int64_t> value(const Dim& dim) const noexcept {
    if (dim.is_static()) return dim.value;
    return value(dim.expr);
  }

 private:
  template <class = void>
  constexpr void solve(ExprId id) noexcept {
    if (known_[id] != 0) return;
    const Expr& e = exprs_[id];
    switch (e.op) {
      case ExprOp::integer:
      case ExprOp::boolean: set(id, e.value); return;
      case ExprOp::symbol:
      case ExprOp::real:
      case ExprOp::rational: return;
      default: break;
    }
    const auto unknown = [this](ExprId operand) { return operand != no_id && known_[operand] == 0; };
    if (unknown(e.a) || unknown(e.b) || unknown(e.c)) return;
    const std::int64_t a = e.a == no_id ? 0 : values_[e.a];
    const std::int64_t b = e.b == no_id ? 0 : values_[e.b];
    const std::int64_t c = e.c == no_id ? 0 : values_[e.c];
    std::int64_t r = 0;
    switch (e.op) {
      case ExprOp::add:
        if (!__builtin_add_overflow(a, b, &r)) set(id, r);
        return;
      case ExprOp::mul:
        if (!__builtin_mul_overflow(a, b, &r)) set(id, r);
        return;
      case ExprOp::floor_div:
        if (has_quotient(a, b)) set(id, floor_divide(a, b));
        return;
      case ExprOp::int_true_div:
      case ExprOp::true_div:
        if (has_quotient(a, b) && a % b == 0) set(id, a / b);
        return;
      case ExprOp::mod:
      case ExprOp::python_mod:
        if (has_quotient(a, b)) set(id, floor_modulo(a, b));
        return;
      case ExprOp::modular_indexing:
        if (has_quotient(a, b) && has_quotient(floor_divide(a, b), c)) {
          const std::int64_t q = floor_divide(a, b);
          set(id, floor_modulo(q, c));
        }
        return;
      case ExprOp::pow: {
        if (b < 0 || b > 63) return;
        r = 1;
        for (std::int64_t i = 0; i < b; ++i)
          if (__builtin_mul_overflow(r, a, &r)) return;
        set(id, r);
        return;
      }
      case ExprOp::max: set(id, a > b ? a : b); return;
      case ExprOp::min: set(id, a < b ? a : b); return;
      case ExprOp::ceil_to_int:
      case ExprOp::to_float:
      case ExprOp::trunc_to_int:
      case ExprOp::floor_to_int:
      case ExprOp::round_to_int: set(id, a); return;
      case ExprOp::eq: set(id, a == b); return;
      case ExprOp::ne: set(id, a != b); return;
      case ExprOp::lt: set(id, a < b); return;
      case ExprOp::le: set(id, a <= b); return;
      case ExprOp::gt: set(id, a > b); return;
      case ExprOp::ge: set(id, a >= b); return;
      case ExprOp::logical_and: set(id, a != 0 && b != 0); return;
      case ExprOp::logical_or: set(id, a != 0 || b != 0); return;
      case ExprOp::logical_not: set(id, a == 0); return;
      case ExprOp::where: set(id, a != 0 ? b : c); return;
      default: return;
    }
  }
  constexpr void set(ExprId id, std::int64_t value) noexcept {
    values_[id] = value;
    known_[id] = 1;
  }

  std::span<const Expr> exprs_;
  std::vector<std::int64_t> values_;
  std::vector<std::uint8_t> known_;
};

}  // namespace davit
