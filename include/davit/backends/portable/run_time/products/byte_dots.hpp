// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "davit/core/packed_weights.hpp"
#include "davit/core/target.hpp"
#include "davit/kernels/byte_blocks.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vectors.hpp"

/// Inner loops of products of bytes with PackedWeights: exact sums of each group of inputs, one function per
/// instruction set.
namespace davit::portable_kernels::detail {

/// A block of outputs and a tile of rows. The tile's bytes lie as (words of the groups, rows, fields), fields in the
/// order of DotForm.
struct ByteDots {
  const std::int32_t* words;         ///< of the first group
  const void* x;                     ///< bytes, or numbers of 16 bits (DotForm::is_wide)
  const std::int32_t* starts;        ///< of each sum, (groups, rows): DotForm::start of the sum of the row's bytes
  std::int64_t groups, group_words;  ///< groups to sum, and words of a group and output
  std::int32_t* sums;                ///< results, (groups, rows, 16)
};

/// Instruction sets that have such loops. Sums are the same on all.
enum class DotSet : std::uint8_t { plain, avx2, vnni, sdot };

/// How a loop takes rows.
struct DotForm {
  std::int64_t most_rows;               ///< of a tile, a power of two
  std::int32_t centre;                  ///< is added to weights, which makes them unsigned; or 0
  bool is_wide;                         ///< takes bytes as numbers of 16 bits
  std::array<std::uint8_t, 8> order{};  ///< field i of a tile is field order[i] of the word

