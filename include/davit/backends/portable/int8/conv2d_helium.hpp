// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/int8/columns.hpp"
#include "davit/backends/portable/int8/helium.hpp"

#if defined(DAVIT_INT8_HELIUM)

namespace davit::int8_kernels {

// Columns here are interleaved, 16 bytes of each of four pixels: one pointer reads them all. The first 16 bytes hold
// the remainder of k, so that all other loads are full.

/// The number of the `k` bytes that are in the first 16.
[[nodiscard, gnu::always_inline]] constexpr std::int32_t head_of(std::int32_t k) noexcept { return ((k - 1) & 15) + 1; }

/// Writes one pixel's window as a column, in the order of the weights: a row of the kernel is one load and one store.
template <class T>
[[gnu::always_inline]] inline void fill_column(helium, std::int8_t* column, const T* x, const Conv2dShape& s,
                                               std::int32_t pixel, std::int32_t zero) noexcept {
  const std::int32_t in_h = s.in_h;
  const std::int32_t in_w = s.in_w;
  const std::int32_t kernel_h = s.kernel_h;
  const std::int32_t kernel_w = s.kernel_w;
  const std::int32_t dilation_h = s.dilation_h;
  if (kernel_w > 16 || s.dilation_w != 1) return fill_column(column, x, s, pixel, zero);
  const std::int32_t oy = pixel / s.out_w;
  const std::int32_t y0 = oy * s.stride_h - s.pad_h;
  const std::int32_t x0 = (pixel - oy * s.out_w) * s.stride_w - s.pad_w;
  const std::uint32_t row = (1u << kernel_w) - 1;
  const auto lanes_out = [](std::int32_t n) { return n < 0 ? 0 : n < 16 ? n : 16; };
  const std::uint32_t inside = row >> lanes_out(x0 + kernel_w - in_w) & row << lanes_out(-x0);
  const int8x16_t padding = vdupq_n_s8(static_cast<std::int8_t>(zero ^ flip<T>));
  const T* const end = x + s.in_channels * in_h * in_w;
  for (; x != end; x += in_h * in_w) {
    const T* from = x + (y0 * in_w + x0);
    for (std::int32_t ky = 0, iy = y0; ky < kernel_h; ++ky, iy += dilation_h, from += dilation_h * in_w) {
      const std::uint32_t lanes = static_cast<std::uint32_t>(iy) < static_cast<std::uint32_t>(in_h) ? inside : 0;
      int8x16_t v;
      asm("vmsr p0, %1\n\tvpst\n\tvldrbt.8 %q0, [%2]\n\tvpsel %q0, %q0, %q3"
          : "=&w"(v)
          : "r"(lanes), "r"(from), "w"(padding)
          : "memory", "p0");
      if constexpr (flip<T> != 0) v = vaddq_n_s8(v, static_cast<std::int8_t>(flip<T>));
      asm volatile("vmsr p0, %0\n\tvpst\n\tvstrbt.8 %q1, [%2]" : : "r"(row), "w"(v), "r"(column) : "memory", "p0");
      column += kernel_w;
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void fill_columns(helium, std::int8_t* columns, const T* x, const Conv2dShape& s,
                                                std::int32_t pixel, std::int32_t count, std::int32_t zero) noexcept {
  const std::int32_t k = s.in_channels * s.kernel_h * s.kernel_w;
  std::int8_t* const bytes = columns + 4 * padded(k);
  for (std::int32_t p = 0; p < count; ++p) {
    fill_column(helium{}, bytes, x, s, pixel + p, zero);
    const std::int8_t* from = bytes;
    std::int8_t* to = columns + 16 * p;
    vstrbq_s8(to, vldrbq_s8(from));
    from += head_of(k);
    for (std::int32_t i = head_of(k); i < k; i += 16, from += 16) vstrbq_s8(to += 64, vldrbq_s8(from));
  }
}

/// Gathers eight channels of a pixel in one load. The first loads read only the remainder of k.
template <class T>
[[gnu::always_inline]] inline void fill_pointwise(helium, std::int8_t* columns, const T* x, const Conv2dShape& s,
                                                  std::int32_t count, std::int32_t /*zero*/) noexcept {
  const std::int32_t plane = s.in_h * s.in_w;
  const std::int32_t head = head_of(s.in_channels);
  if (plane > 9362) {  // the eighth offset would overflow 16 bits
    for (std::int32_t c = 0, at = 0; c < s.in_channels; ++c, ++at, x += plane) {
      if (c == head) at = 16;
      for (std::int32_t p = 0; p < count; ++p) columns[(at & ~15) * 4 + p * 16 + (at & 15)] = to_int8(x[p]);
    }
    return;
  }
  const uint16x8_t offsets = vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<std::uint16_t>(plane));
  const std::int32_t blocks = (s.in_channels - head) / 16;
  for (std::int32_t p = 0; p < count; ++p) {
    const T* low = x + p;
    const T* high = low + 8 * plane;
    std::int8_t* to = columns + 16 * p;
    const auto gather = [&](const T* from, std::int32_t n) {
      const mve_pred16_t lanes = vctp16q(static_cast<std::uint32_t>(n));
      return vldrbq_gather_offset_z_u16(reinterpret_cast<const std::uint8_t*>(from), offsets, lanes);
    };
    uint16x8_t a = gather(low, head);
    uint16x8_t b = gather(high, head > 8 ? head - 8 : 0);
    const auto flipped = [](uint16x8_t v) { return flip<T> != 0 ? vaddq_n_u16(v, flip<T>) : v; };
    vstrbq_u16(reinterpret_cast<std::uint8_t*>(to), flipped(a));
    vstrbq_u16(reinterpret_cast<std::uint8_t*>(to + 8), flipped(b));
    low += head * plane;
    high = low + 8 * plane;
    for (std::int32_t i = 0; i < blocks; ++i, low += 16 * plane, high += 16 * plane) {
      to += 64;
      vstrbq_u16(reinterpret_cast<std::uint8_t*>(to),
                 flipped(vldrbq_gather_offset_u16(reinterpret_cast<const std::uint8_t*>(low), offsets)));
      vstrbq_u16(reinterpret_cast<std::uint8_t*>(to + 8),
                 flipped(vldrbq_gather_offset_u16(reinterpret_cast<const std::uint8_t*>(high), offsets)));
    }
  }
}

/// Two output channels by four pixels: 128 products in 14 instructions and two for the loop.
template <class T>
[[gnu::always_inline]] inline void multiply_columns(helium, const std::int8_t* columns, std::int32_t /*stride*/,
                                                    const std::int8_t* weights, std::int32_t k, const Channel* channels,
                                                    std::int32_t out_channels, T* y, std::int32_t plane,
                                                    std::int32_t count, const Requantize& q) noexcept {
  const std::int32_t head = head_of(k);
  const int32x4_t unit = vdupq_n_s32(1 << q.shift);
  for (const Channel* const end_channel = channels + out_channels; channels < end_channel; channels += 2) {
    const bool both = channels + 1 != end_channel;      // else the last channel is computed twice
    register const std::int8_t* a asm("r1") = weights;  // an odd register: the sums take all even ones
    register const std::int8_t* const end asm("r9") = weights + k;
    register const std::int8_t* b asm("r3") = both ? end : weights;
    register const std::int8_t* x asm("r5") = columns;
    register const std::int32_t first asm("r11") = head;
    std::int32_t a0, a1, a2, a3, b0, b1, b2, b3;
    int8x16_t wa, wb, v, z;
    asm volatile(
        "vctp.8 %[head]\n\t"
        "vpstt\n\t"
        "vldrbt.8 %q[wa], [%[a]]\n\t"
        "vldrbt.8 %q[wb], [%[b]]\n\t"
        "vldrb.8 %q[v], [%[x], #16]\n\t"
        "add %[a], %[head]\n\t"
        "add %[b], %[head]\n\t"
        "vmladav.s8 %[a1], %q[wa], %q[v]\n\t"
        "vldrb.8 %q[z], [%[x], #32]\n\t"
        "vmladav.s8 %[b1], %q[wb], %q[v]\n\t"
        "vldrb.8 %q[v], [%[x], #48]\n\t"
        "vmladav.s8 %[a2], %q[wa], %q[z]\n\t"
        "vmladav.s8 %[b2], %q[wb], %q[z]\n\t"
        "vldrb.8 %q[z], [%[x]], #64\n\t"
        "vmladav.s8 %[a3], %q[wa], %q[v]\n\t"
        "vmladav.s8 %[b3], %q[wb], %q[v]\n\t"
        "cmp %[a], %[end]\n\t"
        "vmladav.s8 %[a0], %q[wa], %q[z]\n\t"
        "vmladav.s8 %[b0], %q[wb], %q[z]\n\t"
        "beq 2f\n"
        "1:\n\t"
        "vldrb.8 %q[wa], [%[a]], #16\n\t"
        "vldrb.8 %q[v], [%[x], #16]\n\t"
        "vmladava.s8 %[a1], %q[wa], %q[v]\n\t"
        "vldrb.8 %q[wb], [%[b]], #16\n\t"
        "vmladava.s8 %[b1], %q[wb], %q[v]\n\t"
        "vldrb.8 %q[z], [%[x], #32]\n\t"
        "vmladava.s8 %[a2], %q[wa], %q[z]\n\t"
        "vldrb.8 %q[v], [%[x], #48]\n\t"
        "vmladava.s8 %[b2], %q[wb], %q[z]\n\t"
        "vldrb.8 %q[z], [%[x]], #64\n\t"
        "vmladava.s8 %[a3], %q[wa], %q[v]\n\t"
        "vmladava.s8 %[b3], %q[wb], %q[v]\n\t"
        "vmladava.s8 %[a0], %q[wa], %q[z]\n\t"
        "vmladava.s8 %[b0], %q[wb], %q[z]\n\t"
        "cmp %[a], %[end]\n\t"
        "bne 1b\n"
        "2:"
        : [a0] "=&Te"(a0), [a1] "=&Te"(a1), [a2] "=&Te"(a2), [a3] "=&Te"(a3), [b0] "=&Te"(b0), [b1] "=&Te"(b1),
          [b2] "=&Te"(b2), [b3] "=&Te"(b3), [a] "+&r"(a), [b] "+&r"(b), [x] "+&r"(x), [wa] "=&w"(wa), [wb] "=&w"(wb),
          [v] "=&w"(v), [z] "=&w"(z)
        : [head] "r"(first), [end] "r"(end)
        : "memory", "cc", "p0");
    weights = b;
    store_sums(y, vector_of(a0, a1, a2, a3), unit, channels[0], count);
    if (both) y += plane;
    store_sums(y, vector_of(b0, b1, b2, b3), unit, channels[both ? 1 : 0], count);
    y += plane;
  }
}

}  // namespace davit::int8_kernels

#endif
