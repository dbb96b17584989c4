// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "davit/backends/portable/run_time/products/row_epilogue.hpp"
#include "davit/core/target.hpp"
#include "davit/kernels/function_ref.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/thread_team.hpp"

namespace davit::portable_kernels {

using kernels::lanes;
using kernels::Vector;

/// A matrix anywhere in memory: element (i, j) is data[i * row + j * col].
///
/// With `pairs` each float is the bits of two bfloat16, neighbours along the summed dimension, in the matrix and in the
/// panels. Only `gemm` takes pairs.
template <class C>
struct Matrix {
  const C* data = nullptr;
  std::int64_t row = 0;
  std::int64_t col = 0;
  bool pairs = false;

  [[nodiscard]] Matrix transposed() const noexcept { return {data, col, row, pairs}; }
};

/// True if this CPU multiplies pairs of bfloat16 (AVX512_BF16); it flushes subnormal numbers.
[[nodiscard]] inline bool multiplies_pairs() noexcept {
#if DAVIT_TARGET_X86_64 && __STDC_HOSTED__
  return !kernels::one_instruction_set && kernels::widest_vectors() == 64 && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

/// Some rows of the right operand for tiles: element (k, j) is data[rows[k] + j].
template <class C>
struct Panel {
  const C* data = nullptr;
  const std::int64_t* rows = nullptr;
};

/// The requested part of a right operand: rows [k, k + depth), columns [j, j + count).
struct PanelRange {
  std::int64_t k, depth, j, count;
  std::int64_t width;               ///< of a packed panel
  const std::int64_t* packed_rows;  ///< multiples of `width`
};

/// Provides a panel of a right operand: fills `to` (depth x width elements), or points to the operand itself. Called
/// from several threads at once.
template <class C>
using PanelSource = kernels::FunctionRef<Panel<C>(C* to, const PanelRange&)>;

/// Rows and elements of a panel; panels per pass, so that the left operand is read once for all of them; rows of the
/// left operand per pass.
inline constexpr std::int64_t panel_depth = 256;
inline constexpr std::int64_t panel_elements = 8192;
inline constexpr std::int64_t panels_at_once = 8;
inline constexpr std::int64_t rows_at_once = 1024;

/// Columns whose sums fit the registers; panels have a multiple of them.
template <class C>
[[nodiscard]] std::int64_t tile_width() noexcept {
  return std::is_floating_point_v<C> ? 2 * kernels::widest_lanes<C>() : 16;
}
namespace detail {

/// The vectors of the widest tile: four where 32 registers hold few elements each, for more products per load. Such a
/// tile's columns are copied, if so many rows use them: a step then needs no address.
template <std::size_t Bytes>
inline constexpr std::size_t widest_tile = kernels::many_narrow_registers<Bytes> ? 4 : 2;
inline constexpr std::int64_t rows_worth_a_copy = 16;
template <class C>
inline constexpr std::int64_t tile_copy = widest_tile<kernels::vector_bytes> == 4 ? panel_depth * 4 * lanes<C> : 0;

}  // namespace detail

/// Columns of a panel of `depth` rows.
template <class C>
[[nodiscard]] std::int64_t panel_width(std::int64_t depth) noexcept {
  const std::int64_t tile = tile_width<C>();
  constexpr std::int64_t step =
      static_cast<std::int64_t>(detail::widest_tile<kernels::vector_bytes>) / 2;  // whole tiles
  return std::clamp(panel_elements / std::clamp<std::int64_t>(depth, 1, panel_depth) / tile / step * step, step,
                    panels_at_once) *
         tile;
}

namespace detail {

/// Elements of a thread's panel and, for a padded group of columns, of its result.
template <class C>
[[nodiscard]] std::int64_t panel_room() noexcept {
  return std::max(panel_elements, panel_depth * tile_width<C>());
}
template <class C>
[[nodiscard]] std::int64_t aside_room(std::int64_t m) noexcept {
  return std::min(m, rows_at_once) * tile_width<C>();
}

}  // namespace detail

/// Elements of work space of a product on one thread, and on all.
template <class C>
[[nodiscard]] std::int64_t gemm_work_of_thread(std::int64_t m) noexcept {
  return detail::panel_room<C>() + detail::aside_room<C>(m) + detail::tile_copy<C>;
}
template <class C>
[[nodiscard]] std::int64_t gemm_work(std::int64_t m) noexcept {
  return gemm_work_of_thread<C>(m) * kernels::team_size();
}

namespace detail {

template <std::size_t N, class F>
[[gnu::always_inline]] inline void unroll(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>)
      __attribute__((always_inline)) { (f.template operator()<I>(), ...); }(std::make_index_sequence<N>{});
}

/// c (rows x width) = a (rows x depth) * b, added to c if requested, plus an optional number per row.
template <class C>
struct PanelProduct {
  std::int64_t rows, depth, width;
  Matrix<C> a;
  Panel<C> b;
  C* c;
  std::int64_t c_row;
  const C* bias;
  bool accumulate;
  C* tile;  ///< room for tile_copy elements
  const RowEpilogue* epilogue = nullptr;
};
/// True if products apply the epilogue to sums in registers, so that `FinishRows` is not needed.
template <class C, std::size_t Bytes>
inline constexpr bool finishes_tiles = std::is_same_v<C, float> && kernels::many_narrow_registers<Bytes>;

/// sum += products of the two bfloat16 of each element with those of `pair`, on vectors of 64 bytes.
template <class V>
[[gnu::always_inline]] inline void add_pairs(const V& a, const float& pair, V& sum) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, &pair, sizeof bits);
  using Ints = Vector<std::uint32_t, sizeof(V)>;
  const Ints every = bits - Ints{};
#if defined(__clang__)  // clang refuses the instruction outside functions for its CPUs, inlined or not
  const Ints own = __builtin_bit_cast(Ints, a);
  sum += __builtin_bit_cast(V, own << 16) * __builtin_bit_cast(V, every << 16);
  sum += __builtin_bit_cast(V, own & 0xffff0000U) * __builtin_bit_cast(V, every & 0xffff0000U);
#else
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(every));
#endif
}

