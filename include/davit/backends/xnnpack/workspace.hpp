// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backends/kit/non_finite_fallback.hpp"
#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/plan.hpp"
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

/// The sizes and addresses of every slot for one set of inputs.
struct Workspace {
  std::vector<std::int64_t> sizes;      ///< of every row of Plan::dims
  std::vector<std::size_t> offsets;     ///< of every buffer in scratch
  std::vector<std::byte*> base;         ///< of every buffer
  std::vector<std::uint8_t> scratched;  ///< per buffer: 1 if it is in scratch
  std::vector<std::uint8_t> given;      ///< per graph output: 1 if it has a destination
  std::vector<std::int64_t> strides;    ///< of graph outputs, like sizes
  std::vector<std::int64_t> numbers;    ///< values of graph outputs that are symbolic numbers
  std::vector<std::array<std::int64_t, max_dims>> input_strides;
  SymbolSizes symbols;
  ExactRun
      exact;  ///< runs the partition where XNNPACK loses NaN or infinities, or if sizes do not follow from the inputs
  bool is_planned = true;        ///< all sizes follow from the inputs, and no tensor is empty
  std::uint64_t generation = 0;  ///< unique among the prepares of all sessions
};

/// The address of a slot's first element; nullptr for no slot.
[[nodiscard]] inline std::byte* address(const Plan& plan, const Workspace& ws, std::uint32_t slot) noexcept {
  if (slot == no_id) return nullptr;
  const Slot& s = plan.slots[slot];
  std::byte* base = ws.base[s.buffer];
  return base == nullptr ? nullptr : base + static_cast<std::size_t>(s.offset) * size_of(s.dtype);
}
/// The size of the innermost dimension, which is fixed.
[[nodiscard]] constexpr std::size_t channels(const Plan& plan, std::uint32_t slot) noexcept {
  const Slot& s = plan.slots[slot];
  if (s.order.rank == 0) return 1;
  const Dim& d = plan.sizes(slot)[s.order.dim[s.order.rank - 1]];
  return static_cast<std::size_t>(std::max<std::int64_t>(d.value, 1));
}
/// The stride between rows of the innermost dimension, in elements.
[[nodiscard]] constexpr std::size_t pitch(const Plan& plan, std::uint32_t slot) noexcept {
  return plan.slots[slot].pitch != 0 ? static_cast<std::size_t>(plan.slots[slot].pitch) : channels(plan, slot);
}
/// True if a step's operand and result have no gaps, so that they can be one row.
[[nodiscard]] constexpr bool is_flat(const Plan& plan, const Step& step) noexcept {
  return plan.slots[step.in].pitch == 0 && plan.slots[step.out].pitch == 0;
}

/// The sizes of a slot at run time.
struct Extent {
  std::span<const std::int64_t> sizes;            ///< logical
  std::array<std::int64_t, max_dims> physical{};  ///< from the outermost to the innermost
  std::size_t rank = 0;
  std::int64_t count = 1;
  [[nodiscard]] std::int64_t last() const noexcept { return rank == 0 ? 1 : physical[rank - 1]; }
  [[nodiscard]] std::int64_t rows() const noexcept { return last() == 0 ? 0 : count / last(); }
};
[[nodiscard]] inline Extent extent_of(const Plan& plan, const Workspace& ws, std::uint32_t slot) noexcept {
  const Slot& s = plan.slots[slot];
  Extent e{.sizes = std::span(ws.sizes).subspan(s.dims.first, s.dims.count),
           .physical = {},
           .rank = s.order.rank,
           .count = 1};
  for (std::size_t p = 0; p < e.rank; ++p) {
    e.physical[p] = e.sizes[s.order.dim[p]];
    e.count *= e.physical[p];
  }
  return e;
}
/// Element strides of a slot's logical dimensions.
[[nodiscard]] inline std::array<std::int64_t, max_dims> strides_of(const Plan& plan, const Workspace& ws,
                                                                   std::uint32_t slot) noexcept {
  const Slot& s = plan.slots[slot];
  const Extent e = extent_of(plan, ws, slot);
  std::array<std::int64_t, max_dims> out{};
  std::int64_t step = 1;
  for (std::size_t p = e.rank; p-- > 0;) {
    out[s.order.dim[p]] = step;
    step = p + 1 == e.rank && s.pitch != 0 ? s.pitch : step * e.physical[p];
  }
  return out;
}

}  // namespace davit::xnnpack_parts