  /// The start of a sum: takes away what `centre` adds to it.
  [[nodiscard]] constexpr std::int32_t start(std::int32_t sum_of_bytes) const noexcept {
    return -centre * sum_of_bytes;
  }
};
[[nodiscard]] constexpr DotForm dot_form(DotSet set, std::int64_t bits) noexcept {
#if DAVIT_TARGET_SSE2
  if (set == DotSet::plain && bits == 4) return {4, 0, true, {0, 4, 1, 5, 2, 6, 3, 7}};
  if (set == DotSet::plain) return {4, 0, true, {0, 2, 1, 3}};
#endif
  if (set == DotSet::plain) return {4, 0, false, {0, 1, 2, 3, 4, 5, 6, 7}};
  if (set == DotSet::sdot)
    return bits == 4 ? DotForm{4, 0, false, {0, 2, 4, 6, 1, 3, 5, 7}} : DotForm{4, 0, false, {0, 1, 2, 3}};
  const std::int64_t rows = set == DotSet::vnni ? 16 : 8;
  if (bits == 4) return {rows, 8, false, {0, 2, 4, 6, 1, 3, 5, 7}};
  return set == DotSet::vnni ? DotForm{rows, 128, false, {0, 1, 2, 3}} : DotForm{rows, 0, true, {0, 2, 1, 3}};
}
/// The largest group whose sums fit 32 bits on every set.
inline constexpr std::int64_t most_of_group = 1 << 16;

/// True if this CPU has a set.
[[nodiscard]] inline bool has_dots(DotSet set) noexcept {
#if DAVIT_BYTE_CONVOLUTION
  if (set == DotSet::vnni) return kernels::detail::has_wide_byte_products();
  if (set == DotSet::avx2) return kernels::can_convolve_bytes();
#endif
  return set == DotSet::plain || (set == DotSet::sdot && kernels::has_byte_dots());
}
/// The fastest set of this CPU.
[[nodiscard]] inline DotSet dot_set() noexcept {
  for (const DotSet set : {DotSet::sdot, DotSet::vnni, DotSet::avx2})
    if (has_dots(set)) return set;
  return DotSet::plain;
}

/// Four bytes, or two numbers of 16 bits, for each lane.
[[nodiscard, gnu::always_inline]] inline std::int32_t lane_at(const void* x) noexcept {
  std::int32_t lane;
  std::memcpy(&lane, x, sizeof lane);
  return lane;
}

#if DAVIT_TARGET_SSE2

/// Products of pairs of 16-bit numbers: of fields f and f + fields / 2, which lie in the halves of a word.
template <int Bits, int Rows>
void dots_plain(const ByteDots& d) noexcept {
  using Ints = kernels::Vector<std::int32_t, 16>;
  using Pairs = kernels::Vector<std::int16_t, 16>;
  constexpr int fields = 32 / Bits;
  const auto* x = static_cast<const std::int16_t*>(d.x);
  std::int32_t* to = d.sums;
  for (std::int64_t g = 0; g < d.groups; ++g, to += Rows * PackedWeights::block)
    for (int part = 0; part < PackedWeights::block; part += 4) {
      Ints sums[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) sums[r] = d.starts[g * Rows + r] + Ints{};
      const std::int16_t* of_group = x + g * d.group_words * Rows * fields;
      const std::int32_t* word = d.words + g * d.group_words * PackedWeights::block + part;
      for (std::int64_t i = 0; i < d.group_words; ++i, word += PackedWeights::block, of_group += Rows * fields) {
        const auto packed = __builtin_bit_cast(Pairs, Ints(kernels::vector_at<16>(word)));
#pragma GCC unroll 4
        for (int f = 0; f < fields / 2; ++f) {
          const Pairs weights = (packed << (16 - Bits * (f + 1))) >> (16 - Bits);
#pragma GCC unroll 4
          for (int r = 0; r < Rows; ++r) {
            const auto repeated = __builtin_bit_cast(Pairs, lane_at(of_group + r * fields + 2 * f) + Ints{});
            sums[r] += __builtin_bit_cast(Ints, __builtin_ia32_pmaddwd128(weights, repeated));
          }
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) kernels::vector_at<16>(to + r * PackedWeights::block + part) = sums[r];
    }
}

#else

/// Products of 32-bit numbers, one field after the other.
template <int Bits, int Rows>
void dots_plain(const ByteDots& d) noexcept {
  constexpr std::size_t bytes = kernels::vector_bytes;
  constexpr int lanes = static_cast<int>(kernels::lanes<std::int32_t>), fields = 32 / Bits;
  using Ints = kernels::Vector<std::int32_t, bytes>;
  static_assert(PackedWeights::block % lanes == 0);
  const auto* x = static_cast<const std::int8_t*>(d.x);
  const std::int32_t* words = d.words;
  std::int32_t* to = d.sums;
  for (std::int64_t g = 0; g < d.groups; ++g, to += Rows * PackedWeights::block)
    for (int part = 0; part < PackedWeights::block; part += lanes) {
      Ints sums[Rows];
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) sums[r] = d.starts[g * Rows + r] + Ints{};
      const std::int8_t* of_group = x + g * d.group_words * Rows * fields;
      const std::int32_t* word = words + g * d.group_words * PackedWeights::block + part;
      for (std::int64_t i = 0; i < d.group_words; ++i, word += PackedWeights::block, of_group += Rows * fields) {
        const Ints packed = kernels::vector_at<bytes>(word);
#pragma GCC unroll 8
        for (int f = 0; f < fields; ++f) {
          const Ints weights = (packed << (32 - Bits * (f + 1))) >> (32 - Bits);
#pragma GCC unroll 4
          for (int r = 0; r < Rows; ++r) sums[r] += weights * std::int32_t{of_group[r * fields + f]};
        }
      }
      for (int r = 0; r < Rows; ++r) kernels::vector_at<bytes>(to + r * PackedWeights::block + part) = sums[r];
    }
}

#endif

#if DAVIT_TARGET_ARM64

/// Adds four products of bytes to each sum: of its own lane of the weights with one lane of `x`.
template <std::size_t Lane>
[[gnu::target("arch=armv8.2-a+dotprod"), gnu::always_inline]] inline void add_four(
    const kernels::Vector<std::int8_t, 16>& weights, const kernels::Vector<std::int32_t, 16>& x,
    kernels::Vector<std::int32_t, 16>& sums) noexcept {
  asm("sdot %0.4s, %1.16b, %2.4b[%c3]" : "+w"(sums) : "w"(weights), "w"(x), "i"(Lane));
}
/// Integers of 4 bits become bytes: the even ones of a word, and the odd ones.
template <int Bits, std::size_t Rows>
[[gnu::target("arch=armv8.2-a+dotprod")]] void dots_sdot(const ByteDots& d) noexcept {
  using Ints = kernels::Vector<std::int32_t, 16>;
  using Bytes = kernels::Vector<std::int8_t, 16>;
  constexpr std::size_t fields = 32 / Bits, halves = fields / 4, parts = PackedWeights::block / 4;
  const auto* x = static_cast<const std::int8_t*>(d.x);
  const std::int32_t* word = d.words;
  std::int32_t* to = d.sums;
  for (std::int64_t g = 0; g < d.groups; ++g, to += Rows * PackedWeights::block) {
    Ints sums[parts][Rows];
#pragma GCC unroll 4
    for (std::size_t part = 0; part < parts; ++part)
#pragma GCC unroll 4
      for (std::size_t r = 0; r < Rows; ++r)
        sums[part][r] = d.starts[g * static_cast<std::int64_t>(Rows) + static_cast<std::int64_t>(r)] + Ints{};
    for (std::int64_t i = 0; i < d.group_words; ++i, word += PackedWeights::block, x += Rows * fields) {
      Ints rows[(Rows * halves + 3) / 4]{};
      std::memcpy(rows, x, Rows * fields);
#pragma GCC unroll 4
      for (std::size_t part = 0; part < parts; ++part) {
        const auto packed = __builtin_bit_cast(Bytes, Ints(kernels::vector_at<16>(word + 4 * part)));
        [&]<std::size_t... R>(std::index_sequence<R...>)
            __attribute__((target("arch=armv8.2-a+dotprod"), always_inline)) {
              if constexpr (Bits == 4) {
                const Bytes even = (packed << 4) >> 4, odd = packed >> 4;
                (add_four<2 * R % 4>(even, rows[R / 2], sums[part][R]), ...);
                (add_four<2 * R % 4 + 1>(odd, rows[R / 2], sums[part][R]), ...);
              } else {
                (add_four<R>(packed, rows[0], sums[part][R]), ...);
              }
            }(std::make_index_sequence<Rows>{});
      }
    }
#pragma GCC unroll 4
    for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (std::size_t part = 0; part < parts; ++part)
        kernels::vector_at<16>(to + r * PackedWeights::block + 4 * part) = sums[part][r];
  }
}

#endif

#if DAVIT_BYTE_CONVOLUTION

/// Products of 4 bits, made unsigned (0 to 15), with bytes: sums of two fit 16 bits by far (3,840). Integers of 8 bits
/// are widened, since sums of two of their products would not fit 16.
template <int Bits, int Rows>
[[gnu::target("avx2,fma")]] void dots_avx2(const ByteDots& d) noexcept {
  using Ints = kernels::Vector<std::int32_t, 32>;
  using Pairs = kernels::Vector<std::int16_t, 32>;
  using Chars = kernels::Vector<char, 32>;
  const auto* x = static_cast<const std::int8_t*>(d.x);
  const std::int32_t* words = d.words;
  std::int32_t* to = d.sums;
  for (std::int64_t g = 0; g < d.groups; ++g, to += Rows * PackedWeights::block)
    for (int part = 0; part < PackedWeights::block; part += 8) {
      Ints sums[Rows];
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) sums[r] = d.starts[g * Rows + r] + Ints{};
      const std::int8_t* of_group = x + g * d.group_words * Rows * 8;
      const std::int32_t* word = words + g * d.group_words * PackedWeights::block + part;
      for (std::int64_t i = 0; i < d.group_words; ++i, word += PackedWeights::block, of_group += Rows * 8) {
        const Ints packed = kernels::vector_at<32>(word);
        if constexpr (Bits == 4) {
          const Ints centred = packed ^ static_cast<std::int32_t>(0x88888888u);
          const auto low = __builtin_bit_cast(Chars, centred & 0x0f0f0f0f);
          const auto high = __builtin_bit_cast(Chars, (centred >> 4) & 0x0f0f0f0f);
          const Pairs ones = std::int16_t{1} + Pairs{};
#pragma GCC unroll 8
          for (int r = 0; r < Rows; ++r) {
            const auto even = __builtin_bit_cast(Chars, lane_at(of_group + r * 8) + Ints{});
            const auto odd = __builtin_bit_cast(Chars, lane_at(of_group + r * 8 + 4) + Ints{});
            const auto products = __builtin_bit_cast(Pairs, __builtin_ia32_pmaddubsw256(low, even)) +
                                  __builtin_bit_cast(Pairs, __builtin_ia32_pmaddubsw256(high, odd));
            sums[r] += __builtin_bit_cast(Ints, __builtin_ia32_pmaddwd256(products, ones));
          }
        } else {
          const Pairs low = (__builtin_bit_cast(Pairs, packed) << 8) >> 8,
                      high = __builtin_bit_cast(Pairs, packed) >> 8;
#pragma GCC unroll 8
          for (int r = 0; r < Rows; ++r) {
            const auto even = __builtin_bit_cast(Pairs, lane_at(of_group + r * 8) + Ints{});
            const auto odd = __builtin_bit_cast(Pairs, lane_at(of_group + r * 8 + 4) + Ints{});
            sums[r] += __builtin_bit_cast(Ints, __builtin_ia32_pmaddwd256(low, even)) +
                       __builtin_bit_cast(Ints, __builtin_ia32_pmaddwd256(high, odd));
          }
        }
      }
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) kernels::vector_at<32>(to + r * PackedWeights::block + part) = sums[r];
    }
}

