// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace davit::int8_kernels {

struct Quantize {
  std::int32_t count = 0;
  float inverse_scale = 1, zero_point = 0, low = -128, high = 127;
};

/// 1.5 * 2^23: a sum with it is rounded to an integer.
inline constexpr float nearest_magic = 12582912.0f;

/// The nearest integer, ties to even, of a number below 2^22 in magnitude.
[[nodiscard, gnu::always_inline]] constexpr float nearest(float v) noexcept {
  return (v + nearest_magic) - nearest_magic;
}

/// clamp(round(x / scale) + zero_point). Source: quantized_decomposed.quantize_per_tensor.
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T quantized(float x, const Quantize& p) noexcept {
  const float scaled = x * p.inverse_scale;
  const float bounded = scaled > -65536.0f ? (scaled < 65536.0f ? scaled : 65536.0f) : -65536.0f;
  const float v = nearest(bounded) + p.zero_point;
  return static_cast<T>(static_cast<std::int32_t>(v < p.low ? p.low : v > p.high ? p.high : v));
}
/// y = quantized(x), elementwise.
template <class T>
[[gnu::always_inline]] constexpr void quantize(const float* x, T* y, const Quantize& p) noexcept {
  for (std::int32_t i = 0; i < p.count; ++i) y[i] = quantized<T>(x[i], p);
}

/// Groups of `inner` elements with one scale: `channels` groups, `outer` times.
struct Dequantize {
  std::int32_t outer = 1, channels = 1, inner = 0;
  float scale = 1, zero_point = 0;
};

/// y = (x - zero_point) * scale, with a scale (and zero point) per channel if given. Source:
/// quantized_decomposed.dequantize_per_tensor and dequantize_per_channel.
template <class T, class Z>
[[gnu::always_inline]] constexpr void dequantize(const T* x, const float* scales, const Z* zero_points, float* y,
                                                 const Dequantize& p) noexcept {
  for (std::int32_t o = 0; o < p.outer; ++o)
    for (std::int32_t c = 0; c < p.channels; ++c) {
      const float scale = scales != nullptr ? scales[c] : p.scale;
      const float zero_point =
          zero_points != nullptr ? static_cast<float>(static_cast<std::int32_t>(zero_points[c])) : p.zero_point;
      for (std::int32_t i = 0; i < p.inner; ++i) *y++ = (static_cast<float>(*x++) - zero_point) * scale;
    }
}

}  // namespace davit::int8_kernels
