// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/packs.hpp"
#include "davit/core/target.hpp"

namespace davit::static_kernels {

/// The layout of a weight.
enum class Layout : std::int32_t {
  contiguous,    ///< torch's: (out, in, kernel)
  output_inner,  ///< (in, kernel, out), padded with zeros to a multiple of 8 outputs
};

[[nodiscard]] constexpr std::int32_t padded_to_8(std::int32_t n) noexcept { return (n + 7) / 8 * 8; }

/// y (rows, out) = x (rows, in) times a weight, plus a bias: linear, addmm with alpha = beta = 1.
struct Linear {
  std::int32_t rows = 1, in = 0, out = 0;
  Layout layout = Layout::contiguous;
  std::int32_t bias = 1;  ///< 0: none; else one element per output
};

/// y = a (batch, rows, depth) times b (batch, depth, columns), both contiguous, per batch: mm, bmm, matmul.
struct Product {
  std::int32_t batch = 1, rows = 0, columns = 0, depth = 0;
};

namespace detail {

/// A right operand for tiles: element (k, j) is data[k * row + j]; `padded` if 8 columns may be read where fewer
/// remain.
struct Columns {
  const float* data;
  Index row, count;
  bool padded;
};

/// y[r][j] = the sum over k, in order, of x[r][k] * b(k, j), plus a bias: `Rows` x `Vectors` packs of N, in registers.
template <bool Unrolled, Index N, Index Rows, Index Vectors>
[[gnu::always_inline]] constexpr void product_tile(Index depth, const float* x, Index x_row, const float* b,
                                                   Index b_row, const float* bias, Index count, float* y,
                                                   Index y_row) noexcept {
  Pack<N> sum[Rows][Vectors]{};
  const auto add = [&](Index k) __attribute__((always_inline)) {
    float factors[Rows];
    unroll<Rows>([&]<Index R>() __attribute__((always_inline)) { factors[R] = load_once(x + R * x_row + k); });
    unroll<Vectors>([&]<Index V>() __attribute__((always_inline)) {
      const Pack<N> column = load<N>(b + k * b_row + V * N);
      unroll<Rows>([&]<Index R>()
                       __attribute__((always_inline)) { sum[R][V] = add_product(sum[R][V], column, factors[R]); });
    });
  };
  constexpr Index step = Unrolled && simd > 1 ? 4 : 1;
  const Index steps = depth / step;
  for (Index i = 0; i < steps; ++i) unroll<step>([&]<Index I>() __attribute__((always_inline)) { add(i * step + I); });
  for (Index i = 0; i < depth % step; ++i) add(steps * step + i);
  unroll<Vectors>([&]<Index V>() __attribute__((always_inline)) {
    const Index left = count - V * N;
    if (left <= 0) return;
    unroll<Rows>([&]<Index R>() __attribute__((always_inline)) {
      if (bias != nullptr) sum[R][V] += load_some<N>(bias + V * N, left);
      store_some<N>(y + R * y_row + V * N, sum[R][V], left);
    });
  });
}

/// Packs per tile, whose sums fit the registers.
inline constexpr Index tile_packs = simd == 8 ? 4 : 8;

/// Packs of the first tiles of shared code, 0 for none: Helium's loops gain a quarter from 16 columns.
#if DAVIT_TARGET_HELIUM
inline constexpr Index wide_packs = simd == 4 ? 4 : 0;
#else
inline constexpr Index wide_packs = 0;
#endif

/// Multiplies `Rows` rows with all columns. Shared code (not `Fixed`) has a tile of 8 columns, to which weights are
/// padded.
template <bool Fixed, Index Rows>
[[gnu::always_inline]] constexpr void product_rows(Index depth, const float* x, Index x_row, const Columns& b,
                                                   const float* bias, float* y, Index y_row) noexcept {
  const auto tile = [&]<Index N, Index Vectors>(Index j) __attribute__((always_inline)) {
    product_tile<Fixed, N, Rows, Vectors>(depth, x, x_row, b.data + j, b.row, bias == nullptr ? nullptr : bias + j,
                                          b.count - j, y + j, y_row);
  };
  Index done = 0;
  if !consteval {
    if constexpr (!Fixed && wide_packs > 0)
      for (; b.count - done >= wide_packs * simd; done += wide_packs * simd)
        tile.template operator()<simd, wide_packs>(done);
    const Index start = done;
    constexpr Index most = Fixed ? tile_packs / Rows : 8 / simd;
    const Index left = b.count - start;
    const Index packs = b.padded ? (left + simd - 1) / simd : left / simd;
    const Index tiles = !Fixed && b.padded ? (packs + most - 1) / most : packs / most;
    for (Index i = 0; i < tiles; ++i) tile.template operator()<simd, most>(start + i * most * simd);
    done = start + tiles * most * simd;
    if constexpr (Fixed) {
      unroll<most>([&]<Index Rest>() __attribute__((always_inline)) {
        if constexpr (Rest > 0)
          if (packs % most == Rest) tile.template operator()<simd, Rest>(start + tiles * most * simd);
      });
      done = start + packs * simd;
      if constexpr (simd > 4)
        if (b.count - done >= 4) {
          tile.template operator()<4, 1>(done);
          done += 4;
        }
    }
  }
  const Index rest = b.count - done;
  for (Index i = 0; i < rest; ++i) tile.template operator()<1, 1>(done + i);
}

template <bool Fixed>
[[gnu::always_inline]] constexpr void product(Index rows, Index depth, const float* x, const Columns& b,
                                              const float* bias, float* y) noexcept {
  constexpr Index step = Fixed ? 2 : 1;
  const auto take = [&]<Index Rows>(Index r) __attribute__((always_inline)) {
    product_rows<Fixed, Rows>(depth, x + r * depth, depth, b, bias, y + r * b.count, b.count);
  };
  const Index steps = rows / step;
  for (Index i = 0; i < steps; ++i) take.template operator()<step>(i * step);
  if (rows % step != 0) take.template operator()<1>(steps * step);
}

/// y[j] = the sum over k, in order, of x[k] * b[j * depth + k], plus a bias of float32.
template <class T>
[[gnu::always_inline]] constexpr void product_by_dots(Index depth, const T* x, const T* b, Index count,
                                                      const float* bias, T* y) noexcept {
  const auto dots = [&]<Index Count>(Index j) __attribute__((always_inline)) {
    Computed<T> sum[Count]{};
    for (Index k = 0; k < depth; ++k)
      unroll<Count>([&]<Index I>() __attribute__((always_inline)) {
        if constexpr (std::is_same_v<T, float>)
          sum[I] = add_product(sum[I], b[(j + I) * depth + k], x[k]);
        else
          sum[I] = SumOf{}(sum[I], ProductOf{}(loaded(x[k]), loaded(b[(j + I) * depth + k])));
      });
    unroll<Count>([&]<Index I>() __attribute__((always_inline)) {
      if constexpr (std::is_same_v<T, float>)
        if (bias != nullptr) sum[I] += bias[j + I];
      y[j + I] = kernels::convert<T>(sum[I]);
    });
  };
  const Index fours = count / 4, rest = count % 4;
  for (Index i = 0; i < fours; ++i) dots.template operator()<4>(4 * i);
  for (Index i = 0; i < rest; ++i) dots.template operator()<1>(4 * fours + i);
}

}  // namespace detail

/// @name linear: y = x @ weight.T + bias, each sum in order of the inputs, the bias added last; `bias` is read only if
/// Linear::bias says so. O(rows * in * out). Source: at::linear.
/// @{

/// For an output-inner weight.
struct linear_tiles {
  using Params = Linear;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    const Linear& p = numbers_of(params);
    detail::product<is_constant<P>>(p.rows, p.in, x, {weight, padded_to_8(p.out), p.out, true},
                                    p.bias != 0 ? bias : nullptr, y);
  }
};
/// For a contiguous weight of any type; only float32 has a bias.
struct linear_dots {
  using Params = Linear;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x, const T* weight,
                                                   const float* bias) noexcept {
    const Linear& p = numbers_of(params);
    for (Index r = 0; r < p.rows; ++r)
      detail::product_by_dots(p.in, x + r * p.in, weight, p.out, p.bias != 0 ? bias : nullptr, y + r * p.out);
  }
};
/// @}

