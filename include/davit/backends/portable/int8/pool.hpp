// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/int8/requantize.hpp"

namespace davit::int8_kernels {

struct PoolShape {
  std::int32_t planes = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  std::int32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1;
  std::int32_t pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
};

/// Calls visit(x, element offset) for each element of the window of output (oy, ox) inside the plane.
template <class Visit>
[[gnu::always_inline]] constexpr void for_each_in_window(const PoolShape& s, std::int32_t oy, std::int32_t ox,
                                                         Visit&& visit) noexcept {
  std::int32_t iy = oy * s.stride_h - s.pad_h;
  for (std::int32_t ky = 0; ky < s.kernel_h; ++ky, iy += s.dilation_h) {
    if (iy < 0 || iy >= s.in_h) continue;
    std::int32_t ix = ox * s.stride_w - s.pad_w;
    for (std::int32_t kx = 0; kx < s.kernel_w; ++kx, ix += s.dilation_w)
      if (ix >= 0 && ix < s.in_w) visit(iy * s.in_w + ix);
  }
}

/// y = max_pool2d(x); input and output have one scale and zero point. x: [planes, in_h, in_w].
template <class T>
[[gnu::always_inline]] constexpr void max_pool2d(const T* x, T* y, const PoolShape& s) noexcept {
  for (std::int32_t c = 0; c < s.planes; ++c, x += s.in_h * s.in_w)
    for (std::int32_t oy = 0; oy < s.out_h; ++oy)
      for (std::int32_t ox = 0; ox < s.out_w; ++ox) {
        std::int32_t most = flip<T> != 0 ? 0 : -128;
        for_each_in_window(s, oy, ox, [&](std::int32_t i) { most = x[i] > most ? x[i] : most; });
        *y++ = static_cast<T>(most);
      }
}

struct AvgPool {
  PoolShape shape;
  std::int32_t multiplier = 0, shift = 0;  ///< input scale / (output scale * divisor)
  std::int32_t input_zero_point = 0, output_zero_point = 0;
  std::int32_t low = -128, high = 127;
};

/// y = avg_pool2d(x) with one divisor for all windows, also for adaptive_avg_pool2d and the mean of planes.
template <class T>
[[gnu::always_inline]] constexpr void avg_pool2d(const T* x, T* y, const AvgPool& p) noexcept {
  const PoolShape& s = p.shape;
  for (std::int32_t c = 0; c < s.planes; ++c, x += s.in_h * s.in_w)
    for (std::int32_t oy = 0; oy < s.out_h; ++oy)
      for (std::int32_t ox = 0; ox < s.out_w; ++ox) {
        std::int32_t sum = 0;
        for_each_in_window(s, oy, ox, [&](std::int32_t i) { sum += to_int8(x[i]) - p.input_zero_point; });
        const std::int32_t v = multiply_high(sum << p.shift, p.multiplier) + p.output_zero_point;
        *y++ = from_int8<T>(v < p.low ? p.low : v > p.high ? p.high : v);
      }
}

}  // namespace davit::int8_kernels
