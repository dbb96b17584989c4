// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/static/fold.hpp"

/// Convolutions, pooling and products of elements of any floating-point type, over up to three dimensions: what the
/// float32 kernels for two dimensions leave. Plain loops.
namespace davit::static_kernels {

using Three = std::array<std::int32_t, 3>;

/// Windows of an image of up to three dimensions; what comes before the first is 1, or 0 for padding.
struct Windows {
  Three in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{}, dilation{1, 1, 1};

  [[nodiscard]] constexpr Index in_plane() const noexcept { return Index{in[0]} * in[1] * in[2]; }
};

namespace detail {
/// Calls f(o0, o1, o2) for each place.
template <class F>
[[gnu::always_inline]] constexpr void each_place(const Three& sizes, F&& f) noexcept {
  for (Index a = 0; a < sizes[0]; ++a)
    for (Index b = 0; b < sizes[1]; ++b)
      for (Index c = 0; c < sizes[2]; ++c) f(a, b, c);
}
}  // namespace detail

/// A convolution, or a transposed one. Element (first, rest) of the weight lies at first * first_step + rest *
/// rest_step, `first` its dimension 0.
struct Convolve {
  std::int32_t batch = 1, channels = 1, filters = 1, groups = 1;
  Windows windows{};
  std::int32_t first_step = 1, rest_step = 1, bias = 0;
};
/// y = conv(x, weight) + bias. O(elements of y * channels / groups * taps). Source: at::convolution.
template <bool Transposed, class P, class T, class B>
[[gnu::always_inline]] constexpr void convolve(const P& params, const T* x, const T* weight, const B* bias,
                                               T* y) noexcept {
  using C = Computed<T>;
  const Convolve& p = numbers_of(params);
  const Windows& w = p.windows;
  const Index own_channels = p.channels / p.groups, own_filters = p.filters / p.groups;
  const Index taps = Index{w.kernel[0]} * w.kernel[1] * w.kernel[2], plane = w.in_plane();
  for (Index n = 0; n < p.batch; ++n)
    for (Index f = 0; f < p.filters; ++f) {
      const Index first_channel = f / own_filters * own_channels;
      const C start = p.bias != 0 ? kernels::convert<C>(bias[f]) : C{};
      detail::each_place(w.out, [&](Index o0, Index o1, Index o2) __attribute__((always_inline)) {
        const std::array<Index, 3> o{o0, o1, o2};
        C sum = start;
        detail::each_place(w.kernel, [&](Index k0, Index k1, Index k2) __attribute__((always_inline)) {
          const std::array<Index, 3> k{k0, k1, k2};
          Index at = 0;
          for (std::size_t d = 0; d < 3; ++d) {
            Index i = Transposed ? o[d] + w.padding[d] - k[d] * w.dilation[d]
                                 : o[d] * w.stride[d] - w.padding[d] + k[d] * w.dilation[d];
            if (Transposed) {
              if (i < 0 || i % w.stride[d] != 0) return;
              i /= w.stride[d];
            }
            if (i < 0 || i >= w.in[d]) return;
            at = at * w.in[d] + i;
          }
          const Index tap = (k0 * w.kernel[1] + k1) * w.kernel[2] + k2;
          const T* const from = x + (n * p.channels + first_channel) * plane + at;
          for (Index c = 0; c < own_channels; ++c) {
            const Index first = Transposed ? first_channel + c : f;
            const Index rest = (Transposed ? f % own_filters : c) * taps + tap;
            sum += kernels::convert<C>(from[c * plane]) *
                   kernels::convert<C>(weight[first * p.first_step + rest * p.rest_step]);
          }
        });
        *y++ = kernels::convert<T>(sum);
      });
    }
}

/// Pooling of planes.
struct PoolAny {
  std::int32_t planes = 1;
  Windows windows{};
  std::int32_t count_include_pad = 1, divisor = 0;
};
/// y = the largest element of each window, NaN before all, the last of several; `places` (or nullptr): where it lies in
/// its plane. O(elements of y * taps). Source: at::max_pool2d_with_indices.
template <class P, class T>
[[gnu::always_inline]] constexpr void max_pool_any(const P& params, const T* x, T* y, std::int64_t* places) noexcept {
  const PoolAny& p = numbers_of(params);
  const Windows& w = p.windows;
  for (Index plane = 0; plane < p.planes; ++plane, x += w.in_plane())
    detail::each_place(w.out, [&](Index o0, Index o1, Index o2) __attribute__((always_inline)) {
      const std::array<Index, 3> o{o0, o1, o2};
      Index best = -1;
      detail::each_place(w.kernel, [&](Index k0, Index k1, Index k2) __attribute__((always_inline)) {
        const std::array<Index, 3> k{k0, k1, k2};
        Index at = 0;
        for (std::size_t d = 0; d < 3; ++d) {
          const Index i = o[d] * w.stride[d] - w.padding[d] + k[d] * w.dilation[d];
          if (i < 0 || i >= w.in[d]) return;
          at = at * w.in[d] + i;
        }
        if (best < 0 || x[at] != x[at] || x[at] > x[best]) best = at;
      });
      *y++ = x[best < 0 ? 0 : best];
      if (places != nullptr) *places++ = best;
    });
}
/// y = the mean of each window. O(elements of y * taps). Source: at::avg_pool3d.
template <class P, class T>
[[gnu::always_inline]] constexpr void avg_pool_any(const P& params, const T* x, T* y) noexcept {
  using C = Summed<T>;
  const PoolAny& p = numbers_of(params);
  const Windows& w = p.windows;
  for (Index plane = 0; plane < p.planes; ++plane, x += w.in_plane())
    detail::each_place(w.out, [&](Index o0, Index o1, Index o2) __attribute__((always_inline)) {
      const std::array<Index, 3> o{o0, o1, o2};
      C sum{};
      Index inside = 0, padded = 1;
      for (std::size_t d = 0; d < 3; ++d) {
        const Index begin = o[d] * w.stride[d] - w.padding[d], end = begin + w.kernel[d], most = w.in[d] + w.padding[d];
        padded *= (end < most ? end : most) - begin;
      }
      detail::each_place(w.kernel, [&](Index k0, Index k1, Index k2) __attribute__((always_inline)) {
        const std::array<Index, 3> k{k0, k1, k2};
        Index at = 0;
        for (std::size_t d = 0; d < 3; ++d) {
          const Index i = o[d] * w.stride[d] - w.padding[d] + k[d];
          if (i < 0 || i >= w.in[d]) return;
          at = at * w.in[d] + i;
        }
        sum += kernels::convert<C>(x[at]);
        ++inside;
      });
      const Index count = p.divisor != 0 ? p.divisor : p.count_include_pad != 0 ? padded : inside;
      *y++ = kernels::convert<T>(static_cast<Computed<T>>(sum / static_cast<C>(count)));
    });
}

/// Products of matrices: the left (rows, depth) and contiguous, element (i, j) of the right at i * depth_step + j *
/// column_step.
struct ProductAny {
  std::int32_t batch = 1, rows = 1, columns = 1, depth = 1, depth_step = 1, column_step = 1, right_step = 0;
};
/// y = a @ b. O(batch * rows * columns * depth). Source: at::matmul.
template <class P, class T>
[[gnu::always_inline]] constexpr void product_any(const P& params, const T* a, const T* b, T* y) noexcept {
  using C = Computed<T>;
  const ProductAny& p = numbers_of(params);
  for (Index n = 0; n < p.batch; ++n, b += p.right_step)
    for (Index row = 0; row < p.rows; ++row, a += p.depth)
      for (Index column = 0; column < p.columns; ++column) {
        C sum{};
        for (Index i = 0; i < p.depth; ++i)
          sum = SumOf{}(sum, ProductOf{}(kernels::convert<C>(a[i]),
                                         kernels::convert<C>(b[i * p.depth_step + column * p.column_step])));
        *y++ = kernels::convert<T>(sum);
      }
}

}  // namespace davit::static_kernels