/// Adds four products of unsigned and signed bytes to each sum.
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"), gnu::always_inline]] inline void add_four(
    const kernels::Vector<std::int32_t, 64>& weights, std::int32_t x,
    kernels::Vector<std::int32_t, 64>& sums) noexcept {
  const kernels::Vector<std::int32_t, 64> repeated = x + kernels::Vector<std::int32_t, 64>{};
#if defined(__clang__)
  sums = __builtin_ia32_vpdpbusd512(sums, weights, repeated);
#else
  sums = __builtin_ia32_vpdpbusd_v16si(sums, weights, repeated);
#endif
}
/// Integers are made unsigned by adding half of their range.
template <int Bits, int Rows>
[[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]] void dots_vnni(const ByteDots& d) noexcept {
  using Ints = kernels::Vector<std::int32_t, 64>;
  constexpr int fields = 32 / Bits;
  const auto* x = static_cast<const std::int8_t*>(d.x);
  const std::int32_t* word = d.words;
  std::int32_t* to = d.sums;
  for (std::int64_t g = 0; g < d.groups; ++g, to += Rows * PackedWeights::block) {
    Ints sums[Rows];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) sums[r] = d.starts[g * Rows + r] + Ints{};
    for (std::int64_t i = 0; i < d.group_words; ++i, word += PackedWeights::block, x += Rows * fields) {
      const Ints packed = kernels::vector_at<64>(word);
      if constexpr (Bits == 4) {
        const Ints centred = packed ^ static_cast<std::int32_t>(0x88888888u);
        const Ints low = centred & 0x0f0f0f0f, high = (centred >> 4) & 0x0f0f0f0f;
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r) {
          add_four(low, lane_at(x + r * fields), sums[r]);
          add_four(high, lane_at(x + r * fields + 4), sums[r]);
        }
      } else {
        const Ints centred = packed ^ static_cast<std::int32_t>(0x80808080u);
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r) add_four(centred, lane_at(x + r * fields), sums[r]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) kernels::vector_at<64>(to + r * PackedWeights::block) = sums[r];
  }
}

