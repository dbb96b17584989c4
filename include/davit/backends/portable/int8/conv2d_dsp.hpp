// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/int8/columns.hpp"

#if defined(DAVIT_INT8_DSP)

namespace davit::int8_kernels {

// Columns here are two pixels' values minus the zero point, as int16: for every four k the pair (k0, k2) of the first
// pixel, then of the second, then the pairs (k1, k3), in the order in which SXTB16 unpacks weights.

/// Writes a byte column as pixel `p`'s half of the pairs. Reads up to 3 bytes past `k`; the weights there count as 0.
[[gnu::always_inline]] inline void expand_column(std::int8_t* columns, std::int32_t p, const std::int8_t* bytes,
                                                 std::int32_t k, std::int32_t zero) noexcept {
  const std::int32_t offset = pair_of(-zero, -zero);
  std::int8_t* to = columns + p * 4;
  for (; k > 0; k -= 4, bytes += 4, to += 16) {
    const std::uint32_t word = load_word(bytes);
    store_word(to, static_cast<std::uint32_t>(__sxtab16(offset, word)));
    store_word(to + 8, static_cast<std::uint32_t>(add_odd_bytes(offset, word)));
  }
}

template <class T>
[[gnu::always_inline]] inline void fill_columns(dsp, std::int8_t* columns, const T* x, const Conv2dShape& s,
                                                std::int32_t pixel, std::int32_t count, std::int32_t zero) noexcept {
  const std::int32_t k = s.in_channels * s.kernel_h * s.kernel_w;
  std::int8_t* const bytes = columns + 4 * padded(k);
  for (std::int32_t p = 0; p < count; ++p) {
    fill_column(bytes, x, s, pixel + p, zero);
    expand_column(columns, p, bytes, k, zero);
  }
}

/// Two channels, k and k + 2, of two pixels, as the pairs of SMLAD.
template <class T>
[[gnu::always_inline]] inline void fill_pairs(std::int8_t* to, const T* x, std::int32_t step,
                                              std::int32_t offset) noexcept {
  std::uint16_t a, b;
  std::memcpy(&a, x, 2);
  std::memcpy(&b, x + step, 2);
  const std::uint32_t word = (a | static_cast<std::uint32_t>(b) << 16) ^ flip<T> * 0x01010101u;
  store_word(to, static_cast<std::uint32_t>(__sxtab16(offset, word)));
  store_word(to + 4, static_cast<std::uint32_t>(add_odd_bytes(offset, word)));
}

template <class T>
[[gnu::always_inline]] inline void fill_pointwise(dsp, std::int8_t* columns, const T* x, const Conv2dShape& s,
                                                  std::int32_t count, std::int32_t zero) noexcept {
  const std::int32_t plane = s.in_h * s.in_w;
  const std::int32_t channels = s.in_channels;
  const std::int32_t offset = pair_of(-zero, -zero);
  std::int32_t k = 0;
  if (count == 2)
    for (; k + 4 <= channels; k += 4, columns += 16, x += 4 * plane) {
      fill_pairs(columns, x, 2 * plane, offset);
      fill_pairs(columns + 8, x + plane, 2 * plane, offset);
    }
  for (; k < channels; ++k, x += plane) {
    std::int8_t* const to = columns + ((k & 1) * 8 + (k & 2));
    for (std::int32_t p = 0; p < count; ++p) {
      const auto value = static_cast<std::int16_t>(to_int8(x[p]) - zero);
      std::memcpy(to + p * 4, &value, 2);
    }
    if ((k & 3) == 3) columns += 16;
  }
}

/// Two output channels by two pixels.
struct Sums {
  std::int32_t a0 = 0, a1 = 0, b0 = 0, b1 = 0;
  /// Four k: 16 products in 15 instructions. The barriers keep the compiler from loading values early, which it would
  /// then spill.
  template <class Load>
  [[gnu::always_inline]] void add(const std::int8_t* columns, const std::int8_t* a, const std::int8_t* b,
                                  Load&& load) noexcept {
    const auto x0 = static_cast<std::int32_t>(load_word(__builtin_assume_aligned(columns, 4)));
    const auto x2 = static_cast<std::int32_t>(load_word(__builtin_assume_aligned(columns + 4, 4)));
    const auto x1 = static_cast<std::int32_t>(load_word(__builtin_assume_aligned(columns + 8, 4)));
    const auto x3 = static_cast<std::int32_t>(load_word(__builtin_assume_aligned(columns + 12, 4)));
    const std::uint32_t wa = load(a);
    add_pixels(a0, a1, wa, x0, x1, x2, x3);
    asm volatile("" : "+r"(a0), "+r"(a1)::"memory");
    const std::uint32_t wb = load(b);
    add_pixels(b0, b1, wb, x0, x1, x2, x3);
    asm volatile("" : "+r"(b0), "+r"(b1)::"memory");
  }

 private:
  [[gnu::always_inline]] static void add_pixels(std::int32_t& first, std::int32_t& second, std::uint32_t w,
                                                std::int32_t x0, std::int32_t x1, std::int32_t x2,
                                                std::int32_t x3) noexcept {
    const std::int32_t even = even_bytes(w);
    first = __smlad(x0, even, first);
    second = __smlad(x2, even, second);
    const std::int32_t odd = odd_bytes(w);
    first = __smlad(x1, odd, first);
    second = __smlad(x3, odd, second);
  }
};

/// If only one pixel or one channel is left, the second is computed too, and overwritten by the first.
template <class T>
[[gnu::always_inline]] inline void multiply_columns(dsp, const std::int8_t* columns, std::int32_t /*stride*/,
                                                    const std::int8_t* weights, std::int32_t k, const Channel* channels,
                                                    std::int32_t out_channels, T* y, std::int32_t plane,
                                                    std::int32_t count, const Requantize& q) noexcept {
  const std::int32_t shift = q.shift;
  const std::int32_t second = count - 1;
  for (; out_channels > 0; out_channels -= 2) {
    const std::int32_t next = out_channels > 1 ? 1 : 0;
    const std::int8_t* a = weights;
    const std::int8_t* b = weights + next * k;
    T* const z = y + next * plane;
    weights += 2 * k;
    Sums sums;
    const std::int8_t* x = columns;
    for (const std::int8_t* const end = x + 4 * (k & ~7); x != end; x += 32, a += 8, b += 8) {
      sums.add(x, a, b, load_word);
      sums.add(x + 16, a + 4, b + 4, load_word);
    }
    for (std::int32_t rest = k & 7; rest > 0; rest -= 4, a += 4, b += 4, x += 16)
      sums.add(x, a, b, [rest](const std::int8_t* w) { return load_some(w, rest); });
    const Channel first_channel = channels[0];
    const Channel next_channel = channels[next];
    channels += 2;
    z[second] = from_int8<T>(requantize(sums.b1, next_channel, shift));
    z[0] = from_int8<T>(requantize(sums.b0, next_channel, shift));
    y[second] = from_int8<T>(requantize(sums.a1, first_channel, shift));
    y[0] = from_int8<T>(requantize(sums.a0, first_channel, shift));
    y += 2 * plane;
  }
}

}  // namespace davit::int8_kernels

#endif
