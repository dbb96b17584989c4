// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "davit/backends/portable/static/math.hpp"
#include "davit/backends/portable/static/packs.hpp"

namespace davit::static_float {

/// @name Functions of one element. Those with `on_packs` take vectors of elements as well.
/// Source: the aten operators of these names.
struct Relu {
  static constexpr bool on_packs = compares_packs;
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V v) const noexcept {
    return v < V{} ? V{} : v;
  }
};
struct Neg {
  static constexpr bool on_packs = true;
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V v) const noexcept {
    return -v;
  }
};
struct Abs {
  static constexpr bool on_packs = false;
  [[gnu::always_inline]] constexpr float operator()(float v) const noexcept { return __builtin_fabsf(v); }
};
struct Exp {
  static constexpr bool on_packs = false;
  [[gnu::always_inline]] constexpr float operator()(float v) const noexcept { return exp(v); }
};
struct Sqrt {
  static constexpr bool on_packs = false;
  [[gnu::always_inline]] constexpr float operator()(float v) const noexcept { return sqrt(v); }
};
struct Rsqrt {
  static constexpr bool on_packs = false;
  [[gnu::always_inline]] constexpr float operator()(float v) const noexcept { return 1.0f / sqrt(v); }
};
struct Tanh {
  static constexpr bool on_packs = false;
  [[gnu::always_inline]] constexpr float operator()(float v) const noexcept { return tanh(v); }
};
struct Sigmoid {
  static constexpr bool on_packs = false;
  [[gnu::always_inline]] constexpr float operator()(float v) const noexcept { return 1.0f / (1.0f + exp(-v)); }
};
struct Silu {
  static constexpr bool on_packs = false;
  [[gnu::always_inline]] constexpr float operator()(float v) const noexcept { return v * Sigmoid{}(v); }
};
/// gelu with erf, as at::gelu computes a contiguous tensor: `several` if it has more than one element, for which the
/// infinities give NaN.
struct Gelu {
  static constexpr bool on_packs = false;
  std::int32_t several = 1;
  [[gnu::always_inline]] constexpr float operator()(float v) const noexcept {
    const float factor = 1.0f + erf(v * 0.7071067811865476f);
    if (several == 0) return 0.5f * v * factor;
    const bool infinite = v - v != 0 && v == v;
    return infinite ? std::numeric_limits<float>::quiet_NaN() : 0.5f * (v * factor);
  }
};
/// gelu with approximate="tanh".
struct GeluTanh {
  static constexpr bool on_packs = false;
  [[gnu::always_inline]] constexpr float operator()(float v) const noexcept {
    const float inner = 0.7978845608028654f * (v + 0.044715f * v * v * v);
    return 0.5f * v * (1.0f + tanh(inner));
  }
};

/// @name Functions of two elements.
struct Add {
  static constexpr bool on_packs = true;
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V a, V b) const noexcept {
    return a + b;
  }
};
struct Sub {
  static constexpr bool on_packs = true;
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V a, V b) const noexcept {
    return a - b;
  }
};
/// a + alpha * b.
struct AddScaled {
  static constexpr bool on_packs = false;
  float alpha = 1;
  [[gnu::always_inline]] constexpr float operator()(float a, float b) const noexcept {
    return kernels::multiply_add(alpha, b, a);
  }
};
/// a - alpha * b.
struct SubScaled {
  static constexpr bool on_packs = false;
  float alpha = 1;
  [[gnu::always_inline]] constexpr float operator()(float a, float b) const noexcept {
    return kernels::multiply_add(-alpha, b, a);
  }
};
struct Mul {
  static constexpr bool on_packs = true;
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V a, V b) const noexcept {
    return a * b;
  }
};
struct Div {
  static constexpr bool on_packs = true;
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V a, V b) const noexcept {
    return a / b;
  }
};
/// NaN prevails, the first of two.
struct Maximum {
  static constexpr bool on_packs = compares_packs;
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V a, V b) const noexcept {
    const V larger = b > a ? b : a;
    const V kept = b != b ? b : larger;
    return a != a ? a : kept;
  }
};
struct Minimum {
  static constexpr bool on_packs = compares_packs;
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V a, V b) const noexcept {
    const V smaller = b < a ? b : a;
    const V kept = b != b ? b : smaller;
    return a != a ? a : kept;
  }
};

/// A function of two elements with a number for the second, or for the first.
template <class Op>
struct WithNumber {
  static constexpr bool on_packs = Op::on_packs;
  [[no_unique_address]] Op op{};
  float number = 0;
  std::int32_t first = 0;  ///< not 0: the number stands first
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V v) const noexcept {
    const V other = number - V{};
    return first != 0 ? op(other, v) : op(v, other);
  }
};

/// clamp, hardtanh and relu6; without a bound: minus or plus infinity.
struct Clamp {
  static constexpr bool on_packs = compares_packs;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V v) const noexcept {
    return Minimum{}(Maximum{}(v, V(low - V{})), V(high - V{}));
  }
};
struct Hardsigmoid {
  static constexpr bool on_packs = compares_packs;
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V v) const noexcept {
    return Clamp{0, 6}(V(v + 3.0f)) / 6.0f;
  }
};
struct Hardswish {
  static constexpr bool on_packs = compares_packs;
  template <class V>
  [[gnu::always_inline]] constexpr V operator()(V v) const noexcept {
    return v * Clamp{0, 6}(V(v + 3.0f)) / 6.0f;
  }
};

template <class Op>
struct Unary {
  std::int32_t count = 0;
  [[no_unique_address]] Op op{};
};

