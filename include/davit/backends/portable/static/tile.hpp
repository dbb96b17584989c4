// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/core/target.hpp"

namespace davit::static_kernels::detail {

/// Packs for the sums of a convolution's tile: the registers minus an element and a weight.
#if DAVIT_TARGET_HELIUM
inline constexpr Index tile_sums = 4;
#else
inline constexpr Index tile_sums = simd == 1 ? 16 : 8;
#endif
/// Packs of filters in a tile.
inline constexpr Index tile_filters = simd == 1 ? 4 : 2;

/// Some neighbouring places of a row of a convolution's output, with unrolled taps. Taps outside the image row are left
/// out at the edges.
template <Index InW, Index Kernel, Index Stride, Index Pad, Index Dilation, Index First, Index Places, bool Edge>
struct PlaceTile {
  static constexpr Index places = Places;
  static constexpr Index columns = (Places - 1) * Stride + (Kernel - 1) * Dilation + 1;

  /// sum[p] += the taps of one kernel row at place p, in order; `from` is the image row, `tap` the stride of weights.
  template <Index Vectors>
  [[gnu::always_inline]] static constexpr void add(const float* from, Index place, const float* weight, Index tap,
                                                   Pack<simd> (&sum)[Places][Vectors]) noexcept {
    if constexpr (Edge) place = First;
    const Index start = place * Stride - Pad;
    unroll<columns>([&]<Index C>() __attribute__((always_inline)) {
      constexpr Index column = First * Stride - Pad + C;
      if constexpr (!Edge || (column >= 0 && column < InW)) {
        unroll<Kernel>([&]<Index K>() __attribute__((always_inline)) {
          constexpr Index distance = C - K * Dilation;
          if constexpr (distance >= 0 && distance % Stride == 0 && distance / Stride < Places) {
            const float x = from[start + C];
            unroll<Vectors>([&]<Index V>() __attribute__((always_inline)) {
              Pack<simd>& at = sum[distance / Stride][V];
              at = add_product(at, load<simd>(weight + K * tap + V * simd), x);
            });
          }
        });
      }
    });
  }
};

/// A row of a convolution's output, split into tiles of at most `Places` places.
template <Index InW, Index OutW, Index Kernel, Index Stride, Index Pad, Index Dilation, Index Places>
struct RowTiles {
  static constexpr Index tiles = (OutW + Places - 1) / Places;

  [[nodiscard]] static constexpr bool at_edge(Index tile) noexcept {
    const Index last = ((tile + 1) * Places - 1) * Stride - Pad + (Kernel - 1) * Dilation;
    return tile * Places * Stride < Pad || last >= InW || (tile + 1) * Places > OutW;
  }
  static constexpr Index left = [] {
    Index tile = 0;
    while (tile < tiles && at_edge(tile)) ++tile;
    return tile;
  }();
  static constexpr Index right = [] {
    Index tile = tiles;
    while (tile > left && at_edge(tile - 1)) --tile;
    return tile;
  }();
  /// false if the code would be too large
  static constexpr bool few =
      left + tiles - right <= 4 && Kernel <= 8 && ((Places - 1) * Stride + (Kernel - 1) * Dilation + 1) * Kernel <= 128;

  template <Index First, bool Edge>
  using Tile =
      PlaceTile<InW, Kernel, Stride, Pad, Dilation, First, (First + Places > OutW ? OutW - First : Places), Edge>;

  /// Calls f(Tile, first place) for each tile.
  template <class F>
  [[gnu::always_inline]] static constexpr void for_each(F&& f) noexcept {
    unroll<left>([&]<Index I>() __attribute__((always_inline)) { f(Tile<I * Places, true>{}, I * Places); });
    if constexpr (left < right)
      for (Index i = left; i < right; ++i) f(Tile<left * Places, false>{}, i * Places);
    unroll<tiles - right>(
        [&]<Index I>() __attribute__((always_inline)) { f(Tile<(right + I) * Places, true>{}, (right + I) * Places); });
  }
};

/// Stores four packs of elements as rows of four: row n, at n * `step`, holds element n of each pack.
template <Index N>
[[gnu::always_inline]] inline void store_transposed(const Pack<N>& a, const Pack<N>& b, const Pack<N>& c,
                                                    const Pack<N>& d, Index rows, float* to, Index step) noexcept {
  static_assert(N == 4 || N == 8);
  const auto put = [&](Index row, const Pack<4>& v) __attribute__((always_inline)) {
    if (row < rows) store<4>(to + row * step, v);
  };
  if constexpr (N == 4) {
    const Pack<4> ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Pack<4> ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    put(0, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
    put(1, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
    put(2, __builtin_shufflevector(ef, gh, 0, 1, 4, 5));
    put(3, __builtin_shufflevector(ef, gh, 2, 3, 6, 7));
  } else {
    const auto halves = [&](Index row, const Pack<8>& v) __attribute__((always_inline)) {
      put(row, __builtin_shufflevector(v, v, 0, 1, 2, 3));
      put(row + 4, __builtin_shufflevector(v, v, 4, 5, 6, 7));
    };
    const Pack<8> ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    const Pack<8> cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
    const Pack<8> ef = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    const Pack<8> gh = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
    halves(0, __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13));
    halves(1, __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15));
    halves(2, __builtin_shufflevector(ef, gh, 0, 1, 8, 9, 4, 5, 12, 13));
    halves(3, __builtin_shufflevector(ef, gh, 2, 3, 10, 11, 6, 7, 14, 15));
  }
}

/// True if shuffling packs in registers pays.
#if DAVIT_TARGET_SSE2 || DAVIT_TARGET_NEON
inline constexpr bool shuffles = simd > 1;
#else
inline constexpr bool shuffles = false;
#endif

/// Adds the bias (if any) to a tile's sums, and stores the first `count` filters: filter f at place p is y[f * plane +
/// p].
template <Index Places, Index Vectors>
[[gnu::always_inline]] constexpr void store_tile(Pack<simd> (&sum)[Places][Vectors], const float* bias, Index count,
                                                 float* y, Index plane) noexcept {
  unroll<Vectors>([&]<Index V>() __attribute__((always_inline)) {
    const Index left = count - V * simd;
    if (left <= 0) return;
    if (bias != nullptr) {
      const Pack<simd> added = load_some<simd>(bias + V * simd, left);
      unroll<Places>([&]<Index P>() __attribute__((always_inline)) { sum[P][V] += added; });
    }
    float* to = y + V * simd * plane;
    constexpr Index fours = shuffles ? Places / 4 : 0;
    unroll<fours>([&]<Index I>() __attribute__((always_inline)) {
      constexpr Index p = 4 * I;
      store_transposed<simd>(sum[p][V], sum[p + 1][V], sum[p + 2][V], sum[p + 3][V], left, to + p, plane);
    });
    unroll<Places - 4 * fours>([&]<Index I>() __attribute__((always_inline)) {
      constexpr Index p = 4 * fours + I;
      if (plane == 1) return store_some<simd>(to, sum[p][V], left);
      std::array<float, simd> parts;
      store<simd>(parts.data(), sum[p][V]);
      unroll<simd>([&]<Index N>() __attribute__((always_inline)) {
        if (N < left) to[N * plane + p] = parts[N];
      });
    });
  });
}

}  // namespace davit::static_kernels::detail
