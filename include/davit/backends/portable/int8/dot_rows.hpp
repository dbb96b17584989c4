// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/int8/dsp.hpp"
#include "davit/backends/portable/int8/helium.hpp"
#include "davit/backends/portable/int8/isa.hpp"

namespace davit::int8_kernels {

/// Elements of weights: int8, or uint8 for two weights of 4 bits (PackedLayout::rows): of `n` weights side by side,
/// byte i holds weight i in its low bits and weight n / 2 + i in its high bits.
template <class W>
concept WeightBytes = std::same_as<W, std::int8_t> || std::same_as<W, std::uint8_t>;

/// Bytes of `n` weights; n is even for weights of 4 bits.
template <WeightBytes W>
[[nodiscard, gnu::always_inline]] constexpr std::int32_t bytes_of(std::int32_t n) noexcept {
  return std::is_same_v<W, std::int8_t> ? n : n / 2;
}
/// The weights of 4 bits in a byte.
[[nodiscard, gnu::always_inline]] constexpr std::int32_t low_weight(std::uint8_t byte) noexcept {
  return static_cast<std::int8_t>(byte << 4) >> 4;
}
[[nodiscard, gnu::always_inline]] constexpr std::int32_t high_weight(std::uint8_t byte) noexcept {
  return static_cast<std::int8_t>(byte) >> 4;
}

/// Sums of one row with two rows of weights, minus the input's zero point.
struct TwoSums {
  std::int32_t a = 0, b = 0;
};

/// @name dot_rows: the sums of (x[i] - zero) * a[i], and of (x[i] - zero) * b[i], of `n` weights.
///
/// Instruction sets take weights of 4 bits at 16 times their value, in the high bits of bytes: n <= 65536.
/// @{
template <class T, WeightBytes W>
[[nodiscard, gnu::always_inline]] constexpr TwoSums dot_rows(plain, const T* x, const W* a, const W* b, std::int32_t n,
                                                             std::int32_t zero) noexcept {
  TwoSums sums;
  for (std::int32_t i = 0; i < bytes_of<W>(n); ++i) {
    const std::int32_t v = to_int8(x[i]) - zero;
    if constexpr (std::is_same_v<W, std::int8_t>) {
      sums.a += v * a[i];
      sums.b += v * b[i];
    } else {
      const std::int32_t u = to_int8(x[n / 2 + i]) - zero;
      sums.a += v * low_weight(a[i]) + u * high_weight(a[i]);
      sums.b += v * low_weight(b[i]) + u * high_weight(b[i]);
    }
  }
  return sums;
}

#if defined(DAVIT_INT8_DSP)
template <class T, WeightBytes W>
[[nodiscard, gnu::always_inline]] inline TwoSums dot_rows(dsp, const T* x, const W* a, const W* b, std::int32_t n,
                                                          std::int32_t zero) noexcept {
  const std::int32_t offset = pair_of(-zero, -zero);
  TwoSums sums;
  const auto add = [&](std::uint32_t v, std::uint32_t wa, std::uint32_t wb) {
    v ^= flip<T> * 0x01010101u;
    const std::int32_t even = __sxtab16(offset, v);
    const std::int32_t odd = add_odd_bytes(offset, v);
    sums.a = __smlad(odd, odd_bytes(wa), __smlad(even, even_bytes(wa), sums.a));
    sums.b = __smlad(odd, odd_bytes(wb), __smlad(even, even_bytes(wb), sums.b));
  };
  if constexpr (std::is_same_v<W, std::int8_t>) {
    for (const T* end = x + (n & ~3); x != end; x += 4, a += 4, b += 4) add(load_word(x), load_word(a), load_word(b));
    if ((n & 3) != 0)
      add(load_some(reinterpret_cast<const std::int8_t*>(x), n & 3), load_some(a, n & 3), load_some(b, n & 3));
    return sums;
  } else {
    const std::int32_t half = n / 2;
    const auto add_halves = [&](std::uint32_t low, std::uint32_t high, std::uint32_t wa, std::uint32_t wb) {
      add(low, wa << 4 & 0xf0f0f0f0u, wb << 4 & 0xf0f0f0f0u);
      add(high, wa & 0xf0f0f0f0u, wb & 0xf0f0f0f0u);
    };
    for (const T* end = x + (half & ~3); x != end; x += 4, a += 4, b += 4)
      add_halves(load_word(x), load_word(x + half), load_word(a), load_word(b));
    const auto some = [&](const auto* p) { return load_some(reinterpret_cast<const std::int8_t*>(p), half & 3); };
    if ((half & 3) != 0) add_halves(some(x), some(x + half), some(a), some(b));
    return {sums.a >> 4, sums.b >> 4};
  }
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
template <class T>
[[nodiscard, gnu::always_inline]] inline TwoSums dot_rows(helium, const T* x, const std::uint8_t* a,
                                                          const std::uint8_t* b, std::int32_t n,
                                                          std::int32_t zero) noexcept {
  TwoSums sums;
  TwoSums totals;
  const T* high = x + n / 2;
  int8x16_t v, u, w, l;
  asm volatile(
      "wlstp.8 lr, %[n], 2f\n"
      "1:\n\t"
      "vldrb.8 %q[v], [%[x]], #16\n\t"
      "vldrb.8 %q[u], [%[high]], #16\n\t"
      ".if %c[flip]\n\t"
      "vadd.i8 %q[v], %q[v], %q[flips]\n\t"
      "vadd.i8 %q[u], %q[u], %q[flips]\n\t"
      ".endif\n\t"
      "vldrb.8 %q[w], [%[a]], #16\n\t"
      "vshl.i8 %q[l], %q[w], #4\n\t"
      "vand %q[w], %q[w], %q[mask]\n\t"
      "vmladava.s8 %[sum_a], %q[v], %q[l]\n\t"
      "vmladava.s8 %[sum_a], %q[u], %q[w]\n\t"
      "vaddva.s8 %[total_a], %q[l]\n\t"
      "vaddva.s8 %[total_a], %q[w]\n\t"
      "vldrb.8 %q[w], [%[b]], #16\n\t"
      "vshl.i8 %q[l], %q[w], #4\n\t"
      "vand %q[w], %q[w], %q[mask]\n\t"
      "vmladava.s8 %[sum_b], %q[v], %q[l]\n\t"
      "vmladava.s8 %[sum_b], %q[u], %q[w]\n\t"
      "vaddva.s8 %[total_b], %q[l]\n\t"
      "vaddva.s8 %[total_b], %q[w]\n\t"
      "letp lr, 1b\n"
      "2:"
      : [sum_a] "+&Te"(sums.a), [sum_b] "+&Te"(sums.b), [total_a] "+&Te"(totals.a), [total_b] "+&Te"(totals.b),
        [x] "+&r"(x), [high] "+&r"(high), [a] "+&r"(a), [b] "+&r"(b), [v] "=&w"(v), [u] "=&w"(u), [w] "=&w"(w),
        [l] "=&w"(l)
      : [n] "r"(n / 2), [flip] "i"(flip<T>), [flips] "w"(vdupq_n_u8(flip<T>)), [mask] "w"(vdupq_n_u8(0xf0))
      : "lr", "memory");
  return {(sums.a - totals.a * zero) >> 4, (sums.b - totals.b * zero) >> 4};
}
#endif
/// @}

}  // namespace davit::int8_kernels
