// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "davit/backends/portable/run_time/products/byte_dots.hpp"
#include "davit/core/packed_weights.hpp"
#include "davit/kernels/blocks.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vectors.hpp"

/// Products of floats with integer weights by instructions that multiply bytes: a float is an integer of 24 bits times
/// a scale that its group shares, and the integer is three bytes. Sums of a group's products are exact.
namespace davit::portable_kernels::detail {

/// A row of floats, cut into three rows of bytes.
struct SplitRow {
  const float* x;
  PackedWeights weights;  ///< groups, and fields of a word
  DotForm form;
  std::int8_t* tile;     ///< (words, 3, fields), as ByteDots takes them: the lowest bytes are the first row
  std::int32_t* starts;  ///< (groups, 3)
  float* scales;         ///< of the groups
};

/// As many rows as this are cut: for more, weights become floats once for all of them.
inline constexpr std::int64_t most_split_rows = 3;

/// True for sets whose loops take tiles of three rows, in the order of SplitFloats.
[[nodiscard]] constexpr bool takes_split_floats(DotSet set) noexcept {
  return set == DotSet::vnni || set == DotSet::sdot;
}

/// Cuts a row; false if it has numbers that are not finite, or groups whose largest number hides the bits of others.
template <int Bits>
struct SplitFloats {
  static constexpr std::int64_t fields = 32 / Bits;
  static constexpr float most = 8355000;  ///< less than 0x7f7f7f: the highest byte stays in its range
  static constexpr float short_of_bits = 1024, least = 1e-25f, largest = 1e30f;

  template <std::size_t Bytes>
  [[gnu::always_inline]] static bool run(const SplitRow* row) {
    if constexpr (kernels::walks_vectors<Bytes>) {
      const std::int64_t group = row->weights.group_size();
      for (std::int64_t g = 0; g < row->weights.groups; ++g)
        if (!cut<Bytes>(row->x + g * group, group, *row, row->tile + 3 * g * group, row->starts + 3 * g,
                        row->scales[g]))
          return false;
    }
    return kernels::walks_vectors<Bytes>;
  }

