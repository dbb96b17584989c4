// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "davit/backends/portable/static/packs.hpp"

namespace davit::static_kernels {

/// Windows that slide over planes (batch times channels). Pooling over one dimension has height 1.
struct Pool2d {
  std::int32_t planes = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  std::int32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1;
  std::int32_t pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;  ///< dilation: max_pool2d alone
  std::int32_t count_include_pad = 1;                                 ///< avg_pool2d alone
  std::int32_t divisor = 0;  ///< avg_pool2d alone; 0: the elements of the window
};

namespace detail {

/// The input indices of a window: from `begin` in steps of the dilation, below `end`; `padded` counts the padding too.
struct WindowRange {
  Index begin, end, padded;

  constexpr WindowRange(Index first, Index kernel, Index dilation, Index size, Index pad) noexcept
      : begin(first < 0 ? first + (dilation - 1 - first) / dilation * dilation : first),
        end(std::min(first + (kernel - 1) * dilation + 1, size)),
        padded(std::min(first + (kernel - 1) * dilation + 1, size + pad) - first) {}
};

/// Calls f(row range, column range, place) for each place of an output plane.
template <class F>
[[gnu::always_inline]] constexpr void each_window(const Pool2d& p, F&& f) noexcept {
  for (Index y = 0; y < p.out_h; ++y) {
    const WindowRange rows(y * p.stride_h - p.pad_h, p.kernel_h, p.dilation_h, p.in_h, p.pad_h);
    for (Index x = 0; x < p.out_w; ++x)
      f(rows, WindowRange(x * p.stride_w - p.pad_w, p.kernel_w, p.dilation_w, p.in_w, p.pad_w), y * p.out_w + x);
  }
}

/// The larger of each pair; the first of equals, and a NaN of `next` wins.
template <class V>
[[nodiscard, gnu::always_inline]] constexpr V larger(V best, V next) noexcept {
  const V kept = next > best ? next : best;
  return next != next ? next : kept;
}

/// Every second of 2 N floats, from the first.
template <Index N>
[[nodiscard, gnu::always_inline]] inline Pack<N> load_even(const float* from) noexcept {
  const Pack<N> a = load<N>(from), b = load<N>(from + N);
  return [&]<Index... I>(std::integer_sequence<Index, I...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, (2 * I)...);
  }(std::make_integer_sequence<Index, N>{});
}
template <Index N>
[[nodiscard, gnu::always_inline]] inline Pack<N> load_odd(const float* from) noexcept {
  const Pack<N> a = load<N>(from), b = load<N>(from + N);
  return [&]<Index... I>(std::integer_sequence<Index, I...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, (2 * I + 1)...);
  }(std::make_integer_sequence<Index, N>{});
}

/// The maxima of N windows of two by two side by side, their elements in row-major order.
template <Index N>
[[gnu::always_inline]] inline void max_of_pairs(const float* row, Index width, float* to) noexcept {
  const Pack<N> above = larger(load_even<N>(row), load_odd<N>(row));
  store<N>(to, larger(larger(above, load_even<N>(row + width)), load_odd<N>(row + width)));
}

/// One plane of windows of two by two that do not overlap.
template <Index Lanes>
[[gnu::always_inline]] inline void max_pool_pairs(const Pool2d& p, const float* x, float* y) noexcept {
  for (Index r = 0; r < p.out_h; ++r, y += p.out_w) {
    const float* row = x + 2 * r * p.in_w;
    Index i = 0;
    for (; i + Lanes <= p.out_w; i += Lanes) max_of_pairs<Lanes>(row + 2 * i, p.in_w, y + i);
    if constexpr (Lanes > 4)
      for (; i + 4 <= p.out_w; i += 4) max_of_pairs<4>(row + 2 * i, p.in_w, y + i);
    for (; i < p.out_w; ++i) {
      const float* at = row + 2 * i;
      y[i] = larger(larger(larger(at[0], at[1]), at[p.in_w]), at[p.in_w + 1]);
    }
  }
}

}  // namespace detail

