// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/int8/conv2d.hpp"
#include "davit/backends/portable/int8/depthwise_helium.hpp"
#include "davit/backends/portable/int8/dsp.hpp"
#include "davit/backends/portable/int8/requantize.hpp"

namespace davit::int8_kernels {

/// A 3x3 filter prepared for an instruction set; `row` computes a row of outputs from three padded rows of inputs.
template <class Isa>
class DepthwiseWeights {
 public:
  DepthwiseWeights() = default;
  [[gnu::always_inline]] explicit DepthwiseWeights(const std::int8_t* w) noexcept : w_(w) {}

  template <class T>
  [[gnu::always_inline]] void row(const std::int8_t* a, const std::int8_t* b, const std::int8_t* c, T* y,
                                  std::int32_t n, std::int32_t stride, const Channel& channel,
                                  std::int32_t shift) const noexcept {
    for (std::int32_t i = 0; i < n; ++i, a += stride, b += stride, c += stride) {
      std::int32_t sum = 0;
      for (int t = 0; t < 3; ++t) sum += a[t] * w_[t] + b[t] * w_[3 + t] + c[t] * w_[6 + t];
      y[i] = from_int8<T>(requantize(sum, channel, shift));
    }
  }

 private:
  const std::int8_t* w_ = nullptr;
};

#if defined(DAVIT_INT8_DSP)

/// The outer taps of a row are a pair, the middle tap is apart: four bytes of a row give both taps' inputs of two
/// outputs.
template <>
class DepthwiseWeights<dsp> {
 public:
  DepthwiseWeights() = default;
  [[gnu::always_inline]] explicit DepthwiseWeights(const std::int8_t* w) noexcept
      : outer_a_(pair_of(w[0], w[2])),
        outer_b_(pair_of(w[3], w[5])),
        outer_c_(pair_of(w[6], w[8])),
        middle_ab_(pair_of(w[1], w[4])),
        middle_c_(w[7]) {}

  template <class T>
  [[gnu::always_inline]] void row(const std::int8_t* a, const std::int8_t* b, const std::int8_t* c, T* y,
                                  std::int32_t n, std::int32_t stride, const Channel& channel,
                                  std::int32_t shift) const noexcept {
    if (stride == 1)
      for (; n >= 2; n -= 2, a += 2, b += 2, c += 2, y += 2) two(a, b, c, y, channel, shift);
    for (; n > 0; --n, a += stride, b += stride, c += stride) *y++ = one<T>(a, b, c, channel, shift);
  }

 private:
  template <class T>
  [[nodiscard, gnu::always_inline]] T one(const std::int8_t* a, const std::int8_t* b, const std::int8_t* c,
                                          const Channel& channel, std::int32_t shift) const noexcept {
    std::uint32_t word = load_word(a);
    std::int32_t sum = __smuad(even_bytes(word), outer_a_);
    sum = __smlabb(odd_bytes(word), middle_ab_, sum);
    word = load_word(b);
    sum = __smlad(even_bytes(word), outer_b_, sum);
    sum = __smlabt(odd_bytes(word), middle_ab_, sum);
    word = load_word(c);
    sum = __smlad(even_bytes(word), outer_c_, sum);
    sum = __smlabb(odd_bytes(word), middle_c_, sum);
    return from_int8<T>(requantize(sum, channel, shift));
  }
  template <class T>
  [[gnu::always_inline]] void two(const std::int8_t* a, const std::int8_t* b, const std::int8_t* c, T* y,
                                  const Channel& channel, std::int32_t shift) const noexcept {
    std::uint32_t word = load_word(a);
    std::int32_t even = even_bytes(word);
    std::int32_t odd = odd_bytes(word);
    std::int32_t first = __smlabb(odd, middle_ab_, __smuad(even, outer_a_));
    std::int32_t second = __smlatb(even, middle_ab_, __smuad(odd, outer_a_));
    word = load_word(b);
    even = even_bytes(word);
    odd = odd_bytes(word);
    first = __smlabt(odd, middle_ab_, __smlad(even, outer_b_, first));
    second = __smlatt(even, middle_ab_, __smlad(odd, outer_b_, second));
    word = load_word(c);
    even = even_bytes(word);
    odd = odd_bytes(word);
    first = __smlabb(odd, middle_c_, __smlad(even, outer_c_, first));
    second = __smlatb(even, middle_c_, __smlad(odd, outer_c_, second));
    y[0] = from_int8<T>(requantize(first, channel, shift));
    y[1] = from_int8<T>(requantize(second, channel, shift));
  }

  std::int32_t outer_a_ = 0, outer_b_ = 0, outer_c_ = 0, middle_ab_ = 0, middle_c_ = 0;
};

#endif

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
