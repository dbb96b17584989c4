// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/int8/conv2d_dsp.hpp"
#include "davit/backends/portable/int8/helium.hpp"
#include "davit/backends/portable/int8/requantize.hpp"

namespace davit::int8_kernels {

struct Linear {
  std::int32_t rows = 1, in_features = 1, out_features = 1;
  Requantize q{};
  float weight_scale = 1;  ///< per-tensor weights
  float input_scale = 1;   ///< for float results
};

/// Sums of one row with two rows of weights, minus the input's zero point.
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
  TwoSums totals;
  int8x16_t v, w;
  asm volatile(
      "wlstp.8 lr, %[n], 2f\n"
      "1:\n\t"
      "vldrb.8 %q[v], [%[x]], #16\n\t"
      "vadd.i8 %q[v], %q[v], %[flip]\n\t"
      "vldrb.8 %q[w], [%[a]], #16\n\t"
      "vmladava.s8 %[sum_a], %q[v], %q[w]\n\t"
      "vaddva.s8 %[total_a], %q[w]\n\t"
      "vldrb.8 %q[w], [%[b]], #16\n\t"
      "vmladava.s8 %[sum_b], %q[v], %q[w]\n\t"
      "vaddva.s8 %[total_b], %q[w]\n\t"
      "letp lr, 1b\n"
      "2:"
      : [sum_a] "+&Te"(sums.a), [sum_b] "+&Te"(sums.b), [total_a] "+&Te"(totals.a), [total_b] "+&Te"(totals.b),
        [x] "+&r"(x), [a] "+&r"(a), [b] "+&r"(b), [v] "=&w"(v), [w] "=&w"(w)
      : [n] "r"(n), [flip] "r"(flip<T>)
      : "lr", "memory");
  return {sums.a - totals.a * zero, sums.b - totals.b * zero};
}

/// Writes one row of results as bytes, four at a time.
template <class T>
[[gnu::always_inline]] inline void linear_row(helium, const T* x, const std::int8_t* w, const float* scales,
                                              const float* bias, T* y, const Linear& p) noexcept {
  const std::int32_t n = p.in_features;
  for (std::int32_t left = p.out_features; left > 0; left -= 4, w += 4 * n, y += 4) {
    const TwoSums ab = dot_rows(helium{}, x, w, w + (left > 1 ? n : 0), n, p.q.input_zero_point);
    TwoSums cd;
    if (left > 2) cd = dot_rows(helium{}, x, w + 2 * n, w + (left > 3 ? 3 : 2) * n, n, p.q.input_zero_point);
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
