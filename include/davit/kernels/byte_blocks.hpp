// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "davit/core/target.hpp"
#include "davit/kernels/quantize.hpp"
#include "davit/kernels/vectors.hpp"

/// Inner loops of convolutions of bytes: sums of products of 16-bit numbers, and their conversion to bytes.
#if DAVIT_TARGET_X86_64 && DAVIT_TARGET_WIDE_STACK && __STDC_HOSTED__
#define DAVIT_BYTE_CONVOLUTION 1
#else
#define DAVIT_BYTE_CONVOLUTION 0
#endif

namespace davit::kernels {

/// The conversion of sums to bytes: quantized(sum * scale + bias), with a scale and a bias per channel, in one product
/// by scale * inverse. The lists have `padded_channels` elements. No sum may exceed 32 bits after scaling (`sums_fit`).
struct ByteResult {
  const float* scales = nullptr;
  const float* biases = nullptr;
  ByteRange range{};
};

/// True if this CPU runs `convolve_bytes`.
[[nodiscard]] inline bool can_convolve_bytes() noexcept {
#if DAVIT_BYTE_CONVOLUTION
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

namespace detail {

inline constexpr std::int64_t byte_block = 16;  // output channels computed together

#if DAVIT_BYTE_CONVOLUTION

/// True if this CPU adds products to sums in one instruction on 512-bit vectors (AVX512_VNNI).
[[nodiscard]] inline bool has_wide_byte_products() noexcept {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}

using ByteInts = Vector<std::int32_t, 32>;
using BytePairs = Vector<std::int16_t, 32>;

/// The conversion of the sums of a block of channels to bytes.
struct ByteStore {
  std::int64_t channels;      // of the block
  std::int64_t all_channels;  // between pixels
  Vector<float, 32> scales[2], biases[2];
  BytePairs low, high, zero_point;  // bounds relative to the zero point; the zero point for signed bytes
  Vector<std::int8_t, 32> sign;     // restores unsigned bytes
  ByteInts order;                   // order of four channels at a time
};
/// Reads the scales of a block. A depthwise convolution keeps the sums of channels 0 to 3 and 8 to 11 in one vector,
/// the others in a second.
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void read_store(const ByteResult& result, std::int64_t first,
                                                                       bool depthwise, ByteStore& store) noexcept {
  using Floats = Vector<float, 32>;
  const ByteRange& range = result.range;
  for (const auto& [from, to] :
       {std::pair(result.scales + first, store.scales), std::pair(result.biases + first, store.biases)}) {
    const Floats one = vector_at<32>(from) * range.inverse, other = vector_at<32>(from + 8) * range.inverse;
    to[0] = depthwise ? __builtin_shufflevector(one, other, 0, 1, 2, 3, 8, 9, 10, 11) : one;
    to[1] = depthwise ? __builtin_shufflevector(one, other, 4, 5, 6, 7, 12, 13, 14, 15) : other;
  }
  const std::int32_t middle = range.high > 127 ? 128 : 0;  // unsigned bytes
  store.low = static_cast<std::int16_t>(range.low - range.zero_point) + BytePairs{};
  store.high = static_cast<std::int16_t>(range.high - range.zero_point) + BytePairs{};
  store.zero_point = static_cast<std::int16_t>(range.zero_point - middle) + BytePairs{};
  store.sign = static_cast<std::int8_t>(-middle) + Vector<std::int8_t, 32>{};
  store.order = depthwise ? ByteInts{0, 1, 4, 5, 2, 3, 6, 7} : ByteInts{0, 4, 1, 5, 2, 6, 3, 7};
}
/// The bytes of a pixel as 16-bit numbers in their own order. Saturation to 16 bits is harmless: such numbers exceed
/// the bounds anyway.
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void round_sums(const ByteInts& first, const ByteInts& second,
                                                                       const ByteStore& s, BytePairs& out) noexcept {
  using Floats = Vector<float, 32>;
  // an intrinsic: rounds the same way in every build
  const auto low = __builtin_ia32_cvtps2dq256(
      __builtin_ia32_vfmaddps256(__builtin_convertvector(first, Floats), s.scales[0], s.biases[0]));
  const auto high = __builtin_ia32_cvtps2dq256(
      __builtin_ia32_vfmaddps256(__builtin_convertvector(second, Floats), s.scales[1], s.biases[1]));
  BytePairs x = __builtin_bit_cast(BytePairs, __builtin_ia32_packssdw256(low, high));
  x = x < s.low ? s.low : x;
  x = x > s.high ? s.high : x;
  out = x + s.zero_point;
}
/// Stores the bytes of some pixels, with sums in two vectors each; both byte dtypes have the same bits.
template <int Pixels>
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void store_bytes(const ByteInts (&first)[Pixels],
                                                                        const ByteInts (&second)[Pixels],
                                                                        const ByteStore& s, std::uint8_t* to) noexcept {
#pragma GCC unroll 8
  for (int p = 0; p < Pixels; p += 2, to += 2 * s.all_channels) {
    const int q = p + 1 < Pixels ? p + 1 : p;
    BytePairs one, other;
    round_sums(first[p], second[p], s, one);
    round_sums(first[q], second[q], s, other);
    const auto both = __builtin_bit_cast(Vector<std::int8_t, 32>, __builtin_ia32_packsswb256(one, other)) ^ s.sign;
    const auto bytes = __builtin_bit_cast(Vector<std::int64_t, 32>,
                                          __builtin_ia32_permvarsi256(__builtin_bit_cast(ByteInts, both), s.order));
    const auto low = __builtin_shufflevector(bytes, bytes, 0, 1), high = __builtin_shufflevector(bytes, bytes, 2, 3);
    const auto count = static_cast<std::size_t>(s.channels);
    if (s.channels >= byte_block) {
      std::memcpy(to, &low, sizeof low);
      if (q != p) std::memcpy(to + s.all_channels, &high, sizeof high);
    } else {
      std::memcpy(to, &low, count);
      if (q != p) std::memcpy(to + s.all_channels, &high, count);
    }
  }
}

/// A block of channels of some pixels.
struct ByteBlock {
  std::int64_t runs, pairs;  // stretches of the source per pixel, and pairs of products in each
  const std::int16_t* source;
  const std::int64_t* pixels;       // offset of each pixel
  const std::int64_t* run_offsets;  // offsets of the stretches in a pixel
  const std::int16_t* weights;
  ByteStore store;
  std::uint8_t* to;
};
/// Computes the bytes of pixels from `first` on, `Pixels` at a time, for 8 * `Vectors` channels. Returns the first
/// pixel left over.
template <int Pixels, int Vectors>
[[gnu::target("avx2,fma")]] inline std::int64_t multiply_bytes(const ByteBlock& block, std::int64_t first,
                                                               std::int64_t end) noexcept {
  for (; first + Pixels <= end; first += Pixels) {
    ByteInts sums[2][Pixels];
#pragma GCC unroll 8
    for (int p = 0; p < Pixels; ++p) sums[0][p] = sums[1][p] = ByteInts{};
    const std::int16_t* weights = block.weights;
    for (std::int64_t r = 0; r < block.runs; ++r) {
      const std::int16_t* x[Pixels];
#pragma GCC unroll 8
      for (int p = 0; p < Pixels; ++p) x[p] = block.source + block.pixels[first + p] + block.run_offsets[r];
      for (std::int64_t k = 0; k < block.pairs; ++k, weights += 16 * Vectors) {
        BytePairs w[Vectors];
#pragma GCC unroll 8
        for (int v = 0; v < Vectors; ++v) w[v] = vector_at<32>(weights + 16 * v);
#pragma GCC unroll 8
        for (int p = 0; p < Pixels; ++p) {
          std::int32_t pair;
          std::memcpy(&pair, x[p] + 2 * k, sizeof pair);
          const auto repeated = __builtin_bit_cast(BytePairs, pair + ByteInts{});
#pragma GCC unroll 8
          for (int v = 0; v < Vectors; ++v)
            sums[v][p] += __builtin_bit_cast(ByteInts, __builtin_ia32_pmaddwd256(repeated, w[v]));
        }
      }
    }
    store_bytes(sums[0], sums[1], block.store, block.to + first * block.store.all_channels);
  }
  return first;
}

/// Adds the two products of a pair of 16-bit numbers to each sum.
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"), gnu::always_inline]] inline void add_products(
    const Vector<std::int32_t, 64>& x, const Vector<std::int32_t, 64>& y, Vector<std::int32_t, 64>& sums) noexcept {
#if defined(__clang__)
  sums = __builtin_ia32_vpdpwssd512(sums, x, y);
#else
  sums = __builtin_ia32_vpdpwssd_v16si(sums, x, y);
#endif
}
/// `multiply_bytes` for 16 channels per block on 512-bit vectors, for so many consecutive blocks.
template <int Pixels, int Blocks>
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]] inline std::int64_t multiply_bytes_wide(
    const ByteBlock (&blocks)[Blocks], std::int64_t first, std::int64_t end) noexcept {
  using Ints = Vector<std::int32_t, 64>;
  const ByteBlock& block = blocks[0];
  for (; first + Pixels <= end; first += Pixels) {
    Ints sums[Blocks][Pixels];
#pragma GCC unroll 8
    for (int p = 0; p < Pixels; ++p)
#pragma GCC unroll 8
      for (int b = 0; b < Blocks; ++b) sums[b][p] = Ints{};
    std::int64_t weight = 0;
    for (std::int64_t r = 0; r < block.runs; ++r) {
      const std::int16_t* x[Pixels];
#pragma GCC unroll 8
      for (int p = 0; p < Pixels; ++p) x[p] = block.source + block.pixels[first + p] + block.run_offsets[r];
      for (std::int64_t k = 0; k < block.pairs; ++k, weight += 2 * byte_block) {
        Ints w[Blocks];
#pragma GCC unroll 8
        for (int b = 0; b < Blocks; ++b) w[b] = __builtin_bit_cast(Ints, vector_at<64>(blocks[b].weights + weight));
#pragma GCC unroll 8
        for (int p = 0; p < Pixels; ++p) {
          std::int32_t pair;
          std::memcpy(&pair, x[p] + 2 * k, sizeof pair);
          const Ints repeated = pair + Ints{};
#pragma GCC unroll 8
          for (int b = 0; b < Blocks; ++b) add_products(w[b], repeated, sums[b][p]);
        }
      }
    }
#pragma GCC unroll 8
    for (int b = 0; b < Blocks; ++b) {
      ByteInts low[Pixels], high[Pixels];
#pragma GCC unroll 8
      for (int p = 0; p < Pixels; ++p) {
        low[p] = __builtin_shufflevector(sums[b][p], sums[b][p], 0, 1, 2, 3, 4, 5, 6, 7);
        high[p] = __builtin_shufflevector(sums[b][p], sums[b][p], 8, 9, 10, 11, 12, 13, 14, 15);
      }
      store_bytes(low, high, blocks[b].store, blocks[b].to + first * blocks[b].store.all_channels);
    }
  }
  return first;
}

