// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/int8/helium.hpp"
#include "davit/backends/portable/int8/requantize.hpp"

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

namespace davit::int8_kernels {

/// Rows of `block` elements, `stride` apart in the output, from element `offset` on: a part of a concatenation, or the
/// whole output.
struct Blocks {
  std::int32_t count = 1, block = 0, stride = 0, offset = 0;
};

struct Rescale {
  Blocks blocks;
  std::int32_t multiplier = 0, shift = 0;  ///< input scale / output scale
  std::int32_t input_zero_point = 0, output_zero_point = 0;
  std::int32_t low = -128, high = 127;
};

/// y = clamp(x at another scale and zero point): relu, relu6, a second quantization, a part of a concatenation.
template <class T>
[[gnu::always_inline]] constexpr void rescale(const T* x, T* y, const Rescale& p) noexcept {
  y += p.blocks.offset;
  for (std::int32_t b = 0; b < p.blocks.count; ++b, x += p.blocks.block, y += p.blocks.stride)
    for (std::int32_t i = 0; i < p.blocks.block; ++i) {
      const std::int32_t v =
          multiply_high((to_int8(x[i]) - p.input_zero_point) << p.shift, p.multiplier) + p.output_zero_point;
      y[i] = from_int8<T>(v < p.low ? p.low : v > p.high ? p.high : v);
    }
}

/// y = bytes of x, block by block.
template <class T>
[[gnu::always_inline]] constexpr void copy_blocks(const T* x, T* y, const Blocks& p) noexcept {
  y += p.offset;
#if defined(DAVIT_INT8_HELIUM)
  if (!std::is_constant_evaluated()) {
    for (std::int32_t b = 0; b < p.count; ++b, x += p.block, y += p.stride) copy_bytes(y, x, p.block);
    return;
  }
#endif
  for (std::int32_t b = 0; b < p.count; ++b, x += p.block, y += p.stride)
    for (std::int32_t i = 0; i < p.block; ++i) y[i] = x[i];
}

/// An operand of an elementwise operator: element i, or always element 0.
struct Add {
  std::int32_t count = 0, a_step = 1, b_step = 1;
  std::int32_t a_multiplier = 0, b_multiplier = 0;  ///< scale / output scale, times 2^shift
  std::int32_t initial = 0;                         ///< both zero points, the output's, and half a step for rounding
  std::int32_t shift = 0;
  std::int32_t low = -128, high = 127;
};

/// y = a + b, each at its own scale. Source: torch.add with alpha 1 between dequantize and quantize.
template <class Isa = native, class T>
[[gnu::always_inline]] constexpr void add(const T* a, const T* b, T* y, const Add& p) noexcept {
#if defined(DAVIT_INT8_HELIUM)
  if (std::is_same_v<Isa, helium> && !std::is_constant_evaluated())
    return map_binary_fours(a, b, y, p, 0, 0, [&](int32x4_t u, int32x4_t v) {
      const int32x4_t sum = vmlaq_n_s32(vmlaq_n_s32(vdupq_n_s32(p.initial), u, p.a_multiplier), v, p.b_multiplier);
      return vshlq_r_s32(sum, -p.shift);
    });
#endif
  for (std::int32_t i = 0; i < p.count; ++i, a += p.a_step, b += p.b_step) {
    const std::int32_t v = (p.initial + to_int8(*a) * p.a_multiplier + to_int8(*b) * p.b_multiplier) >> p.shift;
    y[i] = from_int8<T>(v < p.low ? p.low : v > p.high ? p.high : v);
  }
}

struct Mul {
  std::int32_t count = 0, a_step = 1, b_step = 1;
  std::int32_t a_zero_point = 0, b_zero_point = 0, output_zero_point = 0;
  std::int32_t multiplier = 0, shift = 0;  ///< product of the scales / output scale
  std::int32_t low = -128, high = 127;
};

/// y = a * b, each at its own scale. Source: torch.mul between dequantize and quantize.
template <class Isa = native, class T>
[[gnu::always_inline]] constexpr void mul(const T* a, const T* b, T* y, const Mul& p) noexcept {
#if defined(DAVIT_INT8_HELIUM)
  if (std::is_same_v<Isa, helium> && !std::is_constant_evaluated())
    return map_binary_fours(a, b, y, p, p.a_zero_point, p.b_zero_point, [&](int32x4_t u, int32x4_t v) {
      const int32x4_t scaled = vrmulhq_s32(vshlq_r_s32(vmulq_s32(u, v), p.shift), vdupq_n_s32(p.multiplier));
      return vaddq_n_s32(scaled, p.output_zero_point);
    });
#endif
  for (std::int32_t i = 0; i < p.count; ++i, a += p.a_step, b += p.b_step) {
    const std::int32_t product = (to_int8(*a) - p.a_zero_point) * (to_int8(*b) - p.b_zero_point);
    const std::int32_t v = multiply_high(product << p.shift, p.multiplier) + p.output_zero_point;
    y[i] = from_int8<T>(v < p.low ? p.low : v > p.high ? p.high : v);
  }
}

/// y[i] = table[x[i]], where the table is indexed by x's bytes as unsigned: any function of one quantized value.
template <class T>
[[gnu::always_inline]] constexpr void lookup(const T* x, const std::int8_t* table, T* y, std::int32_t n) noexcept {
#if defined(DAVIT_INT8_HELIUM)
  if (!std::is_constant_evaluated()) return lookup_bytes(x, table, y, n);
#endif
  for (std::int32_t i = 0; i < n; ++i) y[i] = static_cast<T>(table[static_cast<std::uint8_t>(x[i])]);
}

struct Permute {
  std::int32_t sizes[4] = {1, 1, 1, 1};    ///< of the output
  std::int32_t strides[4] = {0, 0, 0, 0};  ///< in the input
};

/// y = permuted x.
template <class T>
[[gnu::always_inline]] constexpr void permute(const T* x, T* y, const Permute& p) noexcept {
  for (std::int32_t a = 0; a < p.sizes[0]; ++a)
    for (std::int32_t b = 0; b < p.sizes[1]; ++b)
      for (std::int32_t c = 0; c < p.sizes[2]; ++c) {
        const T* from = x + (a * p.strides[0] + b * p.strides[1] + c * p.strides[2]);
        for (std::int32_t d = 0; d < p.sizes[3]; ++d, from += p.strides[3]) *y++ = *from;
      }
}

}  // namespace davit::int8_kernels