/// sum += row * factors[K], as one instruction of ARM64. It stays where it is written: g++ would read more vectors
/// ahead than there are registers.
template <std::size_t K, class V>
[[gnu::always_inline]] inline void add_lane_product(const V& row, const V& factors, V& sum) noexcept {
#if DAVIT_TARGET_ARM64
  if constexpr (sizeof(sum[0]) == 4)
    asm volatile("fmla %0.4s, %1.4s, %2.s[%c3]" : "+w"(sum) : "w"(row), "w"(factors), "i"(K));
  else
    asm volatile("fmla %0.2d, %1.2d, %2.d[%c3]" : "+w"(sum) : "w"(row), "w"(factors), "i"(K));
#else
  sum += row * factors[K];
#endif
}

/// The product for floats, for pairs of bfloat16, and for integers on vectors of 64 bytes; `width` is one vector or an
/// even number of them. Sums are in the order of k.
template <bool Pairs = false>
struct MultiplyPanel {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const PanelProduct<C>* p) {
    if (p->width == lanes<C, Bytes>)
      tiles<Bytes, 1>(*p);
    else
      tiles<Bytes, widest_tile<Bytes>>(*p);
  }

 private:
  template <std::size_t Bytes, std::size_t Vectors, class C>
  [[gnu::always_inline]] static void tiles(const PanelProduct<C>& p) {
    std::int64_t done = 0;
    if constexpr (Vectors == 4)
      if (p.rows >= rows_worth_a_copy && p.a.col == 1) done = copied_tiles<Bytes, Vectors>(p);
    if (done < p.width) tiles_as_is<Bytes, Vectors>(p, done);
  }
  /// Copies the columns of one tile after the other, and multiplies; returns the first column left over.
  template <std::size_t Bytes, std::size_t Vectors, class C>
  [[gnu::always_inline]] static std::int64_t copied_tiles(const PanelProduct<C>& p) {
    constexpr std::int64_t columns = static_cast<std::int64_t>(Vectors) * lanes<C, Bytes>;
    std::int64_t j = 0;
    for (; j + columns <= p.width; j += columns) {
      C* to = p.tile;
#pragma GCC unroll 4
      for (std::int64_t k = 0; k < p.depth; ++k, to += columns) {
        const C* const from = p.b.data + p.b.rows[k] + j;
        Vector<C, Bytes> row[Vectors];
        unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
          row[N] = kernels::vector_at<Bytes>(from + static_cast<std::int64_t>(N) * lanes<C, Bytes>);
        });
        unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
          kernels::vector_at<Bytes>(to + static_cast<std::int64_t>(N) * lanes<C, Bytes>) = row[N];
        });
      }
      std::int64_t i = 0;
      const auto take = [&]<std::size_t Rows>() __attribute__((always_inline)) {
        for (; i + static_cast<std::int64_t>(Rows) <= p.rows; i += static_cast<std::int64_t>(Rows))
          tile<Bytes, Rows, Vectors, true>(p, i, j);
      };
      take.template operator()<5>();
      take.template operator()<4>();
      take.template operator()<2>();
      take.template operator()<1>();
    }
    return j;
  }
  template <std::size_t Bytes, std::size_t Vectors, class C>
  [[gnu::always_inline]] static void tiles_as_is(const PanelProduct<C>& p, std::int64_t first) {
    std::int64_t i = 0;
    const auto take = [&]<std::size_t Rows>() __attribute__((always_inline)) {
      for (; i + static_cast<std::int64_t>(Rows) <= p.rows; i += static_cast<std::int64_t>(Rows)) {
        std::int64_t j = first;
        if constexpr (Vectors > 2)
          for (; j + static_cast<std::int64_t>(Vectors) * lanes<C, Bytes> <= p.width;
               j += static_cast<std::int64_t>(Vectors) * lanes<C, Bytes>)
            tile<Bytes, Rows, Vectors>(p, i, j);
        constexpr std::size_t narrow = std::min(Vectors, std::size_t{2});
        for (; j < p.width; j += static_cast<std::int64_t>(narrow) * lanes<C, Bytes>)
          tile<Bytes, Rows, narrow>(p, i, j);
      }
    };
    if constexpr (kernels::many_narrow_registers<Bytes> && Vectors == 1) take.template operator()<12>();
    take.template operator()<Bytes == 64 ? 8 : Vectors == 4 ? 5 : 6>();  // the number of registers
    take.template operator()<4>();
    take.template operator()<2>();
    take.template operator()<1>();
  }
  template <std::size_t Bytes, std::size_t Rows, std::size_t Vectors, bool Copied = false, class C>
  [[gnu::always_inline]] static void tile(const PanelProduct<C>& p, std::int64_t i, std::int64_t j) {
    using V = Vector<C, Bytes>;
    constexpr auto step = static_cast<std::size_t>(lanes<C, Bytes>);
    C* const c = p.c + i * p.c_row + j;
    const std::int64_t c_row = p.c_row;
    V sums[Rows][Vectors];
    unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
      unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
        sums[R][N] = V{};
        if (p.accumulate) sums[R][N] = kernels::vector_at<Bytes>(c + static_cast<std::int64_t>(R) * c_row + N * step);
      });
    });
    const C* a = p.a.data + i * p.a.row;
    const std::int64_t a_row = p.a.row;
    const std::int64_t a_col = p.a.col;
    const C* b = Copied ? p.tile : p.b.data + j;
    const std::int64_t* const b_rows = p.b.rows;
    const std::int64_t depth = p.depth;
    std::int64_t k = 0;
    constexpr std::size_t blocks = Copied ? 2 : 1, half = std::min(Vectors, std::size_t{2});
    // the factors of a row of several steps by one load: on ARM64, products take one element of a vector
    if constexpr (kernels::many_narrow_registers<Bytes> && !Pairs)
      if (a_col == 1) {
        constexpr std::int64_t steps = blocks * lanes<C, Bytes>;
        const std::int64_t whole = depth / steps * steps;
        const C* const end = b + (Copied ? whole * static_cast<std::int64_t>(Vectors * step) : 0);
        for (; Copied ? b != end : k < whole; k += Copied ? 0 : steps) {
          unroll<blocks>([&]<std::size_t B>() __attribute__((always_inline)) {
            V factors[Rows], row[Vectors];
            unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
              factors[R] = kernels::vector_at<Bytes>(a + static_cast<std::int64_t>(R) * a_row);
            });
            a += step;
            const C* place = b;
            const C*& from = Copied ? b : place;
            const auto read = [&]<std::size_t K, std::size_t First>() __attribute__((always_inline)) {
              if constexpr (!Copied && First == 0) from = b + b_rows[k + static_cast<std::int64_t>(K)];
              asm volatile("" : "+r"(from));
              unroll<half>([&]<std::size_t N>() __attribute__((always_inline)) {
                row[First + N] = kernels::vector_at<Bytes>(
                    from + (Copied ? (B * step + K) * Vectors + First + N : First + N) * step);
              });
            };
            const auto multiply = [&]<std::size_t K, std::size_t First>() __attribute__((always_inline)) {
              unroll<half * Rows>([&]<std::size_t I>() __attribute__((always_inline)) {
                add_lane_product<K>(row[First + I / Rows], factors[I % Rows], sums[I % Rows][First + I / Rows]);
              });
            };
            // one half of a row is read while the other is multiplied
            read.template operator()<0, 0>();
            unroll<step>([&]<std::size_t K>() __attribute__((always_inline)) {
              if constexpr (half < Vectors) read.template operator()<K, half>();
              multiply.template operator()<K, 0>();
              if constexpr (K + 1 < step) read.template operator()<K + 1, 0>();
              if constexpr (half < Vectors) multiply.template operator()<K, half>();
            });
          });
          if constexpr (Copied) b += blocks * step * Vectors * step;
        }
        k = whole;
      }
    for (; k < depth; ++k, a += a_col) {
      const C* from = b;
      if constexpr (Copied)
        b += Vectors * step;
      else
        from += b_rows[k];
      V row[Vectors];
      unroll<Vectors>([&]<std::size_t N>()
                          __attribute__((always_inline)) { row[N] = kernels::vector_at<Bytes>(from + N * step); });
      unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
        const C& factor = a[static_cast<std::int64_t>(R) * a_row];
        unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
          if constexpr (Pairs)
            add_pairs(row[N], factor, sums[R][N]);
          else
            sums[R][N] += row[N] * factor;
        });
      });
    }
    unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
      const C bias = p.bias == nullptr ? C{} : p.bias[i + static_cast<std::int64_t>(R)];
      unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
        if (p.bias != nullptr) sums[R][N] += bias;
      });
    });
    if constexpr (finishes_tiles<C, Bytes>)
      if (p.epilogue != nullptr)
        p.epilogue->factors == nullptr ? finish<false>(*p.epilogue, i, sums) : finish<true>(*p.epilogue, i, sums);
    unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
      unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
        kernels::vector_at<Bytes>(c + static_cast<std::int64_t>(R) * c_row + N * step) = sums[R][N];
      });
    });
  }
  /// Applies the epilogue to the sums of rows from `i` on.
  template <bool Scaled, std::size_t Rows, std::size_t Vectors, class V>
  [[gnu::always_inline]] static void finish(const RowEpilogue& e, std::int64_t i, V (&sums)[Rows][Vectors]) {
    const V low = e.low - V{}, high = e.high - V{};
    unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
      const float factor = Scaled ? e.factors[i + static_cast<std::int64_t>(R)] : 1,
                  shift = Scaled ? e.shifts[i + static_cast<std::int64_t>(R)] : 0;
      finish_vectors<Scaled>(factor, shift, low, high, sums[R]);
    });
  }
};