/// `multiply_bytes` for 16 channels of a depthwise convolution.
template <int Pixels>
[[gnu::target("avx2,fma")]] inline std::int64_t multiply_bytes_depthwise(const ByteBlock& block, std::int64_t first,
                                                                         std::int64_t end) noexcept {
  for (; first + Pixels <= end; first += Pixels) {
    ByteInts low[Pixels], high[Pixels];  // sums of channels 0 to 3 and 8 to 11, and of the others
    const std::int16_t* x[Pixels];
#pragma GCC unroll 8
    for (int p = 0; p < Pixels; ++p) {
      low[p] = high[p] = ByteInts{};
      x[p] = block.source + block.pixels[first + p];
    }
    const std::int16_t* weights = block.weights;
    for (std::int64_t r = 0; r < block.runs; r += 2, weights += 2 * byte_block) {
      const BytePairs first_weights = vector_at<32>(weights), second_weights = vector_at<32>(weights + byte_block);
      const std::int64_t one = block.run_offsets[r], other = block.run_offsets[r + 1];
#pragma GCC unroll 8
      for (int p = 0; p < Pixels; ++p) {
        const BytePairs a = vector_at<32>(x[p] + one), b = vector_at<32>(x[p] + other);
        const BytePairs even = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
        const BytePairs odd = __builtin_shufflevector(a, b, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
        low[p] += __builtin_bit_cast(ByteInts, __builtin_ia32_pmaddwd256(even, first_weights));
        high[p] += __builtin_bit_cast(ByteInts, __builtin_ia32_pmaddwd256(odd, second_weights));
      }
    }
    store_bytes(low, high, block.store, block.to + first * block.store.all_channels);
  }
  return first;
}

#endif

}  // namespace detail

}  // namespace davit::kernels
