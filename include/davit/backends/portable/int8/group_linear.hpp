// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/int8/convert.hpp"
#include "davit/backends/portable/int8/dot_rows.hpp"
#include "davit/core/target.hpp"

namespace davit::int8_kernels {

struct GroupLinear {
  std::int32_t rows = 1, in_features = 1, out_features = 1, groups = 1;
  std::int32_t input_zero_point = 0;
  float input_scale = 1;
  Quantize to{};  ///< for results that are bytes; `count` does not matter
};

/// a * b, rounded before it is added to a number: compilers may not fuse the two.
[[nodiscard, gnu::always_inline]] constexpr float rounded_product(float a, float b) noexcept {
  float product = a * b;
#if !defined(__clang__)  // fuses within expressions alone
  if !consteval {
#if DAVIT_TARGET_ARM64
    asm("" : "+w"(product));
#elif DAVIT_TARGET_ARM_FLOAT
    asm("" : "+t"(product));
#elif DAVIT_TARGET_SSE2
    asm("" : "+x"(product));
#else
    asm("" : "+rm"(product));
#endif
  }
#endif
  return product;
}

#if defined(DAVIT_INT8_HELIUM) && DAVIT_TARGET_HELIUM_FLOAT
/// The scaled sums of one row with four rows of weights of 4 bits, in groups of 32.
template <class T>
[[nodiscard, gnu::noinline]] float32x4_t sums_of_32s(helium, const T* x, const std::uint8_t* w, const float* scales,
                                                     const GroupLinear& p) noexcept {
  std::int32_t a, b, c, d, total = p.groups;  // there are few registers
  int8x16_t v, u, l, h;
  float32x4_t sum = vdupq_n_f32(0.0f);
  const auto flips = vdupq_n_u8(flip<T>), mask = vdupq_n_u8(0xf0);
  const std::int32_t row = p.in_features / 2;
  // clang-format off
#define DAVIT_SUM_OF_ROW(sum)                    \
  "vldrb.8 %q[h], [%[w]]\n\t"                    \
  "vshl.i8 %q[l], %q[h], #4\n\t"                 \
  "vand %q[h], %q[h], %q[mask]\n\t"              \
  "vmladav.s8 %[" sum "], %q[v], %q[l]\n\t"      \
  "vmladava.s8 %[" sum "], %q[u], %q[h]\n\t"     \
  "vaddv.s8 %[total], %q[l]\n\t"                 \
  "vaddva.s8 %[total], %q[h]\n\t"                \
  "mls %[" sum "], %[total], %[zero], %[" sum "]\n\t"
#define DAVIT_NEXT_ROW "add %[w], %[w], %[row]\n\t"
  asm volatile(
      "dls lr, %[total]\n"
      "1:\n\t"
      "vldrb.8 %q[v], [%[x]], #16\n\t"
      "vldrb.8 %q[u], [%[x]], #16\n\t"
      ".if %c[flip]\n\t"
      "veor %q[v], %q[v], %q[flips]\n\t"
      "veor %q[u], %q[u], %q[flips]\n\t"
      ".endif\n\t"
      DAVIT_SUM_OF_ROW("a") DAVIT_NEXT_ROW DAVIT_SUM_OF_ROW("b") DAVIT_NEXT_ROW
      DAVIT_SUM_OF_ROW("c") DAVIT_NEXT_ROW DAVIT_SUM_OF_ROW("d")
      "sub %[w], %[w], %[row], lsl #1\n\t"
      "sub %[w], %[w], %[row]\n\t"
      "add %[w], %[w], #16\n\t"
      "vmov %q[l][2], %q[l][0], %[a], %[c]\n\t"
      "vmov %q[l][3], %q[l][1], %[b], %[d]\n\t"
      "vcvt.f32.s32 %q[l], %q[l], #4\n\t"
      "vldrw.32 %q[h], [%[scales]]\n\t"
      "vmul.f32 %q[l], %q[l], %q[h]\n\t"
      "vadd.f32 %q[sum], %q[sum], %q[l]\n\t"
      "add %[scales], %[scales], %[step]\n\t"
      "le lr, 1b"
      : [a] "=&Te"(a), [b] "=&Te"(b), [c] "=&Te"(c), [d] "=&Te"(d), [total] "+&Te"(total), [x] "+&r"(x), [w] "+&r"(w),
        [scales] "+&r"(scales), [v] "=&w"(v), [u] "=&w"(u), [l] "=&w"(l), [h] "=&w"(h), [sum] "+&w"(sum)
      : [row] "r"(row), [step] "r"(4 * p.out_features),
        [zero] "r"(p.input_zero_point), [flip] "i"(flip<T>), [flips] "w"(flips), [mask] "w"(mask)
      : "lr", "memory");
#undef DAVIT_SUM_OF_ROW
#undef DAVIT_NEXT_ROW
  // clang-format on
  return sum;
}
/// Writes one row of results, four at a time.
template <class T, WeightBytes W, class Y>
[[gnu::always_inline]] inline void group_linear_row(helium, const T* x, const W* weights, const float* scales,
                                                    const float* bias, Y* y, const GroupLinear& p) noexcept {
  const std::int32_t n = p.in_features / p.groups, bytes = bytes_of<W>(n), row = bytes * p.groups;
  const std::int32_t groups = p.groups, outputs = p.out_features, zero = p.input_zero_point;
  for (std::int32_t left = outputs; left > 0; left -= 4, weights += 4 * row, scales += 4, y += 4) {
    const mve_pred16_t lanes = vctp32q(static_cast<std::uint32_t>(left));
    float32x4_t sum = vdupq_n_f32(0.0f);
    if (bytes == 16 && n == 32 && left >= 4) {
      if constexpr (std::is_same_v<W, std::uint8_t>) sum = sums_of_32s(helium{}, x, weights, scales, p);
    } else {
      const T* from = x;
      const W* w = weights;
      const float* scale = scales;
      for (std::int32_t g = groups; g > 0; --g, from += n, w += bytes, scale += outputs) {
        const TwoSums ab = dot_rows(helium{}, from, w, w + (left > 1 ? row : 0), n, zero);
        TwoSums cd;
        if (left > 2) cd = dot_rows(helium{}, from, w + 2 * row, w + (left > 3 ? 3 : 2) * row, n, zero);
        const float32x4_t sums = vcvtq_f32_s32(vector_of(ab.a, ab.b, cd.a, cd.b));
        sum = vaddq_f32(sum, vmulq_f32(sums, vldrwq_z_f32(scale, lanes)));
      }
    }
    float32x4_t v = vmulq_n_f32(sum, p.input_scale);
    if (bias != nullptr) {
      v = vaddq_f32(v, vldrwq_z_f32(bias, lanes));
      bias += 4;
    }
    if constexpr (std::is_same_v<Y, float>) {
      vstrwq_p_f32(y, v, lanes);
    } else {  // `quantized` of each
      const float32x4_t limit = vdupq_n_f32(65536.0f), magic = vdupq_n_f32(nearest_magic);
      v = vminnmq_f32(vmaxnmq_f32(vmulq_n_f32(v, p.to.inverse_scale), vnegq_f32(limit)), limit);
      v = vaddq_n_f32(vsubq_f32(vaddq_f32(v, magic), magic), p.to.zero_point);
      v = vminnmq_f32(vmaxnmq_f32(v, vdupq_n_f32(p.to.low)), vdupq_n_f32(p.to.high));
      vstrbq_p_s32(reinterpret_cast<std::int8_t*>(y), vcvtq_s32_f32(v), lanes);
    }
  }
}
#endif

/// y = x weights^T + bias, for weights with a scale per output and group of inputs. Results are bytes, or float.
///
/// x: [rows, in_features], weights: [out_features, in_features], of 8 or 4 bits, scales: [groups, out_features]. Sums
/// of groups are exact; they are scaled and added as float32, in order, and rounded to bytes as torch does. All
/// instruction sets give the same bits. in_features / groups <= 32768. Source: torch.nn.functional.linear with a weight
/// of quantized_decomposed.dequantize_per_channel_group.
template <class Isa = native, class T, WeightBytes W, class Y>
[[gnu::always_inline]] constexpr void group_linear(const T* x, const W* weights, const float* scales, const float* bias,
                                                   Y* y, const GroupLinear& p) noexcept {
  const std::int32_t n = p.in_features / p.groups, bytes = bytes_of<W>(n), row = bytes * p.groups;
  for (std::int32_t r = 0; r < p.rows; ++r, x += p.in_features, y += p.out_features) {
#if defined(DAVIT_INT8_HELIUM) && DAVIT_TARGET_HELIUM_FLOAT
    if constexpr (std::is_same_v<Isa, helium>)
      if (!std::is_constant_evaluated()) {
        group_linear_row(Isa{}, x, weights, scales, bias, y, p);
        continue;
      }
#endif
    const auto put = [&](std::int32_t o, float sum) {
      float v = rounded_product(sum, p.input_scale);
      if (bias != nullptr) v += bias[o];
      if constexpr (std::is_same_v<Y, float>)
        y[o] = v;
      else
        y[o] = quantized<Y>(v, p.to);
    };
    for (std::int32_t o = 0; o < p.out_features; o += 2) {
      const std::int32_t second = o + 1 < p.out_features ? 1 : 0;
      const T* from = x;
      const W* w = weights + o * row;
      float a = 0, b = 0;
      for (std::int32_t g = 0; g < p.groups; ++g, from += n, w += bytes) {
        const float* const scale = scales + g * p.out_features + o;
        TwoSums sums;
        if (std::is_constant_evaluated())
          sums = dot_rows(plain{}, from, w, w + second * row, n, p.input_zero_point);
        else
          sums = dot_rows(Isa{}, from, w, w + second * row, n, p.input_zero_point);
        a += rounded_product(static_cast<float>(sums.a), scale[0]);
        b += rounded_product(static_cast<float>(sums.b), scale[second]);
      }
      put(o, a);
      if (second != 0) put(o + 1, b);
    }
  }
}

}  // namespace davit::int8_kernels
