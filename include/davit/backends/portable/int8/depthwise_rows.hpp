// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

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

}  // namespace davit::int8_kernels
