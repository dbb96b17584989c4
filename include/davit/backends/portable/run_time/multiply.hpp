// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/gemm.hpp"

namespace davit::portable_kernels {

/// Rows up to which a product is computed without packing its right operand, where its columns lie contiguous (each is
/// then multiplied by all rows) or its rows do (each is then added to all results).
inline constexpr std::int64_t few_rows_by_dots = 16;
inline constexpr std::int64_t few_rows_by_sums = 4;

namespace detail {

inline constexpr std::int64_t dot_columns = 64;
inline constexpr std::int64_t sum_columns = 1024;

/// The lanes x lanes matrix of these rows, transposed: blocks change places, then elements within 16 bytes.
template <class C>
[[gnu::always_inline]] inline void transpose_lanes(Vector<C> (&rows)[static_cast<std::size_t>(lanes<C>)]) noexcept {
  constexpr auto n = static_cast<std::size_t>(lanes<C>);
  constexpr std::size_t block = std::min(n, 16 / sizeof(C));
  constexpr auto all = std::make_index_sequence<n>{};
  unroll<static_cast<std::size_t>(std::countr_zero(n / block))>(
      [&]<std::size_t Round>() __attribute__((always_inline)) {
        constexpr std::size_t step = n >> (Round + 1);
        unroll<n>([&]<std::size_t I>() __attribute__((always_inline)) {
          if constexpr ((I & step) == 0) {
            const Vector<C> a = rows[I];
            const Vector<C> b = rows[I + step];
            [&]<std::size_t... L>(std::index_sequence<L...>) __attribute__((always_inline)) {
              rows[I] = __builtin_shufflevector(a, b, ((L & step) == 0 ? L : n + L - step)...);
              rows[I + step] = __builtin_shufflevector(a, b, ((L & step) == 0 ? L + step : n + L)...);
            }(all);
          }
        });
      });
  unroll<static_cast<std::size_t>(std::countr_zero(block))>([&]<std::size_t>() __attribute__((always_inline)) {
    Vector<C> next[n];
    unroll<n / 2>([&]<std::size_t I>() __attribute__((always_inline)) {
      constexpr std::size_t half = block / 2;
      constexpr std::size_t first = I / half * block + I % half;
      constexpr std::size_t to = I / half * block + 2 * (I % half);
      [&]<std::size_t... L>(std::index_sequence<L...>) __attribute__((always_inline)) {
        next[to] = __builtin_shufflevector(rows[first], rows[first + half],
                                           (L / block * block + L % block / 2 + L % 2 * n)...);
        next[to + 1] = __builtin_shufflevector(rows[first], rows[first + half],
                                               (L / block * block + half + L % block / 2 + L % 2 * n)...);
      }(all);
    });
    unroll<n>([&]<std::size_t I>() __attribute__((always_inline)) { rows[I] = next[I]; });
  });
}

/// out[r * out_row + c] = sum over k, in order, of a[r * a_row + k] * b[c * b_col + k], for `Vectors` vectors of c.
template <std::size_t Rows, std::size_t Vectors, class C>
void dot_tile(std::int64_t k, const C* a, std::int64_t a_row, const C* b, std::int64_t b_col, C* out,
              std::int64_t out_row) {
  constexpr auto n = static_cast<std::size_t>(lanes<C>);
  Vector<C> acc[Rows][Vectors];
  unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
    unroll<Vectors>([&]<std::size_t V>() __attribute__((always_inline)) { acc[R][V] = Vector<C>{}; });
  });
  std::int64_t at = 0;
  for (; at + lanes<C> <= k; at += lanes<C>) {
    unroll<Vectors>([&]<std::size_t V>() __attribute__((always_inline)) {
      Vector<C> block[n];
      unroll<n>([&]<std::size_t J>() __attribute__((always_inline)) {
        block[J] = load_vector(b + static_cast<std::int64_t>(V * n + J) * b_col + at);
      });
      transpose_lanes<C>(block);
      unroll<n>([&]<std::size_t I>() __attribute__((always_inline)) {
        unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
          acc[R][V] += block[I] * a[static_cast<std::int64_t>(R) * a_row + at + static_cast<std::int64_t>(I)];
        });
      });
    });
  }
  for (; at < k; ++at) {
    C column[Vectors * n];
    unroll<Vectors * n>([&]<std::size_t J>() __attribute__((always_inline)) {
      column[J] = b[static_cast<std::int64_t>(J) * b_col + at];
    });
    unroll<Vectors>([&]<std::size_t V>() __attribute__((always_inline)) {
      const Vector<C> right = load_vector(column + V * n);
      unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
        acc[R][V] += right * a[static_cast<std::int64_t>(R) * a_row + at];
      });
    });
  }
  unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
    unroll<Vectors>([&]<std::size_t V>() __attribute__((always_inline)) {
      store_vector<C>(out + static_cast<std::int64_t>(R) * out_row + V * n, acc[R][V]);
    });
  });
}

/// The same for one c.
template <class C>
void dot_column(std::int64_t m, std::int64_t k, const C* a, std::int64_t a_row, const C* b, C* out,
                std::int64_t out_row) {
  for (std::int64_t r = 0; r < m; ++r) {
    C sum{};
    for (std::int64_t at = 0; at < k; ++at) {
      sum += b[at] * a[r * a_row + at];
      sum_in_order(sum);
    }
    out[r * out_row] = sum;
  }
}