/// The product for integers: vectors pay only with an instruction for 64-bit products (AVX-512), keeping sums in
/// registers pays everywhere.
template <class C>
void multiply_integers(const PanelProduct<C>& p) {
  const auto take = [&]<std::size_t Rows, std::size_t Columns>(std::int64_t i, std::int64_t j) {
    const C* const left = p.a.data + i * p.a.row;
    C* const to = p.c + i * p.c_row + j;
    C sums[Rows][Columns];
    unroll<Rows * Columns>([&]<std::size_t I>() __attribute__((always_inline)) {
      constexpr std::size_t r = I / Columns, n = I % Columns;
      sums[r][n] = p.accumulate ? to[static_cast<std::int64_t>(r) * p.c_row + static_cast<std::int64_t>(n)] : C{};
    });
    for (std::int64_t k = 0; k < p.depth; ++k) {
      const C* const from = p.b.data + p.b.rows[k] + j;
      unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
        const C factor = left[static_cast<std::int64_t>(R) * p.a.row + k * p.a.col];
        unroll<Columns>([&]<std::size_t N>() __attribute__((always_inline)) { sums[R][N] += factor * from[N]; });
      });
    }
    unroll<Rows * Columns>([&]<std::size_t I>() __attribute__((always_inline)) {
      constexpr auto r = static_cast<std::int64_t>(I / Columns), n = static_cast<std::int64_t>(I % Columns);
      to[r * p.c_row + n] = sums[r][n] + (p.bias == nullptr ? C{} : p.bias[i + r]);
    });
  };
  const auto rows = [&]<std::size_t Rows>(std::int64_t i) {
    std::int64_t j = 0;
    for (; j + 2 <= p.width; j += 2) take.template operator()<Rows, 2>(i, j);
    if (j < p.width) take.template operator()<Rows, 1>(i, j);
  };
  std::int64_t i = 0;
  for (; i + 2 <= p.rows; i += 2) rows.template operator()<2>(i);
  if (i < p.rows) rows.template operator()<1>(i);
}

