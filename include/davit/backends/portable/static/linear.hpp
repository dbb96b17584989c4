// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/core/target.hpp"

namespace davit::static_kernels {

/// How a weight's elements lie.
enum class Layout : std::int32_t {
  contiguous,    ///< as torch has it: (out, in, kernel)
  output_inner,  ///< (in, kernel, out), the outputs padded with zeros to a multiple of 8
};

[[nodiscard]] constexpr std::int32_t padded_to_8(std::int32_t n) noexcept { return (n + 7) / 8 * 8; }

/// y (rows, out) = x (rows, in) times a weight, plus a bias: linear, addmm with alpha = beta = 1.
struct Linear {
  std::int32_t rows = 1, in = 0, out = 0;
  Layout layout = Layout::contiguous;
  std::int32_t bias = 1;  ///< 0: none; else one element per output
};

/// y = a (batch, m, k) times b (batch, k, n), both contiguous, per batch: mm, bmm, matmul. With `b_transposed` b is
/// (batch, n, k).
struct Product {
  std::int32_t batch = 1, m = 0, n = 0, k = 0;
  std::int32_t b_transposed = 0;
  std::int32_t b_shared = 0;  ///< not 0: one b for all of the batch
};

namespace detail {

/// A right operand as tiles read it: element (k, j) is data[k * row + j]; `padded` if 8 columns may be read where fewer
/// are left.
struct Columns {
  const float* data;
  Index row, count;
  bool padded;
};

/// y[r][j] = the sum over k, in order, of x[r][k] * b(k, j), plus a bias: `Rows` x `Vectors` packs of N, kept in
/// registers.
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

/// Packs that a tile has, so that its sums fit the registers.
inline constexpr Index tile_packs = simd == 8 ? 4 : 8;

/// Packs of the first tiles of shared code, 0 without such: Helium's loops gain a quarter where there are 16 columns.
#if DAVIT_TARGET_HELIUM
inline constexpr Index wide_packs = simd == 4 ? 4 : 0;
#else
inline constexpr Index wide_packs = 0;
#endif

/// `Rows` rows times all columns. Shared code (not `Fixed`) has a tile of the 8 columns to which weights are padded.
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

/// y[j] = the sum over k, in order, of x[k] * b[j * depth + k], plus a bias.
[[gnu::always_inline]] constexpr void product_by_dots(Index depth, const float* x, const float* b, Index count,
                                                      const float* bias, float* y) noexcept {
  const auto dots = [&]<Index Count>(Index j) __attribute__((always_inline)) {
    float sum[Count]{};
    for (Index k = 0; k < depth; ++k)
      unroll<Count>([&]<Index I>()
                        __attribute__((always_inline)) { sum[I] = add_product(sum[I], b[(j + I) * depth + k], x[k]); });
    unroll<Count>([&]<Index I>() __attribute__((always_inline)) {
      if (bias != nullptr) sum[I] += bias[j + I];
      y[j + I] = sum[I];
    });
  };
  const Index fours = count / 4, rest = count % 4;
  for (Index i = 0; i < fours; ++i) dots.template operator()<4>(4 * i);
  for (Index i = 0; i < rest; ++i) dots.template operator()<1>(4 * fours + i);
}

}  // namespace detail

/// linear with an output-inner weight.
template <class P>
[[gnu::always_inline]] constexpr void linear_tiles(const P& params, const float* x, const float* weight,
                                                   const float* bias, float* y) noexcept {
  const Linear& p = numbers_of(params);
  detail::product<is_constant<P>>(p.rows, p.in, x, {weight, padded_to_8(p.out), p.out, true},
                                  p.bias != 0 ? bias : nullptr, y);
}
/// linear with a contiguous weight.
template <class P>
[[gnu::always_inline]] constexpr void linear_dots(const P& params, const float* x, const float* weight,
                                                  const float* bias, float* y) noexcept {
  const Linear& p = numbers_of(params);
  for (Index r = 0; r < p.rows; ++r)
    detail::product_by_dots(p.in, x + r * p.in, weight, p.out, p.bias != 0 ? bias : nullptr, y + r * p.out);
}
/// y = x @ weight.T + bias, each sum in order of the inputs, the bias added last; `bias` is not read without one.
/// O(rows * in * out). Source: at::linear.
template <class P>
[[gnu::always_inline]] constexpr void linear(const P& params, const float* x, const float* weight, const float* bias,
                                             float* y) noexcept {
  if (numbers_of(params).layout == Layout::output_inner) return linear_tiles(params, x, weight, bias, y);
  linear_dots(params, x, weight, bias, y);
}

/// y = a @ b per batch, each sum in order of k. O(batch * m * n * k). Source: at::bmm.
template <class P>
[[gnu::always_inline]] constexpr void product(const P& params, const float* a, const float* b, float* y) noexcept {
  const Product& p = numbers_of(params);
  const Index n = p.n;
  for (Index i = 0; i < p.batch; ++i) {
    if (p.b_transposed != 0) {
      for (Index r = 0; r < p.m; ++r) detail::product_by_dots(p.k, a + r * p.k, b, n, nullptr, y + r * n);
    } else {
      detail::product<is_constant<P>>(p.m, p.k, a, {b, n, n, false}, nullptr, y);
    }
    a += Index{p.m} * p.k;
    y += p.m * n;
    if (p.b_shared == 0) b += n * p.k;
  }
}

/// y = alpha * y + beta * added, where `added` is (rows, n), (1, n), (rows, 1) or one element: steps of 0 and 1 tell.
/// What addmm does to a product when alpha or beta is not 1.
struct ScaledAddend {
  std::int32_t rows = 1, n = 0;
  std::int32_t row_step = 0, step = 1;  ///< between rows and elements of `added`
  float alpha = 1, beta = 1;
};
template <class P>
[[gnu::always_inline]] constexpr void add_scaled(const P& params, const float* added, float* y) noexcept {
  const ScaledAddend& p = numbers_of(params);
  const Index count = Index{p.rows} * p.n;
  if (p.alpha != 1)
    for (Index i = 0; i < count; ++i) y[i] = p.alpha * y[i];
  if (p.beta == 0) return;
  for (Index r = 0; r < p.rows; ++r, y += p.n)
    for (Index j = 0; j < p.n; ++j) y[j] += p.beta * added[r * p.row_step + j * p.step];
}

}  // namespace davit::static_kernels
