// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/int8/columns.hpp"
#include "davit/backends/portable/int8/conv2d_dsp.hpp"
#include "davit/backends/portable/int8/conv2d_helium.hpp"
#include "davit/backends/portable/int8/requantize.hpp"

namespace davit::int8_kernels {

/// Bytes of scratch of `conv2d`: a Channel for each output channel of a group, and the columns of some pixels.
[[nodiscard]] constexpr std::size_t conv2d_scratch(const Conv2dShape& s) noexcept {
  return static_cast<std::size_t>(s.out_channels) * sizeof(Channel) + columns_bytes(s);
}

/// Writes the Channels of `n` output channels. Except for DSP, `initial` also subtracts the input's zero point.
template <class Isa>
[[gnu::always_inline]] inline void make_channels(Isa, Channel* to, std::int32_t n, const std::int8_t* weights,
                                                 std::int32_t k, const float* scales, float scale, const float* bias,
                                                 const Requantize& q) noexcept {
  for (std::int32_t o = 0; o < n; ++o) {
    Channel c = channel_of(q, scales != nullptr ? scales[o] : scale, bias != nullptr ? bias[o] : 0.0f);
    if constexpr (!std::is_same_v<Isa, dsp>) {
      std::int32_t sum = 0;
      for (std::int32_t i = 0; i < k; ++i) sum += *weights++;
      c.initial -= (sum * q.input_zero_point) << q.shift;
    }
    to[o] = c;
  }
}

/// Computes a block of outputs: every output channel of the group at `count` pixels.
template <class T>
[[gnu::always_inline]] inline void multiply_columns(plain, const std::int8_t* columns, std::int32_t stride,
                                                    const std::int8_t* weights, std::int32_t k, const Channel* channels,
                                                    std::int32_t out_channels, T* y, std::int32_t plane,
                                                    std::int32_t count, const Requantize& q) noexcept {
  for (std::int32_t o = 0; o < out_channels; ++o, weights += k, y += plane) {
    const std::int8_t* x = columns;
    for (std::int32_t p = 0; p < count; ++p, x += stride) {
      std::int32_t sum = 0;
      for (std::int32_t i = 0; i < k; ++i) sum += x[i] * weights[i];
      y[p] = from_int8<T>(requantize(sum, channels[o], q.shift));
    }
  }
}

/// Computes the sums by definition, in constant evaluation.
template <class T>
constexpr void conv2d_direct(const T* x, const std::int8_t* weights, const float* scales, const float* bias, T* y,
                             const Conv2d& p) {
  const Conv2dShape& s = p.shape;
  for (std::int32_t n = 0; n < s.batch; ++n)
    for (std::int32_t o = 0; o < s.groups * s.out_channels; ++o) {
      const Channel channel =
          channel_of(p.q, scales != nullptr ? scales[o] : p.weight_scale, bias != nullptr ? bias[o] : 0.0f);
      const std::int32_t group = n * s.groups + o / s.out_channels;
      for (std::int32_t oy = 0; oy < s.out_h; ++oy)
        for (std::int32_t ox = 0; ox < s.out_w; ++ox, ++y) {
          std::int32_t sum = 0;
          const std::int8_t* w = weights + o * s.in_channels * s.kernel_h * s.kernel_w;
          for (std::int32_t c = group * s.in_channels; c < (group + 1) * s.in_channels; ++c)
            for (std::int32_t iy = oy * s.stride_h - s.pad_h, ky = 0; ky < s.kernel_h; ++ky, iy += s.dilation_h)
              for (std::int32_t ix = ox * s.stride_w - s.pad_w, kx = 0; kx < s.kernel_w; ++kx, ix += s.dilation_w, ++w)
                if (iy >= 0 && iy < s.in_h && ix >= 0 && ix < s.in_w)
                  sum += (to_int8(x[(c * s.in_h + iy) * s.in_w + ix]) - p.q.input_zero_point) * *w;
          const std::int32_t v = requantize(sum, channel, p.q.shift);
          *y = from_int8<T>(v < p.q.low ? p.q.low : v > p.q.high ? p.q.high : v);
        }
    }
}

/// y = conv2d(x) with per-channel (`scales`) or per-tensor (`scale`) weights of zero point 0, and an optional float
/// bias.
///
/// x: [batch, groups * in_channels, in_h, in_w], weights: [groups * out_channels, in_channels, kernel_h, kernel_w].
/// Source: torch.nn.functional.conv2d between quantized_decomposed.dequantize and quantize.
template <class Isa = native, class T>
[[gnu::always_inline]] constexpr void conv2d(const T* x, const std::int8_t* weights, const float* scales,
                                             const float* bias, T* y, std::int32_t* scratch, const Conv2d& p) noexcept {
  if (std::is_constant_evaluated()) return conv2d_direct(x, weights, scales, bias, y, p);
  const Conv2dShape& s = p.shape;
  const std::int32_t plane = s.out_h * s.out_w;
  const std::int32_t k = s.in_channels * s.kernel_h * s.kernel_w;
  // the table comes last, so that every instruction set writes the scratch's last byte: an arena's measured use then
  // equals the prediction
  std::int8_t* const columns = reinterpret_cast<std::int8_t*>(scratch);
  Channel* const channels = reinterpret_cast<Channel*>(columns + columns_bytes(s));
  T* const first = y;
  for (std::int32_t n = 0; n < s.batch; ++n)
    for (std::int32_t g = 0; g < s.groups; ++g) {
      const std::int32_t channel = g * s.out_channels;
      const std::int8_t* const w = weights + channel * k;
      make_channels(Isa{}, channels, s.out_channels, w, k, scales != nullptr ? scales + channel : nullptr,
                    p.weight_scale, bias != nullptr ? bias + channel : nullptr, p.q);
      for (std::int32_t pixel = 0; pixel < plane; pixel += Isa::pixels) {
        const std::int32_t count = plane - pixel < Isa::pixels ? plane - pixel : Isa::pixels;
        if (p.pointwise != 0)
          fill_pointwise(Isa{}, columns, x + pixel, s, count, p.q.input_zero_point);
        else
          fill_columns(Isa{}, columns, x, s, pixel, count, p.q.input_zero_point);
        multiply_columns(Isa{}, columns, padded(k), w, k, channels, s.out_channels, y + pixel, plane, count, p.q);
      }
      x += s.in_channels * s.in_h * s.in_w;
      y += s.out_channels * plane;
    }
  clamp_outputs(first, static_cast<std::int32_t>(y - first), p.q);
}

}  // namespace davit::int8_kernels