/// Columns that are computed together: panels of `width` columns. The remaining columns at the end overlap with earlier
/// ones, so that vectors are full; if the matrix has fewer columns than a vector, they are `padded`.
struct PanelGroup {
  std::int64_t first, panels, width;
  bool padded = false;

  template <class C>
  [[nodiscard]] static PanelGroup next(std::int64_t j, std::int64_t n, std::int64_t width) noexcept {
    const std::int64_t rest = n - j;
    if (rest >= width) return {j, std::min(rest / width, panels_at_once), width};
    if constexpr (!std::is_floating_point_v<C>) return {j, 1, rest};
    const std::int64_t tile = tile_width<C>();
    if (rest >= tile) return {j, 1, rest / tile * tile};
    const std::int64_t vector = tile / 2;
    if (rest > vector) return n >= tile ? PanelGroup{n - tile, 1, tile} : PanelGroup{j, 1, vector};
    return n >= vector ? PanelGroup{n - vector, 1, vector} : PanelGroup{0, 1, vector, true};
  }
};

/// `gemm` on the calling thread.
template <class C>
void gemm_on_thread(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, C* work, PanelSource<C> source, C* c,
                    std::int64_t c_row, const C* bias, const RowEpilogue& epilogue) {
  const std::int64_t width = panel_width<C>(k);
  std::array<std::int64_t, panel_depth> packed_rows;
  for (std::int64_t i = 0; i < panel_depth; ++i) packed_rows[static_cast<std::size_t>(i)] = i * width;
  C* const aside = work + panel_room<C>();
  C* const tile = aside + aside_room<C>(m);
  for (std::int64_t i = 0; i < m; i += rows_at_once) {
    const std::int64_t rows = std::min(rows_at_once, m - i);
    for (std::int64_t j = 0; j < n;) {
      const PanelGroup group = PanelGroup::next<C>(j, n, width);
      const std::int64_t count = group.padded ? n : group.width;
      for (std::int64_t at = 0; at == 0 || at < k; at += panel_depth) {
        const std::int64_t depth = std::min(panel_depth, k - at);
        for (std::int64_t p = 0; p < group.panels; ++p) {
          const std::int64_t first = group.first + p * group.width;
          PanelProduct<C> product{rows,  depth,   group.width, a,   {work, packed_rows.data()}, c + i * c_row + first,
                                  c_row, nullptr, at > 0,      tile};
          if (k > 0) {
            product.a.data += i * a.row + at * a.col;
            product.b = source(work, PanelRange{at, depth, first, count, width, packed_rows.data()});
          }
          if (bias != nullptr && at + depth == k) product.bias = bias + i;
          if constexpr (!std::is_floating_point_v<C>) {
#if DAVIT_WIDER_VECTORS
            if (kernels::widest_vectors() == 64 && product.width % tile_width<C>() == 0) {
              kernels::run_on<MultiplyPanel<>, 64>(static_cast<const PanelProduct<C>*>(&product));
              continue;
            }
#endif
            multiply_integers(product);
            continue;
          }
          if (group.padded) {
            for (std::int64_t d = 0; d < depth; ++d) {
              C* const to = work + d * width;
              if (product.b.data != work) std::copy_n(product.b.data + product.b.rows[d], count, to);
              std::fill(to + count, to + group.width, C{});
            }
            product.b = {work, packed_rows.data()};
            product.c = aside;
            product.c_row = group.width;
          }
          const bool finishes = !epilogue.is_none() && at + depth >= k;
          const RowEpilogue own = epilogue.from(i);
          const bool in_tiles = finishes_tiles<C, kernels::vector_bytes> && epilogue.clamps_vectors();
          if (finishes && in_tiles) product.epilogue = &own;
          bool done = false;
          if constexpr (std::is_same_v<C, float> && (DAVIT_WIDER_VECTORS || kernels::vector_bytes == 64))
            if (a.pairs) {
              kernels::run_on<MultiplyPanel<true>, 64>(static_cast<const PanelProduct<C>*>(&product));
              done = true;
            }
          if (!done) kernels::run_widest_for<C, MultiplyPanel<>>(static_cast<const PanelProduct<C>*>(&product));
          if constexpr (std::is_same_v<C, float>)
            if (finishes && !in_tiles)
              kernels::run_widest<FinishRows>(&own, rows, group.width, product.c, product.c_row);
        }
      }
      if (group.padded)
        for (std::int64_t r = 0; r < rows; ++r) std::copy_n(aside + r * group.width, n, c + (i + r) * c_row);
      j = group.first + group.panels * group.width;
    }
  }
}

}  // namespace detail