/// The product where rows of `a` and columns of `b` lie contiguous and `a` has few rows: nothing to pack.
template <class C>
void multiply_by_dots(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, Matrix<C> b, C* work, BlockSink<C> sink) {
  constexpr std::int64_t columns = dot_columns;
  for (std::int64_t j = 0; j < n; j += columns) {
    const std::int64_t count = std::min(columns, n - j);
    std::int64_t c = 0;
    const auto take = [&]<std::size_t Vectors>() {
      constexpr std::int64_t width = static_cast<std::int64_t>(Vectors) * lanes<C>;
      for (; c + width <= count; c += width) {
        const C* right = b.data + (j + c) * b.col;
        C* const to = work + c;
        std::int64_t i = 0;
        for (; i + 4 <= m; i += 4)
          dot_tile<4, Vectors>(k, a.data + i * a.row, a.row, right, b.col, to + i * columns, columns);
        for (; i < m; ++i) dot_tile<1, Vectors>(k, a.data + i * a.row, a.row, right, b.col, to + i * columns, columns);
      }
    };
    take.template operator()<2>();
    take.template operator()<1>();
    if (c < count && count >= lanes<C>) {  // the last columns once more
      c = count - lanes<C>;
      take.template operator()<1>();
    }
    for (; c < count; ++c) dot_column(m, k, a.data, a.row, b.data + (j + c) * b.col, work + c, columns);
    sink(Block<C>{work, columns, 1, 0, m, j, count});
  }
}

/// y[j] += the sum over i of factors[i * step] * rows[i * row + j], for `Rows` rows.
template <std::size_t Rows, class C>
void add_scaled_rows(const C* factors, std::int64_t step, const C* rows, std::int64_t row, C* y, std::int64_t n) {
  C factor[Rows];
  for (std::size_t i = 0; i < Rows; ++i) factor[i] = factors[static_cast<std::int64_t>(i) * step];
  std::int64_t j = 0;
  for (; j + lanes<C> <= n; j += lanes<C>) {
    Vector<C> sum = load_vector(y + j);
    unroll<Rows>([&]<std::size_t I>() __attribute__((always_inline)) {
      sum += load_vector(rows + static_cast<std::int64_t>(I) * row + j) * factor[I];
    });
    store_vector<C>(y + j, sum);
  }
  for (; j < n; ++j)
    for (std::size_t i = 0; i < Rows; ++i) y[j] += rows[static_cast<std::int64_t>(i) * row + j] * factor[i];
}

/// The product where rows of `b` lie contiguous and `a` has few rows: nothing to pack.
template <class C>
void multiply_by_sums(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, Matrix<C> b, C* work, BlockSink<C> sink) {
  for (std::int64_t j = 0; j < n; j += sum_columns) {
    const std::int64_t count = std::min(sum_columns, n - j);
    std::fill_n(work, m * count, C{});
    std::int64_t at = 0;
    const auto take = [&]<std::size_t Rows>() {
      for (; at + static_cast<std::int64_t>(Rows) <= k; at += static_cast<std::int64_t>(Rows))
        for (std::int64_t i = 0; i < m; ++i)
          add_scaled_rows<Rows>(a.data + i * a.row + at * a.col, a.col, b.data + at * b.row + j, b.row,
                                work + i * count, count);
    };
    take.template operator()<8>();
    take.template operator()<1>();
    sink(Block<C>{work, count, 1, 0, m, j, count});
  }
}

/// `multiply` without transposing.
template <class C>
void multiply_as_is(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, Matrix<C> b, C* work, BlockSink<C> sink) {
  if constexpr (std::is_floating_point_v<C>) {
    if (m <= few_rows_by_dots && k > 0 && a.col == 1 && b.row == 1) return multiply_by_dots(m, n, k, a, b, work, sink);
    if (m <= few_rows_by_sums && k > 0 && b.col == 1) return multiply_by_sums(m, n, k, a, b, work, sink);
  }
  gemm<C>(
      m, n, k, a, work,
      [&](C* to, const PanelRange& r) {
        pack_panel(b, r, to);
        return Panel<C>{to, r.width};
      },
      sink);
}

}  // namespace detail

/// Elements of work space that `multiply` takes.
template <class C>
[[nodiscard]] constexpr std::int64_t multiply_work(std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
  return std::max({gemm_work<C>(m, n, k), gemm_work<C>(n, m, k), few_rows_by_dots * detail::dot_columns,
                   few_rows_by_sums * std::min(std::max(m, n), detail::sum_columns)});
}

/// The product of `a` (m x k) and `b` (k x n); `sink(const Block<C>&)` gets each element once. `work` holds
/// multiply_work<C>(m, n, k) elements. O(m * n * k).
template <class C>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, Matrix<C> b, C* work, BlockSink<C> sink) {
  if (n < m && n <= few_rows_by_dots) {  // few columns: compute the transpose
    detail::multiply_as_is<C>(n, m, k, b.transposed(), a.transposed(), work, [&](const Block<C>& t) {
      sink(Block<C>{t.data, t.col, t.row, t.j, t.columns, t.i, t.rows});
    });
    return;
  }
  detail::multiply_as_is<C>(m, n, k, a, b, work, sink);
}

}  // namespace davit::portable_kernels
