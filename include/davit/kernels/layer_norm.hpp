// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/kernels/row_moments.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::kernels {

namespace detail {

/// y[i] = (x[i] - mean) * factor * weight[i] + bias[i], from `i` on; weight and bias may be nullptr.
template <std::size_t Bytes, class C, class N>
[[gnu::always_inline]] constexpr void normalize_row(const C* x, N i, N n, C mean, C factor, const C* weight,
                                                    const C* bias, C* y) noexcept {
  if !consteval {
    if constexpr (Bytes >= 16) {
      constexpr auto step = static_cast<N>(lanes<C, Bytes>);
      for (; i + step <= n; i += step) {
        Vector<C, Bytes> v = (vector_at<Bytes>(x + i) - mean) * factor;
        if (weight != nullptr) v *= vector_at<Bytes>(weight + i);
        if (bias != nullptr) v += vector_at<Bytes>(bias + i);
        vector_at<Bytes>(y + i) = v;
      }
      if constexpr (Bytes > 16) return normalize_row<Bytes / 2>(x, i, n, mean, factor, weight, bias, y);
    }
  }
  for (; i < n; ++i) {
    C v = (x[i] - mean) * factor;
    if (weight != nullptr) v *= weight[i];
    if (bias != nullptr) v += bias[i];
    y[i] = v;
  }
}

}  // namespace detail

/// Normalizes rows of `length` elements: y = (x - mean) / sqrt(variance + eps) * weight + bias with the row's mean and
/// variance, summed in type Sum. Weight, bias and the destinations of means and 1 / deviations may be nullptr; `y` may
/// be `x`. O(rows * length). Source: at::native_layer_norm.
template <class Sum>
struct LayerNormRows {
  template <std::size_t Bytes, class C, class N>
  [[gnu::always_inline]] static constexpr void run(N rows, N length, Sum eps, const C* x, const C* weight,
                                                   const C* bias, C* y, C* means, C* inverses) noexcept {
    for (; rows > 0; --rows, x += length, y += length) {
      const Moments<Sum> m = moments_on<Bytes, Sum>(x, length, N{1}, N{0});
      const auto mean = static_cast<C>(m.mean);
      const auto factor = static_cast<C>(m.inverse_deviation(eps));
      if (means != nullptr) *means++ = mean;
      if (inverses != nullptr) *inverses++ = factor;
      detail::normalize_row<Bytes>(x, N{0}, length, mean, factor, weight, bias, y);
    }
  }
};

/// y[i] = factor * x[i] + shift. O(n).
struct ScaleAndShift {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(C factor, C shift, const C* x, C* y, std::int64_t n) noexcept {
    std::int64_t i = 0;
    for (; i + lanes<C, Bytes> <= n; i += lanes<C, Bytes>)
      vector_at<Bytes>(y + i) = vector_at<Bytes>(x + i) * factor + shift;
    for (; i < n; ++i) y[i] = factor * x[i] + shift;
  }
};

/// Normalizes a group of channels, each a plane of `plane` elements: y = (x - mean) / sqrt(variance + eps) * weight +
/// bias with the group's mean and variance, summed in double. Weight, bias and the destinations of the mean and 1 /
/// deviation may be nullptr; `y` may be `x`. O(channels * plane). Source: at::native_group_norm.
struct GroupNorm {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(std::int64_t channels, std::int64_t plane, double eps, const C* x,
                                         const C* weight, const C* bias, C* y, C* mean_to, C* inverse_to) noexcept {
    const Moments<> m = moments_on<Bytes, double>(x, channels * plane, std::int64_t{1}, std::int64_t{0});
    const auto mean = static_cast<C>(m.mean);
    const auto inverse = static_cast<C>(m.inverse_deviation(eps));
    if (mean_to != nullptr) *mean_to = mean;
    if (inverse_to != nullptr) *inverse_to = inverse;
    for (std::int64_t c = 0; c < channels; ++c, x += plane, y += plane) {
      const C factor = weight != nullptr ? inverse * weight[c] : inverse;
      ScaleAndShift::run<Bytes>(factor, (bias != nullptr ? bias[c] : C{}) - mean * factor, x, y, plane);
    }
  }
};

}  // namespace davit::kernels
