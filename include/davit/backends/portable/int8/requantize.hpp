// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/int8/isa.hpp"
#include "davit/core/target.hpp"

namespace davit::int8_kernels {

/// The fractional bits of the products' high halves. A constant: SSAT and VSHR encode it in the instruction.
inline constexpr std::int32_t fraction_bits = 8;

/// Converts 32-bit sums to 8-bit results: y = ((sum << shift) + initial) * multiplier >> 32 >> fraction_bits, clamped
/// to int8.
///
/// One multiplication that keeps the high half, then a shift that rounds down: SMMUL, and SSAT which shifts and clamps,
/// on Cortex-M4, VMULH and VSHR on Helium. `initial` is the bias, the output's zero point and half a step, with
/// fractional bits: find_requantize chooses their number.
struct Requantize {
  float ratio = 0;  ///< input scale / output scale * 2^(32 + fraction_bits - shift)
  float output_scale = 1;
  float output_offset = 0.5f;  ///< the zero point and half a step, so that rounding down is rounding half up
  std::int32_t shift = 0;
  std::int32_t input_zero_point = 0;
  std::int32_t low = -128;  ///< a folded relu, relu6 or clamp
  std::int32_t high = 127;
};

/// The summand and the factor of an output channel's sum.
struct Channel {
  std::int32_t initial = 0;
  std::int32_t multiplier = 0;
};

/// Two steps, in units of products.
inline constexpr float twice_one = 8589934592.0f * (1 << fraction_bits);

/// Computes the summand and the factor of a channel from its weight scale and bias, as the model stores them: about 20
/// instructions, where a table from constant evaluation would cost 8 bytes of flash per channel beside them (25 KB for
/// a MobileNet of 3,200 channels, to save 0.3 % of its instructions). No product is added to a number, so contraction
/// to fused operations cannot change a bit.
[[nodiscard, gnu::always_inline]] constexpr Channel channel_of(const Requantize& q, float weight_scale,
                                                               float bias) noexcept {
  constexpr float limit = 2147483520.0f;
  const float multiplier = weight_scale * q.ratio;
  const float at_zero = bias / q.output_scale + q.output_offset;
  const float doubled = at_zero * twice_one / multiplier;
  const float bounded = doubled < limit ? (doubled > -limit ? doubled : -limit) : limit;
  return {(static_cast<std::int32_t>(bounded) + 1) >> 1, static_cast<std::int32_t>(multiplier)};
}

/// The rounded high half of the product.
[[nodiscard, gnu::always_inline]] constexpr std::int32_t multiply_high(std::int32_t a, std::int32_t b) noexcept {
#if DAVIT_TARGET_ARM_DSP
  if (!std::is_constant_evaluated()) {
    std::int32_t high;
    asm("smmulr %0, %1, %2" : "=r"(high) : "r"(a), "r"(b));
    return high;
  }
#endif
  return static_cast<std::int32_t>((static_cast<std::int64_t>(a) * b + (std::int64_t{1} << 31)) >> 32);
}

[[nodiscard, gnu::always_inline]] constexpr std::int32_t saturate(std::int32_t v) noexcept {
#if DAVIT_TARGET_ARM_SATURATION
  if (!std::is_constant_evaluated()) {
    asm("ssat %0, #8, %1" : "=r"(v) : "r"(v));
    return v;
  }
#endif
  return v < -128 ? -128 : v > 127 ? 127 : v;
}

[[nodiscard, gnu::always_inline]] constexpr std::int32_t requantize(std::int32_t sum, const Channel& c,
                                                                    std::int32_t shift) noexcept {
  const std::int32_t v = (sum << shift) + c.initial;
#if DAVIT_TARGET_ARM_DSP && DAVIT_TARGET_ARM_SATURATION
  if (!std::is_constant_evaluated()) {
    std::int32_t y;
    asm("smmul %0, %1, %2" : "=r"(y) : "r"(v), "r"(c.multiplier));
    asm("ssat %0, #8, %1, asr %2" : "=r"(y) : "r"(y), "i"(fraction_bits));
    return y;
  }
#endif
  return saturate(static_cast<std::int32_t>(static_cast<std::int64_t>(v) * c.multiplier >> (32 + fraction_bits)));
}

/// Clamps a kernel's results to narrower bounds than int8's; separate from the kernels because bounds mostly are
/// int8's.
template <class T>
[[gnu::always_inline]] constexpr void clamp_outputs(T* y, std::int32_t n, const Requantize& q) noexcept {
  if (q.low == -128 && q.high == 127) return;
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t v = to_int8(y[i]);
    y[i] = from_int8<T>(v < q.low ? q.low : v > q.high ? q.high : v);
  }
}

}  // namespace davit::int8_kernels
