// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/int8/conv2d.hpp"
#include "davit/backends/portable/int8/depthwise_helium.hpp"
#include "davit/backends/portable/int8/depthwise_rows.hpp"
#include "davit/backends/portable/int8/requantize.hpp"

namespace davit::int8_kernels {

/// True if `depthwise3x3` can compute this convolution: 3x3 filters of one input channel each, any number per channel.
[[nodiscard]] constexpr bool is_depthwise3x3(const Conv2dShape& s) noexcept {
  return s.in_channels == 1 && s.kernel_h == 3 && s.kernel_w == 3 && s.dilation_h == 1 && s.dilation_w == 1 &&
         s.pad_w < 3;
}

/// The bytes of one padded row: as many as the last block of four outputs reads, or up to the padding's last word.
[[nodiscard]] constexpr std::int32_t depthwise_row_bytes(const Conv2dShape& s) noexcept {
  return ((((s.out_w + 3) & ~3) - 1) * s.stride_w + 3 + 4 + 3) & ~3;
}

/// Bytes of scratch of `depthwise3x3`: three padded rows of the input, or Helium's scratch.
[[nodiscard]] constexpr std::size_t depthwise3x3_scratch(const Conv2dShape& s) noexcept {
#if defined(DAVIT_INT8_HELIUM)
  return depthwise_scratch(s);
#else
  return 3 * static_cast<std::size_t>(depthwise_row_bytes(s));
#endif
}

/// y = conv2d(x) with 3x3 filters of one input channel, any stride, at most two columns of padding.
///
/// x: [batch, groups, in_h, in_w], weights: [groups * out_channels, 1, 3, 3]. Source: torch.nn.functional.conv2d with
/// groups = channels between quantized_decomposed.dequantize and quantize.
template <class Isa = native, class T>
[[gnu::always_inline]] constexpr void depthwise3x3(const T* x, const std::int8_t* weights, const float* scales,
                                                   const float* bias, T* y, std::int32_t* scratch,
                                                   const Conv2d& p) noexcept {
  if (std::is_constant_evaluated()) return conv2d_direct(x, weights, scales, bias, y, p);
#if defined(DAVIT_INT8_HELIUM)
  if constexpr (std::is_same_v<Isa, helium>) return depthwise_planes(x, weights, scales, bias, y, scratch, p);
#endif
  const std::int32_t zero = p.q.input_zero_point;
  const std::int32_t shift = p.q.shift;
  const std::int32_t in_h = p.shape.in_h;
  const std::int32_t in_w = p.shape.in_w;
  const std::int32_t out_w = p.shape.out_w;
  const std::int32_t plane = p.shape.out_h * out_w;
  const std::int32_t stride = p.shape.stride_w;
  const std::int32_t pad = p.shape.pad_w;
  const std::int32_t row_bytes = depthwise_row_bytes(p.shape);
  const std::int32_t needed = (out_w - 1) * stride + 3;
  const std::int32_t inner = needed - pad < in_w ? needed - pad : in_w;
  const std::int32_t channels = p.shape.groups * p.shape.out_channels;
  T* const first = y;
  fill_row(reinterpret_cast<std::int8_t*>(scratch), zero, 3 * row_bytes);  // padding beside the rows stays
  for (std::int32_t n = 0; n < p.shape.batch; ++n)
    for (std::int32_t o = 0; o < channels; ++o) {
      Channel channel =
          channel_of(p.q, scales != nullptr ? scales[o] : p.weight_scale, bias != nullptr ? bias[o] : 0.0f);
      std::int32_t sum = 0;
      for (int i = 0; i < 9; ++i) sum += weights[o * 9 + i];
      channel.initial -= (zero * sum) << shift;
      const DepthwiseWeights<Isa> taps(weights + o * 9);
      const T* const input = x + (n * p.shape.groups + o / p.shape.out_channels) * in_h * in_w;
      std::int8_t* a = reinterpret_cast<std::int8_t*>(scratch);
      std::int8_t* b = a + row_bytes;
      std::int8_t* c = b + row_bytes;
      std::int32_t iy = -p.shape.pad_h;
      std::int32_t missing = 3;
      for (const T* const end = y + plane; y != end; y += out_w) {
        for (; missing > 0; --missing, ++iy) {
          std::int8_t* const oldest = a;
          a = b;
          b = c;
          c = oldest;
          if (static_cast<std::uint32_t>(iy) < static_cast<std::uint32_t>(in_h))
            copy_row(c + pad, input + iy * in_w, inner);
          else
            fill_row(c, zero, row_bytes);
        }
        missing = p.shape.stride_h;
        taps.row(a, b, c, y, out_w, stride, channel, shift);
      }
    }
  clamp_outputs(first, static_cast<std::int32_t>(y - first), p.q);
}

}  // namespace davit::int8_kernels
