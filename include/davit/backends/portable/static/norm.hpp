// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/static/math.hpp"
#include "davit/backends/portable/static/packs.hpp"
#include "davit/kernels/row_moments.hpp"

namespace davit::static_float {

/// A double as parameters may hold it, in int32; a float where sums are floats.
template <class W>
struct RealParam {
  std::array<std::int32_t, sizeof(W) / 4> encoded{};
  constexpr RealParam(double v) noexcept
      : encoded(std::bit_cast<std::array<std::int32_t, sizeof(W) / 4>>(static_cast<W>(v))) {}
  constexpr operator W() const noexcept { return std::bit_cast<W>(encoded); }
};

/// Rows that are normalised one by one; weight and bias have `length` elements.
struct LayerNorm {
  std::int32_t rows = 1, length = 1;
  RealParam<Wide> eps = 1e-5;
};

/// Inference over (batch, channels, plane); weight, bias and the running statistics have one element per channel.
struct BatchNorm {
  std::int32_t batch = 1, channels = 1, plane = 1;
  RealParam<Wide> eps = 1e-5;
};

namespace detail {

[[nodiscard, gnu::always_inline]] constexpr Wide inverse_deviation(Wide variance, Wide eps) noexcept {
  return Wide{1} / sqrt(variance + eps);
}

template <class W>
struct RowMoments {
  W mean = 0, variance = 0;
};
template <class W>
[[nodiscard, gnu::always_inline]] constexpr RowMoments<W> moments(const float* x, Index n) noexcept {
  if !consteval {
    if constexpr (std::is_same_v<W, double>) {
      const kernels::Moments m = kernels::moments(x, n);
      return {m.mean, m.variance};
    }
  }
  W sum = 0, squares = 0;
  for (Index i = 0; i < n; ++i) sum += static_cast<W>(x[i]);
  const W mean = sum / static_cast<W>(n);
  for (Index i = 0; i < n; ++i) {
    const W distance = static_cast<W>(x[i]) - mean;
    squares += distance * distance;
  }
  return {mean, squares / static_cast<W>(n)};
}

}  // namespace detail

/// y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row; weight and bias may be nullptr, `y` may be `x`.
/// O(rows * length). Source: at::layer_norm.
template <class P>
[[gnu::always_inline]] constexpr void layer_norm(const P& params, const float* x, const float* weight,
                                                 const float* bias, float* y) noexcept {
  const LayerNorm& p = numbers_of(params);
  for (Index row = 0; row < p.rows; ++row, x += p.length, y += p.length) {
    const detail::RowMoments<Wide> m = detail::moments<Wide>(x, p.length);
    const auto mean = static_cast<float>(m.mean);
    const auto inverse = static_cast<float>(detail::inverse_deviation(m.variance, p.eps));
    for_packs<false>(p.length, [&]<Index N>(Index i) __attribute__((always_inline)) {
      Pack<N> v = (load<N>(x + i) - mean) * inverse;
      if (weight != nullptr) v *= load<N>(weight + i);
      if (bias != nullptr) v += load<N>(bias + i);
      store<N>(y + i, v);
    });
  }
}

/// y = (x - mean) / sqrt(var + eps) * weight + bias with the running statistics, channel by channel; weight and bias
/// may be nullptr, `y` may be `x`. O(numel). Source: at::_native_batch_norm_legit_no_training.
template <class P>
[[gnu::always_inline]] constexpr void batch_norm(const P& params, const float* x, const float* weight,
                                                 const float* bias, const float* mean, const float* variance,
                                                 float* y) noexcept {
  const BatchNorm& p = numbers_of(params);
  for (Index c = 0; c < p.channels; ++c) {
    const auto inverse = static_cast<float>(detail::inverse_deviation(static_cast<Wide>(variance[c]), p.eps));
    const float factor = weight != nullptr ? inverse * weight[c] : inverse;
    const float shift = (bias != nullptr ? bias[c] : 0.0f) - mean[c] * factor;
    for (Index n = 0; n < p.batch; ++n) {
      const Index at = (n * p.channels + c) * p.plane;
      for_packs<false>(p.plane, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(y + at + i, load<N>(x + at + i) * factor + shift);
      });
    }
  }
}

}  // namespace davit::static_float
