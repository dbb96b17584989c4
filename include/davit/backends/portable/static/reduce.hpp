// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/static/walk.hpp"

namespace davit::static_kernels {

/// Each group of elements (a `group` walk from each place of `kept`) becomes one.
struct Reduce {
  Walk<1> kept{}, group{};
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

}  // namespace davit::static_kernels
