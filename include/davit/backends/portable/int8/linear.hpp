// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/int8/dot_rows.hpp"
#include "davit/backends/portable/int8/helium.hpp"
#include "davit/backends/portable/int8/requantize.hpp"

namespace davit::int8_kernels {

struct Linear {
  std::int32_t rows = 1, in_features = 1, out_features = 1;
  Requantize q{};
  float weight_scale = 1;  ///< per-tensor weights
  float input_scale = 1;   ///< for float results
};

#if defined(DAVIT_INT8_HELIUM)
/// Writes one row of results as bytes, four at a time.
template <class T, WeightBytes W>
[[gnu::always_inline]] inline void linear_row(helium, const T* x, const W* w, const float* scales, const float* bias,
                                              T* y, const Linear& p) noexcept {
  const std::int32_t n = p.in_features, row = bytes_of<W>(n);
  for (std::int32_t left = p.out_features; left > 0; left -= 4, w += 4 * row, y += 4) {
    const TwoSums ab = dot_rows(helium{}, x, w, w + (left > 1 ? row : 0), n, p.q.input_zero_point);
    TwoSums cd;
    if (left > 2) cd = dot_rows(helium{}, x, w + 2 * row, w + (left > 3 ? 3 : 2) * row, n, p.q.input_zero_point);
    const FourChannels four = four_channels(p.q, scales, p.weight_scale, bias, left);
    const int32x4_t sums = vaddq_s32(vshlq_r_s32(vector_of(ab.a, ab.b, cd.a, cd.b), p.q.shift), four.initial);
    store_bytes<fraction_bits>(y, vmulhq_s32(sums, four.multiplier), left);
    if (scales != nullptr) scales += 4;
    if (bias != nullptr) bias += 4;
  }
}
#endif

/// y = x weights^T + bias. Results are bytes like x's, or float (then they are not rounded to a scale).
///
/// x: [rows, in_features], weights: [out_features, in_features], of 8 or 4 bits, per-channel (`scales`) or per-tensor.
/// Source: torch.nn.functional.linear between quantized_decomposed.dequantize and quantize.
template <class Isa = native, class T, WeightBytes W, class Y>
[[gnu::always_inline]] constexpr void linear(const T* x, const W* weights, const float* scales, const float* bias, Y* y,
                                             const Linear& p) noexcept {
  const std::int32_t n = p.in_features, bytes = bytes_of<W>(n);
  const auto put = [&](Y* to, std::int32_t o, std::int32_t sum) {
    const float scale = scales != nullptr ? scales[o] : p.weight_scale;
    const float b = bias != nullptr ? bias[o] : 0.0f;
    if constexpr (std::is_same_v<Y, float>) {
      *to = static_cast<float>(sum) / (1 / (scale * p.input_scale)) + b;  // avoids fusing a product with the sum
    } else {
      *to = from_int8<Y>(requantize(sum, channel_of(p.q, scale, b), p.q.shift));
    }
  };
  Y* const first = y;
  for (std::int32_t row = 0; row < p.rows; ++row, x += n) {
#if defined(DAVIT_INT8_HELIUM)
    if constexpr (std::is_same_v<Isa, helium> && std::is_same_v<Y, T>)
      if (!std::is_constant_evaluated()) {
        linear_row(Isa{}, x, weights, scales, bias, y, p);
        y += p.out_features;
        continue;
      }
#endif
    for (std::int32_t o = 0; o < p.out_features; o += 2) {
      const W* const w = weights + o * bytes;
      const bool both = o + 1 < p.out_features;
      TwoSums sums;
      if (std::is_constant_evaluated())
        sums = dot_rows(plain{}, x, w, both ? w + bytes : w, n, p.q.input_zero_point);
      else
        sums = dot_rows(Isa{}, x, w, both ? w + bytes : w, n, p.q.input_zero_point);
      put(y++, o, sums.a);
      if (both) put(y++, o + 1, sums.b);
    }
  }
  if constexpr (!std::is_same_v<Y, float>) clamp_outputs(first, static_cast<std::int32_t>(y - first), p.q);
}

}  // namespace davit::int8_kernels
