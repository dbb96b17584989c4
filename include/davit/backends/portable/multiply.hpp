// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/gemm.hpp"

namespace davit::portable_kernels {

/// Rows up to which a product is computed without packing its right operand, where its columns lie contiguous (each is
/// then multiplied by all rows) or its rows do (each is then added to all results).
inline constexpr std::int64_t few_rows_by_dots = 16;
inline constexpr std::int64_t few_rows_by_sums = 4;

namespace detail {

inline constexpr std::int64_t dot_columns = 64;
inline constexpr std::int64_t sum_columns = 1024;

/// out[r * out_row + c] = sum over k of a[r * a_row + k] * b[c * b_col + k].
template <std::size_t Rows, std::size_t Columns, class C>
void dot_tile(std::int64_t k, const C* a, std::int64_t a_row, const C* b, std::int64_t b_col, C* out,
              std::int64_t out_row) {
  Vector<C> acc[Rows][Columns];
  unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
    unroll<Columns>([&]<std::size_t J>() __attribute__((always_inline)) { acc[R][J] = Vector<C>{}; });
  });
  std::int64_t at = 0;
  for (; at + lanes<C> <= k; at += lanes<C>) {
    Vector<C> left[Rows];
    unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
      left[R] = load_vector(a + static_cast<std::int64_t>(R) * a_row + at);
    });
    unroll<Columns>([&]<std::size_t J>() __attribute__((always_inline)) {
      const Vector<C> right = load_vector(b + static_cast<std::int64_t>(J) * b_col + at);
      unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) { acc[R][J] += left[R] * right; });
    });
  }
  unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
    unroll<Columns>([&]<std::size_t J>() __attribute__((always_inline)) {
      C sum = sum_of<C>(acc[R][J]);
      for (std::int64_t i = at; i < k; ++i)
        sum += a[static_cast<std::int64_t>(R) * a_row + i] * b[static_cast<std::int64_t>(J) * b_col + i];
      out[static_cast<std::int64_t>(R) * out_row + static_cast<std::int64_t>(J)] = sum;
    });
  });
}

/// The product where rows of `a` and columns of `b` lie contiguous and `a` has few rows: nothing to pack.
template <class C, class Sink>
void multiply_by_dots(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, Matrix<C> b, C* work, Sink&& sink) {
  constexpr std::int64_t columns = dot_columns;
  for (std::int64_t j = 0; j < n; j += columns) {
    const std::int64_t count = std::min(columns, n - j);
    std::int64_t c = 0;
    const auto take = [&]<std::size_t Columns>() {
      for (; c + static_cast<std::int64_t>(Columns) <= count; c += static_cast<std::int64_t>(Columns)) {
        const C* right = b.data + (j + c) * b.col;
        std::int64_t i = 0;
        for (; i + 2 <= m; i += 2)
          dot_tile<2, Columns>(k, a.data + i * a.row, a.row, right, b.col, work + i * columns + c, columns);
        if (i < m) dot_tile<1, Columns>(k, a.data + i * a.row, a.row, right, b.col, work + i * columns + c, columns);
      }
    };
    take.template operator()<4>();
    take.template operator()<1>();
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
template <class C, class Sink>
void multiply_by_sums(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, Matrix<C> b, C* work, Sink&& sink) {
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
template <class C, class Sink>
void multiply_as_is(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, Matrix<C> b, C* work, Sink&& sink) {
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
template <class C, class Sink>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, Matrix<C> b, C* work, Sink&& sink) {
  if (n < m && n <= few_rows_by_dots) {  // few columns: compute the transpose
    detail::multiply_as_is(n, m, k, b.transposed(), a.transposed(), work, [&](const Block<C>& t) {
      sink(Block<C>{t.data, t.col, t.row, t.j, t.columns, t.i, t.rows});
    });
    return;
  }
  detail::multiply_as_is(m, n, k, a, b, work, sink);
}

}  // namespace davit::portable_kernels