/// c (rows of `c_row` elements) = the product of `a` (m x k) and the k x n matrix that `source` gives in panels, plus a
/// number per row (`bias`, may be nullptr), then the rows' `epilogue` (for floats alone).
///
/// `work` holds gemm_work<C>(m) elements. Integer types must be unsigned and wrap around. Sums are in the order of k,
/// however many threads there are. O(m * n * k).
template <class C>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, C* work, PanelSource<C> source, C* c,
          std::int64_t c_row, const C* bias = nullptr, const RowEpilogue& epilogue = {}) {
  const std::int64_t threads = kernels::team_size();
  const std::int64_t width = panel_width<C>(k);
  const auto work_of = [=](std::size_t part) {
    return work + static_cast<std::int64_t>(part) * gemm_work_of_thread<C>(m);
  };
  if (threads == 1) return detail::gemm_on_thread<C>(m, n, k, a, work, source, c, c_row, bias, epilogue);
  if (n < 2 * threads * width && m >= 16 * threads)  // rows: each thread then makes the panels itself
    return kernels::in_parallel(
        m, 8, kernels::operations(m, n, k), [&](std::size_t part, std::int64_t first, std::int64_t end) {
          const Matrix<C> rows{a.data == nullptr ? nullptr : a.data + first * a.row, a.row, a.col, a.pairs};
          detail::gemm_on_thread<C>(end - first, n, k, rows, work_of(part), source, c + first * c_row, c_row,
                                    bias == nullptr ? nullptr : bias + first, epilogue.from(first));
        });
  kernels::in_parallel(n, width, kernels::operations(m, n, k),
                       [&](std::size_t part, std::int64_t first, std::int64_t end) {
                         detail::gemm_on_thread<C>(
                             m, end - first, k, a, work_of(part),
                             [&](C* to, PanelRange r) {
                               r.j += first;
                               return source(to, r);
                             },
                             c + first, c_row, bias, epilogue);
                       });
}

}  // namespace davit::portable_kernels
