// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/int8/columns.hpp"

#if defined(DAVIT_INT8_HELIUM)

namespace davit::int8_kernels {

/// The first `count` of four sums as bytes: two narrowing steps leave each in the lowest byte of its lane.
template <class T>
[[gnu::always_inline]] inline void store_sums(T* y, int32x4_t sums, const Channel& c, std::int32_t shift,
                                              std::int32_t count) noexcept {
  const int32x4_t v = vrmulhq_s32(vaddq_n_s32(vshlq_r_s32(sums, shift), c.initial), vdupq_n_s32(c.multiplier));
  const int16x8_t halves = vqmovnbq_s32(vreinterpretq_s16_s32(v), v);
  int32x4_t bytes = vreinterpretq_s32_s8(vqmovnbq_s16(vreinterpretq_s8_s16(halves), halves));
  if constexpr (flip<T> != 0) bytes = veorq_s32(bytes, vdupq_n_s32(flip<T>));
  auto* const to = reinterpret_cast<std::int8_t*>(y);
  if (count >= 4)
    vstrbq_s32(to, bytes);
  else
    vstrbq_p_s32(to, bytes, vctp32q(static_cast<std::uint32_t>(count)));
}

/// Four sums in one vector.
[[nodiscard, gnu::always_inline]] inline int32x4_t vector_of(std::int32_t a, std::int32_t b, std::int32_t c,
                                                             std::int32_t d) noexcept {
  int32x4_t v = vdupq_n_s32(a);
  v = vsetq_lane_s32(b, v, 1);
  v = vsetq_lane_s32(c, v, 2);
  return vsetq_lane_s32(d, v, 3);
}

/// Gathers eight channels of a pixel in one load. The last load of a pixel reads only what is left.
template <class T>
[[gnu::always_inline]] inline void fill_pointwise(helium, std::int8_t* columns, const T* x, const Conv2dShape& s,
                                                  std::int32_t count, std::int32_t /*zero*/) noexcept {
  const std::int32_t plane = s.in_h * s.in_w;
  const std::int32_t stride = padded(s.in_channels);
  if (plane > 9362) {  // the eighth offset would not fit 16 bits
    for (std::int32_t c = 0; c < s.in_channels; ++c, x += plane)
      for (std::int32_t p = 0; p < count; ++p) columns[p * stride + c] = to_int8(x[p]);
    return;
  }
  const uint16x8_t offsets = vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<std::uint16_t>(plane));
  for (std::int32_t p = 0; p < count; ++p, columns += stride) {
    const T* from = x + p;
    for (std::int32_t c = 0; c < s.in_channels; c += 8, from += 8 * plane) {
      const mve_pred16_t lanes = vctp16q(static_cast<std::uint32_t>(s.in_channels - c));
      uint16x8_t v = vldrbq_gather_offset_z_u16(reinterpret_cast<const std::uint8_t*>(from), offsets, lanes);
      if constexpr (flip<T> != 0) v = veorq_u16(v, vdupq_n_u16(flip<T>));
      vstrbq_u16(reinterpret_cast<std::uint8_t*>(columns + c), v);
    }
  }
}

/// One output channel by four pixels: 64 products in 9 instructions and the loop's own.
template <class T>
[[gnu::always_inline]] inline void multiply_columns(helium, const std::int8_t* columns, std::int32_t stride,
                                                    const std::int8_t* weights, std::int32_t k, const Channel* channels,
                                                    std::int32_t out_channels, T* y, std::int32_t plane,
                                                    std::int32_t count, const Requantize& q) noexcept {
  const std::int32_t shift = q.shift;
  for (; out_channels > 0; --out_channels, ++channels, y += plane) {
    std::int32_t a = 0;
    std::int32_t b = 0;
    std::int32_t c = 0;
    std::int32_t d = 0;
    const std::int8_t* x = columns;
    const std::int8_t* const third = columns + 2 * stride;
    const auto add = [&](int8x16_t w) {
      const std::int8_t* const z = x + (third - columns);
      a = vmladavaq_s8(a, w, vldrbq_s8(x));
      b = vmladavaq_s8(b, w, vldrbq_s8(x + stride));
      c = vmladavaq_s8(c, w, vldrbq_s8(z));
      d = vmladavaq_s8(d, w, vldrbq_s8(z + stride));
    };
    for (const std::int8_t* end = weights + (k & ~15); weights != end; weights += 16, x += 16) add(vldrbq_s8(weights));
    if ((k & 15) != 0) {
      add(vldrbq_z_s8(weights, vctp8q(static_cast<std::uint32_t>(k & 15))));
      weights += k & 15;
    }
    store_sums(y, vector_of(a, b, c, d), *channels, shift, count);
  }
}

}  // namespace davit::int8_kernels

#endif
