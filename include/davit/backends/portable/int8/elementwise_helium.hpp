// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/int8/helium.hpp"

#if defined(DAVIT_INT8_HELIUM)

namespace davit::int8_kernels {

/// An operand with element i at i * step, four at a time.
template <class T>
class Fours {
 public:
  [[gnu::always_inline]] Fours(const T* from, std::int32_t step) noexcept
      : from_(reinterpret_cast<const std::uint8_t*>(from)),
        offsets_(vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<std::uint32_t>(step))),
        step_(4 * step) {}

  /// Returns the next four elements in int8 form minus `zero`.
  [[nodiscard, gnu::always_inline]] int32x4_t next(mve_pred16_t lanes, std::int32_t zero) noexcept {
    const uint32x4_t bytes = vldrbq_gather_offset_z_u32(from_, offsets_, lanes);
    from_ += step_;
    if constexpr (flip<T> != 0) return vsubq_n_s32(vreinterpretq_s32_u32(bytes), zero + flip<T>);
    return vsubq_n_s32(vmovlbq_s16(vmovlbq_s8(vreinterpretq_s8_u32(bytes))), zero);
  }

 private:
  const std::uint8_t* from_;
  uint32x4_t offsets_;
  std::int32_t step_;
};

/// y[i] = clamp(f(a, b)): f takes four elements of each, minus their zero points.
template <class T, class P, class F>
[[gnu::always_inline]] inline void map_binary_fours(const T* a, const T* b, T* y, const P& p, std::int32_t a_zero,
                                                    std::int32_t b_zero, F&& f) noexcept {
  Fours<T> left(a, p.a_step);
  Fours<T> right(b, p.b_step);
  const int32x4_t low = vdupq_n_s32(p.low);
  const int32x4_t high = vdupq_n_s32(p.high);
  for (std::int32_t n = p.count; n > 0; n -= 4, y += 4) {
    const mve_pred16_t lanes = vctp32q(static_cast<std::uint32_t>(n));
    const int32x4_t v = f(left.next(lanes, a_zero), right.next(lanes, b_zero));
    store_bytes(y, vminq_s32(vmaxq_s32(v, low), high), n);
  }
}

/// Copies `n` bytes.
[[gnu::always_inline]] inline void copy_bytes(void* to, const void* from, std::int32_t n) noexcept {
  int8x16_t v;
  asm volatile(
      "wlstp.8 lr, %3, 2f\n"
      "1:\n\t"
      "vldrb.8 %q2, [%1], #16\n\t"
      "vstrb.8 %q2, [%0], #16\n\t"
      "letp lr, 1b\n"
      "2:"
      : "+&r"(to), "+&r"(from), "=&w"(v)
      : "r"(n)
      : "lr", "memory");
}

/// y[i] = table[x[i]] for `n` bytes.
[[gnu::always_inline]] inline void lookup_bytes(const void* x, const std::int8_t* table, void* y,
                                                std::int32_t n) noexcept {
  uint8x16_t offsets, v;
  asm volatile(
      "wlstp.8 lr, %5, 2f\n"
      "1:\n\t"
      "vldrb.8 %q2, [%1], #16\n\t"
      "vldrb.u8 %q3, [%4, %q2]\n\t"
      "vstrb.8 %q3, [%0], #16\n\t"
      "letp lr, 1b\n"
      "2:"
      : "+&r"(y), "+&r"(x), "=&w"(offsets), "=&w"(v)
      : "r"(table), "r"(n)
      : "lr", "memory");
}

}  // namespace davit::int8_kernels

#endif
