// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "davit/backends/portable/int8/dot_rows.hpp"
#include "davit/backends/portable/int8/pattern.hpp"
#include "davit/backends/portable/static/operands.hpp"
#include "davit/backends/portable/static/packs.hpp"
#include "davit/core/target.hpp"

/// Linear layers whose weights are integers of 8 or 4 bits in flash, and floats in registers.
namespace davit::static_kernels {

namespace detail {

/// N weights of 8 bits as floats, or N pairs of 4 bits: those in the low bits, and those in the high bits.
template <Index N, class W>
struct WeightPacks {
  Pack<N> low, high;
};
template <Index N, int8_kernels::WeightBytes W>
[[nodiscard, gnu::always_inline]] constexpr WeightPacks<N, W> load_weights(const W* from) noexcept {
  constexpr bool bytes = std::is_same_v<W, std::int8_t>;
  if constexpr (N == 1) {
    if constexpr (bytes) return {static_cast<float>(*from), 0};
    return {static_cast<float>(int8_kernels::low_weight(static_cast<std::uint8_t>(*from))),
            static_cast<float>(int8_kernels::high_weight(static_cast<std::uint8_t>(*from)))};
#if DAVIT_TARGET_HELIUM_FLOAT
  } else if constexpr (N == 4) {
    const int32x4_t v = vldrbq_s32(reinterpret_cast<const std::int8_t*>(from));
    if constexpr (bytes) return {vcvtq_f32_s32(v), Pack<N>{}};
    return {vcvtq_n_f32_s32(vshlq_n_s32(v, 28), 28), vcvtq_f32_s32(vshrq_n_s32(v, 4))};
#endif
  } else {
    using Bytes = kernels::Vector<std::int8_t, N>;
    using Words = kernels::Vector<std::int32_t, 4 * N>;
    Bytes v;
    std::memcpy(&v, from, sizeof v);
    const Words words = __builtin_convertvector(v, Words);
    if constexpr (bytes) return {__builtin_convertvector(words, Pack<N>), Pack<N>{}};
    return {__builtin_convertvector((words << 28) >> 28, Pack<N>), __builtin_convertvector(words >> 4, Pack<N>)};
  }
}
template <Index N>
[[nodiscard, gnu::always_inline]] constexpr Pack<N> add_products(const Pack<N>& sum, const Pack<N>& a,
                                                                 const Pack<N>& b) noexcept {
#if DAVIT_TARGET_HELIUM_FLOAT
  if constexpr (N == 4) return vfmaq_f32(sum, a, b);  // g++ 12 does not fuse these itself
#endif
  return sum + a * b;
}
template <Index N>
[[nodiscard, gnu::always_inline]] constexpr float sum_of_pack(const Pack<N>& v) noexcept {
  if constexpr (N == 1) {
    return v;
  } else {
    float sum = v[0];
    unroll<N - 1>([&]<Index I>() __attribute__((always_inline)) { sum += v[I + 1]; });
    return sum;
  }
}

}  // namespace detail

/// y = x @ weight.T + bias for integer weights (PackedLayout::rows): each is `scale * integer + offset` of its output
/// and group. Sums of groups are float32, in packs. `sums`: a float for each group where there are offsets; else both
/// are null, and S is const. `bias` may be null. O(rows * in * out). Source: torch.nn.functional.linear with a weight
/// of quantized_decomposed.dequantize_per_channel or dequantize_per_channel_group.
struct packed_linear {
  struct Params {
    std::int32_t rows = 1, in = 0, out = 0, groups = 1;
  };
  template <class P, class W, class S>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, S* sums, const float* x, const W* weights,
                                                   const float* scales, [[maybe_unused]] const float* offsets,
                                                   const float* bias) noexcept {
    constexpr bool has_offsets = std::is_same_v<S, float>;
    const Params& p = numbers_of(params);
    const Index n = p.in / p.groups, bytes = int8_kernels::bytes_of<W>(p.in / p.groups);
    for (Index r = 0; r < p.rows; ++r, x += p.in, y += p.out) {
      if constexpr (has_offsets)
        for (Index g = 0; g < p.groups; ++g) {
          sums[g] = 0;
          for (Index k = 0; k < n; ++k) sums[g] += x[g * n + k];
        }
      for (Index o = 0; o < p.out; o += 2) {
        const Index second = o + 1 < p.out ? 1 : 0;
        const W* w = weights + o * bytes * p.groups;
        float a = 0, b = 0;
        for (Index g = 0; g < p.groups; ++g, w += bytes) {
          const Index at = g * p.out + o;
          float of_group[2]{};
          dots(x + g * n, w, bytes, second * bytes * p.groups, of_group);
          a += of_group[0] * scales[at];
          b += of_group[1] * scales[at + second];
          if constexpr (has_offsets) {
            a += sums[g] * offsets[at];
            b += sums[g] * offsets[at + second];
          }
        }
        y[o] = bias != nullptr ? a + bias[o] : a;
        if (second != 0) y[o + 1] = bias != nullptr ? b + bias[o + 1] : b;
      }
    }
  }

 private:
  /// Adds the sums of one group of inputs with two rows of weights.
  template <class W>
  [[gnu::always_inline]] static constexpr void dots(const float* x, const W* w, Index bytes, Index row,
                                                    float* sums) noexcept {
    const auto part = [&]<Index N>(Index first, Index end) __attribute__((always_inline)) {
      Pack<N> a{}, b{};
      for (Index i = first; i < end; i += N) {
        const auto of_a = detail::load_weights<N>(w + i), of_b = detail::load_weights<N>(w + row + i);
        const Pack<N> low = load<N>(x + i);
        a = detail::add_products<N>(a, of_a.low, low);
        b = detail::add_products<N>(b, of_b.low, low);
        if constexpr (std::is_same_v<W, std::uint8_t>) {
          const Pack<N> high = load<N>(x + bytes + i);
          a = detail::add_products<N>(a, of_a.high, high);
          b = detail::add_products<N>(b, of_b.high, high);
        }
      }
      sums[0] += detail::sum_of_pack<N>(a);
      sums[1] += detail::sum_of_pack<N>(b);
    };
    Index done = 0;
    if !consteval {
      if constexpr (simd > 1) {
        done = bytes / simd * simd;
        part.template operator()<simd>(0, done);
      }
    }
    part.template operator()<1>(done, bytes);
  }
};

}  // namespace davit::static_kernels

/// Static lowering of davit.linear_packed.rows.
namespace davit::static_lowering {

constexpr const char* lower_packed_linear(const EmbedNode& n, StepWriter& steps) {
  int8_fold::PackedRows v;
  if (const char* why = int8_fold::read_packed_rows(n, v)) return why;
  const std::uint32_t sums = v.offsets == no_id ? 0 : steps.temporary(ScalarType::float32, v.groups);
  StepOperands step = steps.step<sf::packed_linear>(
      {int32(n.g.numel(v.input) / v.depth), int32(v.depth), int32(v.outputs), int32(v.groups)});
  step.out(n.output());
  if (v.offsets == no_id)
    step.none(ScalarType::float32);
  else
    step.scratch(sums);
  step.in(v.input).in(v.weight).in(v.scales).in(v.offsets).in(v.bias);
  return nullptr;
}

using packed_linear_kernels = kernel_list<sf::packed_linear>;

inline constexpr std::array packed_linear_rows{EmbedRow{"davit.linear_packed.rows", lower_packed_linear}};

}  // namespace davit::static_lowering