/// y = the largest element of each window; a NaN wins, the last of several. O(planes * out * kernel).
/// Source: at::max_pool2d.
template <class P>
[[gnu::always_inline]] constexpr void max_pool2d(const P& params, const float* x, float* y) noexcept {
  const Pool2d& p = numbers_of(params);
  const bool pairs = p.kernel_h == 2 && p.kernel_w == 2 && p.stride_h == 2 && p.stride_w == 2 && p.pad_h == 0 &&
                     p.pad_w == 0 && p.dilation_h == 1 && p.dilation_w == 1 && p.in_h >= 2 * p.out_h &&
                     p.in_w >= 2 * p.out_w;
  for (Index plane = 0; plane < p.planes; ++plane) {
    if !consteval {
      if constexpr (simd > 1 && kernels::compares_vectors) {
        if (pairs) {
          detail::max_pool_pairs<simd>(p, x, y);
          x += Index{p.in_h} * p.in_w;
          y += Index{p.out_h} * p.out_w;
          continue;
        }
      }
    }
    detail::each_window(p, [&](const detail::WindowRange& rows, const detail::WindowRange& columns, Index place)
                               __attribute__((always_inline)) {
                                 float best = -std::numeric_limits<float>::infinity();
                                 for (Index r = rows.begin; r < rows.end; r += p.dilation_h)
                                   for (Index c = columns.begin; c < columns.end; c += p.dilation_w)
                                     best = detail::larger(best, x[r * p.in_w + c]);
                                 y[place] = best;
                               });
    x += Index{p.in_h} * p.in_w;
    y += Index{p.out_h} * p.out_w;
  }
}

namespace detail {

/// The sum of a box of a plane, in row-major order.
[[nodiscard, gnu::always_inline]] constexpr float sum_box(const float* x, Index width, Index top, Index bottom,
                                                          Index left, Index right) noexcept {
  float sum = 0;
  for (Index r = top; r < bottom; ++r)
    for (Index c = left; c < right; ++c) sum += x[r * width + c];
  return sum;
}

}  // namespace detail

/// y = the mean of each window. O(planes * out * kernel). Source: at::avg_pool2d.
template <class P>
[[gnu::always_inline]] constexpr void avg_pool2d(const P& params, const float* x, float* y) noexcept {
  const Pool2d& p = numbers_of(params);
  for (Index plane = 0; plane < p.planes; ++plane) {
    detail::each_window(p, [&](const detail::WindowRange& rows, const detail::WindowRange& columns,
                               Index place) __attribute__((always_inline)) {
      const Index elements =
          std::max<Index>(rows.end - rows.begin, 0) * std::max<Index>(columns.end - columns.begin, 0);
      const Index divisor = p.divisor != 0             ? p.divisor
                            : p.count_include_pad != 0 ? rows.padded * columns.padded
                                                       : elements;
      const float sum = detail::sum_box(x, p.in_w, rows.begin, rows.end, columns.begin, columns.end);
      y[place] = elements == 0 ? 0.0f : sum / static_cast<float>(divisor);
    });
    x += Index{p.in_h} * p.in_w;
    y += Index{p.out_h} * p.out_w;
  }
}

struct AdaptivePool2d {
  std::int32_t planes = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
};

/// y = the mean of each of out_h by out_w windows that cover a plane. O(planes * (in + out)).
/// Source: at::adaptive_avg_pool2d.
template <class P>
[[gnu::always_inline]] constexpr void adaptive_avg_pool2d(const P& params, const float* x, float* y) noexcept {
  const AdaptivePool2d& p = numbers_of(params);
  const auto begin = [](Index i, Index in, Index out) { return i * in / out; };
  const auto end = [](Index i, Index in, Index out) { return ((i + 1) * in - 1) / out + 1; };
  for (Index plane = 0; plane < p.planes; ++plane, x += Index{p.in_h} * p.in_w) {
    for (Index r = 0; r < p.out_h; ++r) {
      for (Index c = 0; c < p.out_w; ++c) {
        const Index top = begin(r, p.in_h, p.out_h), bottom = end(r, p.in_h, p.out_h);
        const Index left = begin(c, p.in_w, p.out_w), right = end(c, p.in_w, p.out_w);
        const float sum = detail::sum_box(x, p.in_w, top, bottom, left, right);
        *y++ = sum / static_cast<float>(bottom - top) / static_cast<float>(right - left);
      }
    }
  }
}

}  // namespace davit::static_kernels