#endif

/// Computes the sums of a tile of `rows`: a power of two up to dot_form(set, Bits).most_rows, or, on vnni and sdot, 3.
/// This CPU must have `set`.
template <int Bits>
void compute_dots([[maybe_unused]] DotSet set, std::int64_t rows, const ByteDots& d) noexcept {
  const auto run = [&]<int Rows>() {
#if DAVIT_BYTE_CONVOLUTION
    if (set == DotSet::vnni) return dots_vnni<Bits, Rows>(d);
    if constexpr (Rows <= 8)
      if (set == DotSet::avx2) return dots_avx2<Bits, Rows>(d);
#endif
    if constexpr (Rows <= 4) {
#if DAVIT_TARGET_ARM64
      if (set == DotSet::sdot) return dots_sdot<Bits, Rows>(d);
#endif
      dots_plain<Bits, Rows>(d);
    }
  };
  switch (rows) {
    case 1: return run.template operator()<1>();
    case 2: return run.template operator()<2>();
    case 4: return run.template operator()<4>();
#if DAVIT_BYTE_CONVOLUTION
    case 3: return dots_vnni<Bits, 3>(d);
    case 8: return run.template operator()<8>();
    case 16: return run.template operator()<16>();
#elif DAVIT_TARGET_ARM64
    case 3: return dots_sdot<Bits, 3>(d);
#endif
    default: return;
  }
}

}  // namespace davit::portable_kernels::detail
