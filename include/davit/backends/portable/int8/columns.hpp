// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/int8/dsp.hpp"
#include "davit/backends/portable/int8/isa.hpp"
#include "davit/backends/portable/int8/requantize.hpp"

namespace davit::int8_kernels {

/// Sizes of a 2d convolution; channels are those of a group.
struct Conv2dShape {
  std::int32_t batch = 1, groups = 1;
  std::int32_t in_channels = 1, in_h = 1, in_w = 1;
  std::int32_t out_channels = 1, out_h = 1, out_w = 1;
  std::int32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1;
  std::int32_t pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
};

struct Conv2d {
  Conv2dShape shape;
  Requantize q{};
  float weight_scale = 1;      ///< per-tensor weights
  std::int32_t pointwise = 0;  ///< 1x1, stride 1, no padding
};

[[nodiscard]] constexpr bool is_pointwise(const Conv2dShape& s) noexcept {
  return s.kernel_h * s.kernel_w == 1 && s.stride_h == 1 && s.stride_w == 1 && s.pad_h == 0 && s.pad_w == 0;
}

/// The bytes between two pixels' columns.
[[nodiscard]] constexpr std::int32_t padded(std::int32_t k) noexcept { return (k + 15) & ~15; }

/// The bytes of four columns, or (DSP) of two int16 columns and one of bytes behind them.
[[nodiscard]] constexpr std::size_t columns_bytes(const Conv2dShape& s) noexcept {
  const auto k = static_cast<std::size_t>(padded(s.in_channels * s.kernel_h * s.kernel_w));
  return k * (is_pointwise(s) ? 4 : 5);
}

/// Writes one pixel's window as a column of bytes in the order of the weights; padding is the zero point.
template <class T>
[[gnu::always_inline]] inline void fill_column(std::int8_t* column, const T* x, const Conv2dShape& s,
                                               std::int32_t pixel, std::int32_t zero) noexcept {
  const std::int32_t in_h = s.in_h;
  const std::int32_t in_w = s.in_w;
  const std::int32_t kernel_h = s.kernel_h;
  const std::int32_t kernel_w = s.kernel_w;
  const std::int32_t dilation_h = s.dilation_h;
  const std::int32_t dilation_w = s.dilation_w;
  const std::int32_t oy = pixel / s.out_w;
  const std::int32_t y0 = oy * s.stride_h - s.pad_h;
  const std::int32_t x0 = (pixel - oy * s.out_w) * s.stride_w - s.pad_w;
  const bool inside = dilation_w == 1 && x0 >= 0 && x0 + kernel_w <= in_w;
  const T* const end = x + s.in_channels * in_h * in_w;
  for (; x != end; x += in_h * in_w)
    for (std::int32_t ky = 0, iy = y0; ky < kernel_h; ++ky, iy += dilation_h, column += kernel_w) {
      const T* row = x + (iy * in_w + x0);
      const bool empty = static_cast<std::uint32_t>(iy) >= static_cast<std::uint32_t>(in_h);
      if (inside && !empty) {
        copy_row(column, row, kernel_w);
        continue;
      }
      for (std::int32_t kx = 0, ix = x0; kx < kernel_w; ++kx, ix += dilation_w) {
        const bool out = empty || static_cast<std::uint32_t>(ix) >= static_cast<std::uint32_t>(in_w);
        column[kx] = static_cast<std::int8_t>(out ? zero : to_int8(row[ix - x0]));
      }
    }
}

template <class Isa, class T>
[[gnu::always_inline]] inline void fill_columns(Isa, std::int8_t* columns, const T* x, const Conv2dShape& s,
                                                std::int32_t pixel, std::int32_t count, std::int32_t zero) noexcept {
  const std::int32_t stride = padded(s.in_channels * s.kernel_h * s.kernel_w);
  for (std::int32_t p = 0; p < count; ++p) fill_column(columns + p * stride, x, s, pixel + p, zero);
}

/// Writes the columns of a 1x1 convolution: `count` neighbouring pixels of every channel.
template <class T>
[[gnu::always_inline]] inline void fill_pointwise(plain, std::int8_t* columns, const T* x, const Conv2dShape& s,
                                                  std::int32_t count, std::int32_t /*zero*/) noexcept {
  const std::int32_t stride = padded(s.in_channels);
  for (std::int32_t c = 0; c < s.in_channels; ++c, x += s.in_h * s.in_w)
    for (std::int32_t p = 0; p < count; ++p) columns[p * stride + c] = to_int8(x[p]);
}

}  // namespace davit::int8_kernels
