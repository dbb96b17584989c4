// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"

namespace davit::static_float {

/// A walk over a tensor in row-major order of `sizes`.
struct Walk {
  static constexpr std::int32_t max_rank = 6;
  std::int32_t rank = 0;
  std::array<std::int32_t, max_rank> sizes{}, strides{};

  [[nodiscard]] constexpr Index count() const noexcept {
    Index n = 1;
    for (std::int32_t d = 0; d < rank; ++d) n *= sizes[static_cast<std::size_t>(d)];
    return n;
  }
  /// Adds an innermost dimension, as part of the last where it continues that; false if there are too many.
  constexpr bool push(std::int64_t size, std::int64_t stride) noexcept {
    if (size == 1) return true;
    const auto s = static_cast<std::int32_t>(size);
    const auto step = static_cast<std::int32_t>(stride);
    if (rank > 0 && strides[static_cast<std::size_t>(rank - 1)] == s * step) {
      sizes[static_cast<std::size_t>(rank - 1)] *= s;
      strides[static_cast<std::size_t>(rank - 1)] = step;
      return true;
    }
    if (rank == max_rank) return false;
    sizes[static_cast<std::size_t>(rank)] = s;
    strides[static_cast<std::size_t>(rank++)] = step;
    return true;
  }
};

namespace detail {

/// Calls f(offset) for each element of a walk, in order; the sizes must not be 0.
template <class F>
[[gnu::always_inline]] constexpr void walk_each(const Walk& w, F&& f) noexcept {
  if (w.rank == 0) return f(Index{0});
  const auto inner = static_cast<std::size_t>(w.rank - 1);
  std::array<std::int32_t, Walk::max_rank> index{};
  Index at = 0;
  for (bool more = true; more;) {
    for (Index i = 0; i < w.sizes[inner]; ++i) f(at + i * w.strides[inner]);
    more = false;
    for (std::size_t d = inner; d-- > 0;) {
      at += w.strides[d];
      if (++index[d] < w.sizes[d]) {
        more = true;
        break;
      }
      at -= Index{w.strides[d]} * w.sizes[d];
      index[d] = 0;
    }
  }
}

}  // namespace detail

/// Each group of elements (a `group` walk from each place of `kept`) becomes one.
struct Reduce {
  Walk kept{}, group{};
};

/// y = the sum of each group, in order. O(numel). Source: at::sum.
template <class P>
[[gnu::always_inline]] constexpr void sum(const P& params, const float* x, float* y) noexcept {
  const Reduce& p = numbers_of(params);
  detail::walk_each(p.kept, [&](Index base) __attribute__((always_inline)) {
    Wide total = 0;
    detail::walk_each(p.group,
                      [&](Index i) __attribute__((always_inline)) { total += static_cast<Wide>(x[base + i]); });
    *y++ = static_cast<float>(total);
  });
}

/// y = the mean of each group. O(numel). Source: at::mean.
template <class P>
[[gnu::always_inline]] constexpr void mean(const P& params, const float* x, float* y) noexcept {
  const Reduce& p = numbers_of(params);
  const auto count = static_cast<Wide>(p.group.count());
  detail::walk_each(p.kept, [&](Index base) __attribute__((always_inline)) {
    Wide total = 0;
    detail::walk_each(p.group,
                      [&](Index i) __attribute__((always_inline)) { total += static_cast<Wide>(x[base + i]); });
    *y++ = static_cast<float>(total / count);
  });
}

namespace detail {

/// Calls put(largest or smallest element of a group, its place in the group); the first of equals, and NaN wins.
template <bool Largest, class T, class Put>
[[gnu::always_inline]] constexpr void each_extreme(const Reduce& p, const T* x, Put&& put) noexcept {
  walk_each(p.kept, [&](Index base) __attribute__((always_inline)) {
    T best{};
    Index best_at = -1, at = 0;
    walk_each(p.group, [&](Index i) __attribute__((always_inline)) {
      const T v = x[base + i];
      if (best_at < 0 || (best == best && (v != v || (Largest ? v > best : v < best)))) {
        best = v;
        best_at = at;
      }
      ++at;
    });
    put(best, best_at);
  });
}

}  // namespace detail

/// y = the largest (or smallest) element of each group. O(numel). Source: at::amax, at::amin.
template <bool Largest, class P, class T>
[[gnu::always_inline]] constexpr void extreme(const P& params, const T* x, T* y) noexcept {
  detail::each_extreme<Largest>(numbers_of(params), x, [&](T v, Index) { *y++ = v; });
}
/// y = where it lies in its group. O(numel). Source: at::argmax, at::argmin.
template <bool Largest, class P, class T>
[[gnu::always_inline]] constexpr void arg_extreme(const P& params, const T* x, std::int64_t* y) noexcept {
  detail::each_extreme<Largest>(numbers_of(params), x, [&](T, Index at) { *y++ = at; });
}

}  // namespace davit::static_float
