// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/int8/columns.hpp"
#include "davit/backends/portable/int8/helium.hpp"

#if defined(DAVIT_INT8_HELIUM)

namespace davit::int8_kernels {

// Rows of the input are interleaved: a word holds a column's bytes of four rows. Then 16 bytes hold all operands of two
// columns of outputs (in two rows if the stride is 1), and one instruction sums an output's nine products.

/// Words of interleaved, padded rows; whole vectors are written and read.
[[nodiscard]] constexpr std::int32_t interleaved_words(const Conv2dShape& s) noexcept {
  const std::int32_t written = s.pad_w + ((s.in_w + 15) & ~15) + 2;
  const std::int32_t read = (((s.out_w + 3) & ~3) - 1) * s.stride_w + 4;
  return written > read ? written : read;
}

/// Bytes of scratch: the Channels of four channels, the words and a row of padding.
[[nodiscard]] constexpr std::size_t depthwise_scratch(const Conv2dShape& s) noexcept {
  return 4 * sizeof(Channel) + static_cast<std::size_t>(4 * interleaved_words(s) + ((s.in_w + 3) & ~3));
}

/// The lanes of an output's taps among four columns of four rows, for the first or the second of two columns. Weights
/// are read at the given offsets; other lanes are 0.
struct TapLanes {
  alignas(16) std::uint8_t offsets[16];
  mve_pred16_t lanes;
};
inline constexpr TapLanes left_taps{{0, 3, 6, 0, 1, 4, 7, 0, 2, 5, 8}, 0x0777};
inline constexpr TapLanes right_taps{{0, 0, 0, 0, 0, 3, 6, 0, 1, 4, 7, 0, 2, 5, 8}, 0x7770};

[[nodiscard, gnu::always_inline]] inline int8x16_t taps_of(const std::int8_t* weights, const TapLanes& t) noexcept {
  return vldrbq_gather_offset_z_s8(weights, vldrbq_u8(t.offsets), t.lanes);
}
/// The lanes for the row of outputs below.
[[nodiscard, gnu::always_inline]] inline int8x16_t one_lower(int8x16_t taps) noexcept {
  return vreinterpretq_s8_s32(vshlq_n_s32(vreinterpretq_s32_s8(taps), 8));
}

/// Interleaves `n` columns of four rows. Writes 16 words at a time.
template <class T>
[[gnu::always_inline]] inline void interleave(std::int8_t* to, const T* a, const T* b, const T* c, const T* d,
                                              std::int32_t n) noexcept {
  for (; n > 0; n -= 16) {
    register int8x16_t va asm("q0");
    register int8x16_t vb asm("q1");
    register int8x16_t vc asm("q2");
    register int8x16_t vd asm("q3");
    asm volatile(
        "vctp.8 %8\n\t"
        "vpstttt\n\t"
        "vldrbt.8 %q0, [%4], #16\n\t"
        "vldrbt.8 %q1, [%5], #16\n\t"
        "vldrbt.8 %q2, [%6], #16\n\t"
        "vldrbt.8 %q3, [%7], #16"
        : "=w"(va), "=w"(vb), "=w"(vc), "=w"(vd), "+&r"(a), "+&r"(b), "+&r"(c), "+&r"(d)
        : "r"(n)
        : "memory", "p0");
    if constexpr (flip<T> != 0) {
      va = vaddq_n_s8(va, static_cast<std::int8_t>(flip<T>));
      vb = vaddq_n_s8(vb, static_cast<std::int8_t>(flip<T>));
      vc = vaddq_n_s8(vc, static_cast<std::int8_t>(flip<T>));
      vd = vaddq_n_s8(vd, static_cast<std::int8_t>(flip<T>));
    }
    asm volatile(
        "vst40.8 {%q1, %q2, %q3, %q4}, [%0]\n\t"
        "vst41.8 {%q1, %q2, %q3, %q4}, [%0]\n\t"
        "vst42.8 {%q1, %q2, %q3, %q4}, [%0]\n\t"
        "vst43.8 {%q1, %q2, %q3, %q4}, [%0]!"
        : "+&r"(to)
        : "w"(va), "w"(vb), "w"(vc), "w"(vd)
        : "memory");
  }
}

/// Computes `pairs` pairs of columns of two rows of outputs: four outputs in 15 instructions. `lanes` are stored.
[[gnu::always_inline]] inline void depthwise_pairs(const std::int8_t* words, int8x16_t left, int8x16_t right,
                                                   uint32x4_t places, int32x4_t unit, const Channel& channel,
                                                   std::int8_t* y, std::int32_t pairs, std::uint32_t lanes) noexcept {
  const int8x16_t lower_left = one_lower(left);
  const int8x16_t lower_right = one_lower(right);
  std::int32_t a, b, c, d;
  int32x4_t v;
  asm volatile(
      "vmsr p0, %[lanes]\n\t"
      "wls lr, %[pairs], 2f\n"
      "1:\n\t"
      "vldrb.8 %q[v], [%[words]], #8\n\t"
      "vmladav.s8 %[a], %q[left], %q[v]\n\t"
      "vmladav.s8 %[c], %q[lower_left], %q[v]\n\t"
      "vmladav.s8 %[b], %q[right], %q[v]\n\t"
      "vmladav.s8 %[d], %q[lower_right], %q[v]\n\t"
      "vmov %q[v][2], %q[v][0], %[a], %[c]\n\t"
      "vmov %q[v][3], %q[v][1], %[b], %[d]\n\t"
      "vmlas.s32 %q[v], %q[unit], %[initial]\n\t"
      "vmulh.s32 %q[v], %q[v], %q[multiplier]\n\t"
      "vshr.s32 %q[v], %q[v], %[fraction]\n\t"
      "vqmovnb.s32 %q[v], %q[v]\n\t"
      "vqmovnb.s16 %q[v], %q[v]\n\t"
      "vpst\n\t"
      "vstrbt.32 %q[v], [%[y], %q[places]]\n\t"
      "add %[y], #2\n\t"
      "le lr, 1b\n"
      "2:"
      : [words] "+&r"(words), [y] "+&r"(y), [a] "=&Te"(a), [b] "=&Te"(b), [c] "=&Te"(c), [d] "=&Te"(d), [v] "=&w"(v)
      : [left] "w"(left), [right] "w"(right), [lower_left] "w"(lower_left), [lower_right] "w"(lower_right),
        [unit] "w"(unit), [multiplier] "w"(vdupq_n_s32(channel.multiplier)), [places] "w"(places),
        [initial] "r"(channel.initial), [fraction] "i"(fraction_bits), [pairs] "r"(pairs), [lanes] "r"(lanes)
      : "lr", "memory", "cc", "p0");
}

/// Computes `n` columns of one row of outputs, `step` bytes of words apart: four outputs in 23 instructions.
[[gnu::always_inline]] inline void depthwise_row(const std::int8_t* words, std::int32_t step, int8x16_t taps,
                                                 int32x4_t unit, const Channel& channel, std::int8_t* y,
                                                 std::int32_t n) noexcept {
  std::int32_t a, b, c, d;
  int32x4_t v, z;
  asm volatile(
      "1:\n\t"
      "vldrb.8 %q[v], [%[words]]\n\t"
      "add %[words], %[step]\n\t"
      "vldrb.8 %q[z], [%[words]]\n\t"
      "vmladav.s8 %[a], %q[taps], %q[v]\n\t"
      "add %[words], %[step]\n\t"
      "vmladav.s8 %[b], %q[taps], %q[z]\n\t"
      "vldrb.8 %q[v], [%[words]]\n\t"
      "add %[words], %[step]\n\t"
      "vldrb.8 %q[z], [%[words]]\n\t"
      "vmladav.s8 %[c], %q[taps], %q[v]\n\t"
      "add %[words], %[step]\n\t"
      "vmladav.s8 %[d], %q[taps], %q[z]\n\t"
      "vmov %q[v][2], %q[v][0], %[a], %[c]\n\t"
      "vmov %q[v][3], %q[v][1], %[b], %[d]\n\t"
      "vmlas.s32 %q[v], %q[unit], %[initial]\n\t"
      "vmulh.s32 %q[v], %q[v], %q[multiplier]\n\t"
      "vctp.32 %[n]\n\t"
      "vshr.s32 %q[v], %q[v], %[fraction]\n\t"
      "vqmovnb.s32 %q[v], %q[v]\n\t"
      "vqmovnb.s16 %q[v], %q[v]\n\t"
      "vpst\n\t"
      "vstrbt.32 %q[v], [%[y]], #4\n\t"
      "subs %[n], #4\n\t"
      "bgt 1b"
      : [words] "+&r"(words), [y] "+&l"(y), [n] "+&r"(n), [a] "=&Te"(a), [b] "=&Te"(b), [c] "=&Te"(c), [d] "=&Te"(d),
        [v] "=&w"(v), [z] "=&w"(z)
      : [taps] "w"(taps), [unit] "w"(unit), [multiplier] "w"(vdupq_n_s32(channel.multiplier)),
        [initial] "r"(channel.initial), [fraction] "i"(fraction_bits), [step] "r"(step)
      : "memory", "cc", "p0");
}

/// `depthwise3x3`, with two rows of outputs at a time if the stride is 1.
template <class T>
[[gnu::always_inline]] inline void depthwise_planes(const T* x, const std::int8_t* weights, const float* scales,
                                                    const float* bias, T* y, std::int32_t* scratch,
                                                    const Conv2d& p) noexcept {
  const Conv2dShape& s = p.shape;
  const std::int32_t channels = s.groups * s.out_channels;
  const std::int32_t rows = s.stride_w == 1 && s.stride_h == 1 ? 2 : 1;
  Channel* const four = reinterpret_cast<Channel*>(scratch);
  std::int8_t* const words = reinterpret_cast<std::int8_t*>(four + 4);
  std::int8_t* const inner = words + 4 * s.pad_w;
  std::int8_t* const empty = words + 4 * interleaved_words(s);
  fill_row(words, p.q.input_zero_point, 4 * s.pad_w);
  fill_row(empty, from_int8<std::int8_t>(p.q.input_zero_point) ^ flip<T>, s.in_w);
  const int32x4_t unit = vdupq_n_s32(1 << p.q.shift);
  const uint32x4_t places = {0, 1, static_cast<std::uint32_t>(s.out_w), static_cast<std::uint32_t>(s.out_w) + 1};
  std::int8_t* to = reinterpret_cast<std::int8_t*>(y);
  for (std::int32_t n = 0; n < s.batch; ++n, x += s.groups * s.in_h * s.in_w)
    for (std::int32_t o = 0; o < channels; ++o) {
      if ((o & 3) == 0)
        make_channels(helium{}, four, channels - o < 4 ? channels - o : 4, weights + 9 * o, 9,
                      scales != nullptr ? scales + o : nullptr, p.weight_scale, bias != nullptr ? bias + o : nullptr,
                      p.q);
      const Channel& channel = four[o & 3];
      const int8x16_t left = taps_of(weights + 9 * o, left_taps);
      const int8x16_t right = taps_of(weights + 9 * o, right_taps);
      const T* const input = x + o / s.out_channels * s.in_h * s.in_w;
      const auto row = [&](std::int32_t iy) {
        return static_cast<std::uint32_t>(iy) < static_cast<std::uint32_t>(s.in_h) ? input + iy * s.in_w
                                                                                   : reinterpret_cast<const T*>(empty);
      };
      for (std::int32_t oy = 0, iy = -s.pad_h; oy < s.out_h; oy += rows, iy += rows * s.stride_h) {
        interleave(inner, row(iy), row(iy + 1), row(iy + 2), row(iy + 3), s.in_w);
        fill_row(inner + 4 * s.in_w, p.q.input_zero_point, 8);
        if (rows == 1) {
          depthwise_row(words, 4 * s.stride_w, left, unit, channel, to, s.out_w);
        } else {
          const std::uint32_t lanes = oy + 1 < s.out_h ? 0xffff : 0x00ff;
          depthwise_pairs(words, left, right, places, unit, channel, to, s.out_w / 2, lanes);
          if ((s.out_w & 1) != 0)
            depthwise_pairs(words + 4 * (s.out_w - 1), left, right, places, unit, channel, to + s.out_w - 1, 1,
                            lanes & 0x0f0f);
        }
        to += oy + 1 < s.out_h ? rows * s.out_w : s.out_w;
      }
    }
  const std::int32_t count = s.batch * channels * s.out_h * s.out_w;
  if constexpr (flip<T> != 0) flip_bytes(reinterpret_cast<std::int8_t*>(y), count);
  clamp_outputs(y, count, p.q);
}

}  // namespace davit::int8_kernels

#endif
