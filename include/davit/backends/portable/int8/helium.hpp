// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/int8/requantize.hpp"
#include "davit/core/target.hpp"

#if defined(DAVIT_INT8_HELIUM)

namespace davit::int8_kernels {

// Inner loops are assembly because g++ 12 moves predicates through general registers before each use, copies vectors
// around narrowing moves, and spills if there are many accumulators, which must be even registers.

/// Four sums in one vector.
[[nodiscard, gnu::always_inline]] inline int32x4_t vector_of(std::int32_t a, std::int32_t b, std::int32_t c,
                                                             std::int32_t d) noexcept {
  int32x4_t v;
  asm("vmov %q0[2], %q0[0], %1, %3\n\tvmov %q0[3], %q0[1], %2, %4" : "=w"(v) : "r"(a), "r"(b), "r"(c), "r"(d));
  return v;
}

/// Stores the first `count` of four numbers with `Fraction` fractional bits, rounded down and clamped to int8: two
/// narrowing moves leave each in its lane's lowest byte.
template <std::int32_t Fraction = 0, class T>
[[gnu::always_inline]] inline void store_bytes(T* y, int32x4_t v, std::int32_t count) noexcept {
  if constexpr (Fraction == 0)
    asm("vqmovnb.s32 %q0, %q0\n\tvqmovnb.s16 %q0, %q0" : "+w"(v));
  else
    asm("vshr.s32 %q0, %q0, %1\n\tvqmovnb.s32 %q0, %q0\n\tvqmovnb.s16 %q0, %q0" : "+w"(v) : "i"(Fraction));
  if constexpr (flip<T> != 0) v = vaddq_n_s32(v, flip<T>);
  asm volatile("vctp.32 %2\n\tvpst\n\tvstrbt.32 %q0, [%1]" : : "w"(v), "l"(y), "r"(count) : "memory", "p0");
}

/// Stores the first `count` of four sums of one channel; `unit` is 1 << shift in every lane.
template <class T>
[[gnu::always_inline]] inline void store_sums(T* y, int32x4_t sums, int32x4_t unit, const Channel& c,
                                              std::int32_t count) noexcept {
  store_bytes<fraction_bits>(y, vmulhq_s32(vmlasq_n_s32(sums, unit, c.initial), vdupq_n_s32(c.multiplier)), count);
}

/// Sum of `n` bytes.
[[nodiscard, gnu::always_inline]] inline std::int32_t sum_of(const std::int8_t* p, std::int32_t n) noexcept {
  std::int32_t sum = 0;
  int8x16_t v;
  asm("wlstp.8 lr, %3, 2f\n"
      "1:\n\t"
      "vldrb.8 %q2, [%1], #16\n\t"
      "vaddva.s8 %0, %q2\n\t"
      "letp lr, 1b\n"
      "2:"
      : "+&Te"(sum), "+&r"(p), "=&w"(v)
      : "r"(n), "m"(*reinterpret_cast<const std::int8_t(*)[]>(p))
      : "lr");
  return sum;
}

/// Converts results from int8 to uint8.
[[gnu::always_inline]] inline void flip_bytes(std::int8_t* p, std::int32_t n) noexcept {
  int8x16_t v;
  asm volatile(
      "wlstp.8 lr, %2, 2f\n"
      "1:\n\t"
      "vldrb.8 %q1, [%0]\n\t"
      "vadd.i8 %q1, %q1, %3\n\t"
      "vstrb.8 %q1, [%0], #16\n\t"
      "letp lr, 1b\n"
      "2:"
      : "+&r"(p), "=&w"(v)
      : "r"(n), "r"(128)
      : "lr", "memory");
}

#if DAVIT_TARGET_HELIUM_FLOAT
/// Divides vectors lane by lane: Helium has no vector division.
[[nodiscard, gnu::always_inline]] inline float32x4_t divide(float32x4_t a, float32x4_t b) noexcept {
  register float32x4_t x asm("q0") = a;
  register float32x4_t y asm("q1") = b;
  asm("vdiv.f32 s0, s0, s4\n\tvdiv.f32 s1, s1, s5\n\tvdiv.f32 s2, s2, s6\n\tvdiv.f32 s3, s3, s7" : "+w"(x) : "w"(y));
  return x;
}
#endif

/// The Channels of four output channels.
struct FourChannels {
  int32x4_t initial;
  int32x4_t multiplier;
};

/// The Channels of the next `n` channels, at most four. Without scales or bias: `scale` and 0 for each.
[[nodiscard, gnu::always_inline]] inline FourChannels four_channels(const Requantize& q, const float* scales,
                                                                    float scale, const float* bias,
                                                                    std::int32_t n) noexcept {
#if DAVIT_TARGET_HELIUM_FLOAT
  const mve_pred16_t lanes = vctp32q(static_cast<std::uint32_t>(n));
  const float32x4_t multiplier =
      vmulq_n_f32(scales != nullptr ? vldrwq_z_f32(scales, lanes) : vdupq_n_f32(scale), q.ratio);
  const float32x4_t offset = bias != nullptr ? vldrwq_z_f32(bias, lanes) : vdupq_n_f32(0.0f);
  const float32x4_t at_zero = vaddq_n_f32(divide(offset, vdupq_n_f32(q.output_scale)), q.output_offset);
  const float32x4_t doubled = divide(vmulq_n_f32(at_zero, twice_one), multiplier);
  const float32x4_t limit = vdupq_n_f32(2147483520.0f);
  const int32x4_t bounded = vcvtq_s32_f32(vmaxnmq_f32(vminnmq_f32(doubled, limit), vnegq_f32(limit)));
  return {vshrq_n_s32(vaddq_n_s32(bounded, 1), 1), vcvtq_s32_f32(multiplier)};
#else
  Channel c[4];
  for (std::int32_t i = 0; i < 4 && i < n; ++i)
    c[i] = channel_of(q, scales != nullptr ? scales[i] : scale, bias != nullptr ? bias[i] : 0.0f);
  return {vector_of(c[0].initial, c[1].initial, c[2].initial, c[3].initial),
          vector_of(c[0].multiplier, c[1].multiplier, c[2].multiplier, c[3].multiplier)};
#endif
}

/// Writes the Channels of `n` output channels to a table; `initial` also subtracts the input's zero point.
[[gnu::always_inline]] inline void make_channels(helium, Channel* to, std::int32_t n, const std::int8_t* weights,
                                                 std::int32_t k, const float* scales, float scale, const float* bias,
                                                 const Requantize& q) noexcept {
  const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), sizeof(Channel));
  for (std::int32_t o = 0; o < n; o += 4) {
    const FourChannels four =
        four_channels(q, scales != nullptr ? scales + o : nullptr, scale, bias != nullptr ? bias + o : nullptr, n - o);
    const mve_pred16_t lanes = vctp32q(static_cast<std::uint32_t>(n - o));
    vstrwq_scatter_offset_p_s32(&to[o].initial, offsets, four.initial, lanes);
    vstrwq_scatter_offset_p_s32(&to[o].multiplier, offsets, four.multiplier, lanes);
  }
  if (q.input_zero_point == 0) return;
  for (Channel* const end = to + n; to != end; ++to, weights += k)
    to->initial -= (sum_of(weights, k) * q.input_zero_point) << q.shift;
}

}  // namespace davit::int8_kernels

#endif