/// y = a @ b per batch, of any type, each sum in order of the depth. O(batch * rows * columns * depth). Source:
/// at::bmm.
struct product {
  using Params = Product;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* a, const T* b) noexcept {
    const Params& p = numbers_of(params);
    const Index n = p.columns;
    for (Index i = 0; i < p.batch; ++i, a += Index{p.rows} * p.depth, b += n * p.depth, y += p.rows * n) {
      if constexpr (std::is_same_v<T, float>) {
        detail::product<is_constant<P>>(p.rows, p.depth, a, {b, n, n, false}, nullptr, y);
      } else {
        for (Index r = 0; r < p.rows; ++r)
          for (Index j = 0; j < n; ++j) {
            Computed<T> sum{};
            for (Index k = 0; k < p.depth; ++k)
              sum = SumOf{}(sum, ProductOf{}(loaded(a[r * p.depth + k]), loaded(b[k * n + j])));
            y[r * n + j] = kernels::convert<T>(sum);
          }
      }
    }
  }
};

/// y = alpha * y + beta * added, where `added` is (rows, n), (1, n), (rows, 1) or one element, by its steps of 0 or 1.
/// Only float32 has factors. Source: at::addmm.
struct add_scaled {
  struct Params {
    std::int32_t rows = 1, n = 0;
    std::int32_t row_step = 0, step = 1;  ///< between rows and elements of `added`
    float alpha = 1, beta = 1;
  };
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* added) noexcept {
    const Params& p = numbers_of(params);
    if constexpr (std::is_same_v<T, float>) {
      const Index count = Index{p.rows} * p.n;
      if (p.alpha != 1)
        for (Index i = 0; i < count; ++i) y[i] = p.alpha * y[i];
      if (p.beta == 0) return;
    }
    for (Index r = 0; r < p.rows; ++r, y += p.n)
      for (Index j = 0; j < p.n; ++j) {
        const T v = added[r * p.row_step + j * p.step];
        if constexpr (std::is_same_v<T, float>)
          y[j] += p.beta * v;
        else
          y[j] = kernels::convert<T>(SumOf{}(loaded(y[j]), loaded(v)));
      }
  }
};

}  // namespace davit::static_kernels
