// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/kernels/layer_norm.hpp"
#include "davit/kernels/row_moments.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::static_kernels {

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

/// y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row; weight and bias may be nullptr, `y` may be `x`.
/// O(rows * length). Source: at::layer_norm.
template <class P>
[[gnu::always_inline]] constexpr void layer_norm(const P& params, const float* x, const float* weight,
                                                 const float* bias, float* y) noexcept {
  const LayerNorm& p = numbers_of(params);
  kernels::LayerNormRows<Wide>::run<kernels::vector_bytes>(Index{p.rows}, Index{p.length}, Wide{p.eps}, x, weight, bias,
                                                           y, static_cast<float*>(nullptr),
                                                           static_cast<float*>(nullptr));
}

/// y = (x - mean) / sqrt(var + eps) * weight + bias with the running statistics, channel by channel; weight and bias
/// may be nullptr, `y` may be `x`. O(numel). Source: at::_native_batch_norm_legit_no_training.
template <class P>
[[gnu::always_inline]] constexpr void batch_norm(const P& params, const float* x, const float* weight,
                                                 const float* bias, const float* mean, const float* variance,
                                                 float* y) noexcept {
  const BatchNorm& p = numbers_of(params);
  for (Index c = 0; c < p.channels; ++c) {
    const auto inverse =
        static_cast<float>(kernels::Moments<Wide>{0, static_cast<Wide>(variance[c])}.inverse_deviation(p.eps));
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

}  // namespace davit::static_kernels
