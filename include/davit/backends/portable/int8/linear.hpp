// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/int8/conv2d_dsp.hpp"
#include "davit/backends/portable/int8/conv2d_helium.hpp"
#include "davit/backends/portable/int8/requantize.hpp"

namespace davit::int8_kernels {

struct Linear {
  std::int32_t rows = 1, in_features = 1, out_features = 1;
  Requantize q{};
  float weight_scale = 1;  ///< per-tensor weights
  float input_scale = 1;   ///< for float results
};

/// Sums of one row with two rows of weights, the input's zero point taken out.
struct TwoSums {
  std::int32_t a = 0, b = 0;
};

template <class T>
[[nodiscard, gnu::always_inline]] constexpr TwoSums dot_rows(plain, const T* x, const std::int8_t* a,
                                                             const std::int8_t* b, std::int32_t n,
                                                             std::int32_t zero) noexcept {
  TwoSums sums;
  for (std::int32_t i = 0; i < n; ++i) {
    sums.a += (to_int8(x[i]) - zero) * a[i];
    sums.b += (to_int8(x[i]) - zero) * b[i];
  }
  return sums;
}

#if defined(DAVIT_INT8_DSP)
template <class T>
[[nodiscard, gnu::always_inline]] inline TwoSums dot_rows(dsp, const T* x, const std::int8_t* a, const std::int8_t* b,
                                                          std::int32_t n, std::int32_t zero) noexcept {
  const std::int32_t offset = pair_of(-zero, -zero);
  TwoSums sums;
  const auto add = [&](std::uint32_t v, std::uint32_t wa, std::uint32_t wb) {
    v ^= flip<T> * 0x01010101u;
    const std::int32_t even = __sxtab16(offset, v);
    const std::int32_t odd = add_odd_bytes(offset, v);
    sums.a = __smlad(odd, odd_bytes(wa), __smlad(even, even_bytes(wa), sums.a));
    sums.b = __smlad(odd, odd_bytes(wb), __smlad(even, even_bytes(wb), sums.b));
  };
  for (const T* end = x + (n & ~3); x != end; x += 4, a += 4, b += 4) add(load_word(x), load_word(a), load_word(b));
  if ((n & 3) != 0)
    add(load_some(reinterpret_cast<const std::int8_t*>(x), n & 3), load_some(a, n & 3), load_some(b, n & 3));
  return sums;
}
#elif defined(DAVIT_INT8_HELIUM)
template <class T>
[[nodiscard, gnu::always_inline]] inline TwoSums dot_rows(helium, const T* x, const std::int8_t* a,
                                                          const std::int8_t* b, std::int32_t n,
                                                          std::int32_t zero) noexcept {
  TwoSums sums;
  std::int32_t total_a = 0;
  std::int32_t total_b = 0;
  for (; n > 0; n -= 16, x += 16, a += 16, b += 16) {
    const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(n));
    int8x16_t v = vldrbq_z_s8(reinterpret_cast<const std::int8_t*>(x), lanes);
    if constexpr (flip<T> != 0) v = veorq_s8(v, vdupq_n_s8(-128));
    const int8x16_t wa = vldrbq_z_s8(a, lanes);
    const int8x16_t wb = vldrbq_z_s8(b, lanes);
    sums.a = vmladavaq_s8(sums.a, v, wa);
    sums.b = vmladavaq_s8(sums.b, v, wb);
    total_a = vaddvaq_s8(total_a, wa);
    total_b = vaddvaq_s8(total_b, wb);
  }
  sums.a -= total_a * zero;
  sums.b -= total_b * zero;
  return sums;
}
#endif

/// y = x weights^T + bias. Results are bytes like x's, or float (then they are not rounded to a scale).
///
/// x: [rows, in_features], weights: [out_features, in_features], per-channel (`scales`) or per-tensor. Source:
/// torch.nn.functional.linear between quantized_decomposed.dequantize and quantize.
template <class Isa = native, class T, class Y>
[[gnu::always_inline]] constexpr void linear(const T* x, const std::int8_t* weights, const float* scales,
                                             const float* bias, Y* y, const Linear& p) noexcept {
  const std::int32_t n = p.in_features;
  const auto put = [&](Y* to, std::int32_t o, std::int32_t sum) {
    const float scale = scales != nullptr ? scales[o] : p.weight_scale;
    const float b = bias != nullptr ? bias[o] : 0.0f;
    if constexpr (std::is_same_v<Y, float>) {
      *to = static_cast<float>(sum) / (1 / (scale * p.input_scale)) + b;  // a product might be fused with the sum
    } else {
      *to = from_int8<Y>(requantize(sum, channel_of(p.q, scale, b), p.q.shift));
    }
  };
  Y* const first = y;
  for (std::int32_t row = 0; row < p.rows; ++row, x += n) {
    const std::int8_t* w = weights;
    for (std::int32_t o = 0; o < p.out_features; o += 2, w += 2 * n) {
      const bool both = o + 1 < p.out_features;
      TwoSums sums;
      if (std::is_constant_evaluated())
        sums = dot_rows(plain{}, x, w, both ? w + n : w, n, p.q.input_zero_point);
      else
        sums = dot_rows(Isa{}, x, w, both ? w + n : w, n, p.q.input_zero_point);
      put(y++, o, sums.a);
      if (both) put(y++, o + 1, sums.b);
    }
  }
  if constexpr (!std::is_same_v<Y, float>) clamp_outputs(first, static_cast<std::int32_t>(y - first), p.q);
}

}  // namespace davit::int8_kernels
