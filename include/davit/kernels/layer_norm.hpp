// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "davit/kernels/row_moments.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::kernels {

namespace detail {

/// y[i] = (x[i] - mean) * factor * weight[i] + bias[i] from `i` on; weight and bias may be nullptr.
template <std::size_t Bytes, class C, class N>
[[gnu::always_inline]] constexpr void normalize_row(const C* x, N i, N n, C mean, C factor, const C* weight, const C* bias, C* y) noexcept {
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

/// Rows of `length` elements, each y = (x - mean) / sqrt(variance + eps) * weight + bias of its own mean and variance, which are
/// summed in type Sum. Weight and bias may be nullptr, so may be where the means and 1 / deviations go; `y` may be `x`.
/// O(rows * length). Source: at::native_layer_norm.
template <class Sum>
struct LayerNormRows {
  template <std::size_t Bytes, class C, class N>
  [[gnu::always_inline]] static constexpr void run(N rows, N length, Sum eps, const C* x, const C* weight, const C* bias, C* y, C* means,
                                                          C* inverses) noexcept {
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

namespace detail {

/// y = x * factor + shift of the channels from `c` on of all pixels; factor = inverse * weight, shift = bias - mean * factor.
template <std::size_t Bytes, class N>
[[gnu::always_inline]] inline void scale_channels(const float* x, N c, N width, N pixels, N pitch, float mean, float inverse, const float* weight,
                                                  const float* bias, float* y) noexcept {
  if constexpr (Bytes >= 16) {
    using Floats = Vector<float, Bytes>;
    constexpr auto step = static_cast<N>(lanes<float, Bytes>);
    for (; c + step <= width; c += step) {
      const Floats factor = weight != nullptr ? inverse * vector_at<Bytes>(weight + c) : Floats{} + inverse;
      const Floats shift = (bias != nullptr ? Floats(vector_at<Bytes>(bias + c)) : Floats{}) - mean * factor;
      for (N p = 0; p < pixels; ++p) vector_at<Bytes>(y + p * pitch + c) = vector_at<Bytes>(x + p * pitch + c) * factor + shift;
    }
    if constexpr (Bytes > 16) return scale_channels<Bytes / 2>(x, c, width, pixels, pitch, mean, inverse, weight, bias, y);
  }
  for (; c < width; ++c) {
    const float factor = weight != nullptr ? inverse * weight[c] : inverse;
    const float shift = (bias != nullptr ? bias[c] : 0.0f) - mean * factor;
    for (N p = 0; p < pixels; ++p) y[p * pitch + c] = x[p * pitch + c] * factor + shift;
  }
}

}  // namespace detail

/// A group of `width` channels of an image whose pixels have theirs side by side, `pitch` of all groups: y = (x - mean) /
/// sqrt(variance + eps) * weight + bias of the group's own mean and variance. Weight and bias may be nullptr, `y` may be `x`.
/// O(pixels * width). Source: at::native_group_norm.
struct GroupNormPixels {
  template <std::size_t Bytes, class N>
  [[gnu::always_inline]] static void run(N pixels, N width, N pitch, double eps, const float* x, const float* weight, const float* bias, float* y) noexcept {
    const Moments<> m = moments_on<Bytes>(x, width, pixels, pitch);
    const auto mean = static_cast<float>(m.mean), inverse = static_cast<float>(m.inverse_deviation(eps));
    detail::scale_channels<Bytes>(x, N{0}, width, pixels, pitch, mean, inverse, weight, bias, y);
  }
};

}  // namespace davit::kernels
