// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/vectors.hpp"

/// Functions of kernels/ on float32 tensors.
namespace davit::static_kernels {

namespace detail {

template <class Op, template <class> class... Of>
inline constexpr bool is_any = (std::is_same_v<Op, Of<float>> || ...);

}  // namespace detail

/// Whether a function of kernels/ on float is applied to packs: where that takes few instructions.
template <class Op>
inline constexpr bool on_packs =
    detail::is_any<Op, kernels::Negate, kernels::Add, kernels::Subtract, kernels::Multiply, kernels::Divide> ||
    (kernels::compares_vectors && detail::is_any<Op, kernels::Relu, kernels::Maximum, kernels::Minimum,
                                                 kernels::Hardtanh, kernels::Hardsigmoid, kernels::Hardswish>);

/// The function of one pack of each operand.
template <Index N, class Op, class... V>
[[nodiscard, gnu::always_inline]] constexpr Pack<N> apply(const Op& op, const V&... operands) noexcept {
  if constexpr (N == 1) {
    return op(operands...);
  } else {
    Pack<N> result;
    op(operands..., result);
    return result;
  }
}

/// A function of two elements with a number for the second, or for the first.
template <class Op>
struct WithNumber {
  [[no_unique_address]] Op op{};
  float number = 0;
  std::int32_t first = 0;  ///< not 0: the number stands first
  [[gnu::always_inline]] constexpr float operator()(float v) const noexcept {
    return first != 0 ? op(number, v) : op(v, number);
  }
  template <kernels::FloatVector V>
  [[gnu::always_inline]] constexpr void operator()(const V& v, V& to) const noexcept {
    const V other = number - V{};
    if (first != 0)
      op(other, v, to);
    else
      op(v, other, to);
  }
};
template <class Op>
inline constexpr bool on_packs<WithNumber<Op>> = on_packs<Op>;

template <class Op>
struct Unary {
  std::int32_t count = 0;
  [[no_unique_address]] Op op{};
};

/// out[i] = op(x[i]); `out` may be `x`. O(count).
template <class P>
[[gnu::always_inline]] constexpr void unary(const P& params, const float* x, float* out) noexcept {
  const auto& u = numbers_of(params);
  if constexpr (on_packs<std::remove_cvref_t<decltype(u.op)>>) {
    for_packs<is_constant<P>>(u.count, [&]<Index N>(Index i) __attribute__((always_inline)) {
      store<N>(out + i, apply<N>(u.op, load<N>(x + i)));
    });
  } else {
    for (Index i = 0; i < u.count; ++i) out[i] = u.op(x[i]);
  }
}

template <class Op>
struct Pairwise {
  std::int32_t count = 0;
  [[no_unique_address]] Op op{};
};

/// out[i] = op(a[i], b[i]); `out` may be `a` or `b`. O(count).
template <class P>
[[gnu::always_inline]] constexpr void pairwise(const P& params, const float* a, const float* b, float* out) noexcept {
  const auto& p = numbers_of(params);
  if constexpr (on_packs<std::remove_cvref_t<decltype(p.op)>>) {
    for_packs<is_constant<P>>(p.count, [&]<Index N>(Index i) __attribute__((always_inline)) {
      store<N>(out + i, apply<N>(p.op, load<N>(a + i), load<N>(b + i)));
    });
  } else {
    for (Index i = 0; i < p.count; ++i) out[i] = p.op(a[i], b[i]);
  }
}

template <class Op>
struct Binary {
  Walk<2> walk{};
  [[no_unique_address]] Op op{};
};

namespace detail {

/// out[i] = op(a[i * step_a], b[i * step_b]), for steps of 0 and 1.
template <bool Unrolled, class Op>
[[gnu::always_inline]] constexpr void binary_row(const Op& op, Index count, const float* a, Index step_a,
                                                 const float* b, Index step_b, float* out) noexcept {
  if constexpr (on_packs<Op>) {
    if (step_a == 1 && step_b == 1)
      return for_packs<Unrolled>(count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(out + i, apply<N>(op, load<N>(a + i), load<N>(b + i)));
      });
    if (step_a == 1)
      return for_packs<Unrolled>(count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(out + i, apply<N>(op, load<N>(a + i), Pack<N>(*b - Pack<N>{})));
      });
    if (step_b == 1)
      return for_packs<Unrolled>(count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(out + i, apply<N>(op, Pack<N>(*a - Pack<N>{}), load<N>(b + i)));
      });
  }
  for (Index i = 0; i < count; ++i) out[i] = op(a[i * step_a], b[i * step_b]);
}

}  // namespace detail

/// out = op(a, b) over broadcast operands; `out` may be an operand of the result's sizes. O(numel).
template <class P>
[[gnu::always_inline]] constexpr void binary(const P& params, const float* a, const float* b, float* out) noexcept {
  const auto& p = numbers_of(params);
  const Walk<2>& walk = p.walk;
  if (walk.rank < 2) {
    const Index count = walk.rank == 0 ? 1 : walk.sizes[0];
    return detail::binary_row<is_constant<P>>(p.op, count, a, walk.strides[0][0], b, walk.strides[1][0], out);
  }
  detail::walk_rows(walk, [&](const std::array<Index, 2>& at, Index count,
                              std::size_t inner) __attribute__((always_inline)) {
    detail::binary_row<false>(p.op, count, a + at[0], walk.strides[0][inner], b + at[1], walk.strides[1][inner], out);
    out += count;
  });
}

}  // namespace davit::static_kernels