 private:
  template <std::size_t Bytes>
  [[gnu::always_inline]] static bool cut(const float* x, std::int64_t count, const SplitRow& row, std::int8_t* tile,
                                         std::int32_t* starts, float& scale) {
    using V = kernels::Vector<float, Bytes>;
    using Ints = kernels::Vector<std::int32_t, Bytes>;
    constexpr std::int64_t step = kernels::lanes<float, Bytes>;
    alignas(Bytes) float rest[step] = {};
    const auto each = [&](auto&& use) __attribute__((always_inline)) {
      std::int64_t i = 0;
      for (; i + step <= count; i += step) {
        const V v = kernels::vector_at<Bytes>(x + i);
        use(v, i, step);
      }
      if (i == count) return;
      std::copy_n(x + i, count - i, rest);
      const V v = kernels::vector_at<Bytes>(rest);
      use(v, i, count - i);
    };
    V greatest{}, strange{};
    each([&](const V& v, std::int64_t, std::int64_t) __attribute__((always_inline)) {
      V size;
      absolute<Ints>(v, size);
      greatest = size > greatest ? size : greatest;
      strange += v - v;  // NaN for infinity and NaN
    });
    float top = 0;
    for (std::int64_t l = 0; l < step; ++l) top = std::max(top, greatest[static_cast<std::size_t>(l)]);
    const float none = kernels::sum_of<float, Bytes>(strange);
    if (none != 0 || top > largest || (top < least && top > 0)) return false;
    const float inverse = top > 0 ? most / top : 0;
    scale = top / most;
    Ints sums[3] = {}, zeros{}, small{};
    each([&](const V& v, std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
      V scaled = v * inverse, size;
      absolute<Ints>(scaled, size);
      small += size < short_of_bits + V{};
      zeros += v == V{};
      const V half =
          __builtin_bit_cast(V, (__builtin_bit_cast(Ints, scaled) & INT32_MIN) | __builtin_bit_cast(Ints, 0.5f + V{}));
      scaled += half;
      Ints left = __builtin_convertvector(scaled, Ints);
      in_order<Bytes>(left, std::make_index_sequence<static_cast<std::size_t>(step)>{});
      for (std::int64_t part = 0; part < 3; ++part) {
        const Ints byte = (left << 24) >> 24;
        left = (left - byte) >> 8;
        sums[part] += byte;
        store<Bytes>(byte, i, n, tile + part * fields);
      }
    });
    for (int part = 0; part < 3; ++part)
      starts[part] = row.form.start(kernels::sum_of<std::int32_t, Bytes>(sums[part]));
    // lanes of true are -1; a part of a vector has zeros behind it, in both
    return 4 * std::int64_t{kernels::sum_of<std::int32_t, Bytes>(zeros - small)} <= count;
  }
  template <class Ints, class V>
  [[gnu::always_inline]] static void absolute(const V& v, V& to) noexcept {
    to = __builtin_bit_cast(V, __builtin_bit_cast(Ints, v) & INT32_MAX);
  }
  /// Puts the even fields of each word, or of a vector that is half of a word, before the odd ones.
  template <std::size_t Bytes, class Ints, std::size_t... I>
  [[gnu::always_inline]] static void in_order(Ints& v, std::index_sequence<I...>) noexcept {
    constexpr std::size_t together = std::min<std::size_t>(sizeof...(I), 8), half = together / 2;
    if constexpr (Bits == 4)
      v = __builtin_shufflevector(v, v,
                                  static_cast<int>(I / together * together + I % half * 2 + I % together / half)...);
  }
  /// Writes a part's bytes from input `i` on, word by word.
  template <std::size_t Bytes, class Ints>
  [[gnu::always_inline]] static void store(const Ints& part, std::int64_t i, std::int64_t count,
                                           std::int8_t* to) noexcept {
    const auto bytes = __builtin_convertvector(part, kernels::Vector<std::int8_t, Bytes / sizeof(float)>);
    const char* const from = reinterpret_cast<const char*>(&bytes);
    if constexpr (kernels::lanes<float, Bytes> >= fields) {
      for (std::int64_t k = 0; k < count; k += fields)
        std::memcpy(to + 3 * (i + k), from + k, static_cast<std::size_t>(fields));
    } else {  // a half of a word
      std::int8_t* const word = to + 3 * (i / fields * fields) + i % fields / 2;
      std::memcpy(word, from, 2);
      std::memcpy(word + 4, from + 2, 2);
    }
  }
};

/// Adds the sums of a row's groups, times their scales, to the totals of a block of outputs.
struct SplitSums {
  std::int64_t groups;
  const std::int32_t* sums;        ///< (groups, 3, 16)
  const float *scales, *offsets;   ///< of the weights, (groups, 16); offsets may be nullptr
  const float *x_scales, *x_sums;  ///< of the groups
};
struct AddSplitSums {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const SplitSums* s, float* totals) {
    using V = kernels::Vector<float, Bytes>;
    constexpr std::size_t step = Bytes / sizeof(float);
    constexpr auto block = static_cast<std::size_t>(PackedWeights::block);
    for (std::size_t at = 0; at < block; at += step) {
      V total = kernels::vector_at<Bytes>(totals + at);
      for (std::int64_t g = 0; g < s->groups; ++g) {
        const std::int32_t* const sums = s->sums + g * 3 * PackedWeights::block + at;
        V sum = __builtin_convertvector(kernels::vector_at<Bytes>(sums), V);
        sum += 256.0f * __builtin_convertvector(kernels::vector_at<Bytes>(sums + block), V);
        sum += 65536.0f * __builtin_convertvector(kernels::vector_at<Bytes>(sums + 2 * block), V);
        const std::int64_t of_group = g * PackedWeights::block + static_cast<std::int64_t>(at);
        total += sum * (kernels::vector_at<Bytes>(s->scales + of_group) * s->x_scales[g]);
        if (s->offsets != nullptr) total += kernels::vector_at<Bytes>(s->offsets + of_group) * s->x_sums[g];
      }
      kernels::vector_at<Bytes>(totals + at) = total;
    }
  }
};

}  // namespace davit::portable_kernels::detail