/// out[i] = op(x[i]); `out` may be `x`. O(count).
template <class P>
[[gnu::always_inline]] constexpr void unary(const P& params, const float* x, float* out) noexcept {
  const auto& u = numbers_of(params);
  if constexpr (std::remove_cvref_t<decltype(u.op)>::on_packs) {
    for_packs<is_constant<P>>(
        u.count, [&]<Index N>(Index i) __attribute__((always_inline)) { store<N>(out + i, u.op(load<N>(x + i))); });
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
  if constexpr (std::remove_cvref_t<decltype(p.op)>::on_packs) {
    for_packs<is_constant<P>>(p.count, [&]<Index N>(Index i) __attribute__((always_inline)) {
      store<N>(out + i, p.op(load<N>(a + i), load<N>(b + i)));
    });
  } else {
    for (Index i = 0; i < p.count; ++i) out[i] = p.op(a[i], b[i]);
  }
}

/// How two tensors are walked together: sizes of the result, and the strides of both, 0 in broadcast dimensions.
struct Broadcast {
  static constexpr std::int32_t max_rank = 6;
  std::int32_t rank = 0;
  std::array<std::int32_t, max_rank> sizes{}, a{}, b{};

  friend constexpr bool operator==(const Broadcast&, const Broadcast&) = default;
};

/// The walk over contiguous tensors of these sizes, which must broadcast, with as few dimensions as do; rank -1 if
/// there are more than max_rank.
template <class Sizes>
[[nodiscard]] constexpr Broadcast broadcast_of(const Sizes& a, const Sizes& b) noexcept {
  Broadcast walk;  // from the innermost dimension out
  std::int32_t step_a = 1, step_b = 1;
  const std::size_t rank = a.size() > b.size() ? a.size() : b.size();
  for (std::size_t d = 0; d < rank; ++d) {
    const auto size_a = static_cast<std::int32_t>(d < a.size() ? a[a.size() - 1 - d] : 1);
    const auto size_b = static_cast<std::int32_t>(d < b.size() ? b[b.size() - 1 - d] : 1);
    const std::int32_t size = size_a == 1 ? size_b : size_a;
    const std::int32_t stride_a = size_a == 1 ? 0 : step_a;
    const std::int32_t stride_b = size_b == 1 ? 0 : step_b;
    step_a *= size_a;
    step_b *= size_b;
    if (size == 1) continue;
    if (walk.rank > 0) {
      const auto last = static_cast<std::size_t>(walk.rank - 1);
      if (stride_a == walk.a[last] * walk.sizes[last] && stride_b == walk.b[last] * walk.sizes[last]) {
        walk.sizes[last] *= size;
        continue;
      }
    }
    if (walk.rank == Broadcast::max_rank) return {-1};
    const auto at = static_cast<std::size_t>(walk.rank++);
    walk.sizes[at] = size;
    walk.a[at] = stride_a;
    walk.b[at] = stride_b;
  }
  for (std::size_t i = 0, j = static_cast<std::size_t>(walk.rank); i + 1 < j; ++i) {
    --j;
    std::swap(walk.sizes[i], walk.sizes[j]);
    std::swap(walk.a[i], walk.a[j]);
    std::swap(walk.b[i], walk.b[j]);
  }
  return walk;
}

template <class Op>
struct Binary {
  Broadcast walk{};
  [[no_unique_address]] Op op{};
};

namespace detail {

/// out[i] = op(a[i * step_a], b[i * step_b]), for steps of 0 and 1.
template <bool Unrolled, class Op>
[[gnu::always_inline]] constexpr void binary_row(const Op& op, Index count, const float* a, Index step_a,
                                                 const float* b, Index step_b, float* out) noexcept {
  if constexpr (Op::on_packs) {
    if (step_a == 1 && step_b == 1)
      return for_packs<Unrolled>(count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(out + i, op(load<N>(a + i), load<N>(b + i)));
      });
    if (step_a == 1)
      return for_packs<Unrolled>(count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(out + i, op(load<N>(a + i), Pack<N>(*b - Pack<N>{})));
      });
    if (step_b == 1)
      return for_packs<Unrolled>(count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(out + i, op(Pack<N>(*a - Pack<N>{}), load<N>(b + i)));
      });
  }
  for (Index i = 0; i < count; ++i) out[i] = op(a[i * step_a], b[i * step_b]);
}

}  // namespace detail

/// out = op(a, b) over broadcast operands; `out` may be an operand of the result's sizes. O(numel).
template <class P>
[[gnu::always_inline]] constexpr void binary(const P& params, const float* a, const float* b, float* out) noexcept {
  const auto& p = numbers_of(params);
  const Broadcast& walk = p.walk;
  constexpr bool fixed = is_constant<P>;
  if (walk.rank < 2) {
    const Index count = walk.rank == 0 ? 1 : walk.sizes[0];
    return detail::binary_row<fixed>(p.op, count, a, walk.a[0], b, walk.b[0], out);
  }
  const auto inner = static_cast<std::size_t>(walk.rank - 1);
  std::array<std::int32_t, Broadcast::max_rank> index{};
  Index at_a = 0, at_b = 0;
  for (bool more = true; more;) {
    detail::binary_row<false>(p.op, walk.sizes[inner], a + at_a, walk.a[inner], b + at_b, walk.b[inner], out);
    out += walk.sizes[inner];
    more = false;
    for (std::size_t d = inner; d-- > 0;) {
      at_a += walk.a[d];
      at_b += walk.b[d];
      if (++index[d] < walk.sizes[d]) {
        more = true;
        break;
      }
      at_a -= Index{walk.a[d]} * walk.sizes[d];
      at_b -= Index{walk.b[d]} * walk.sizes[d];
      index[d] = 0;
    }
  }
}

}  // namespace davit::static_float
