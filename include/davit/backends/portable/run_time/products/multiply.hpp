// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/products/gemm.hpp"
#include "davit/kernels/multiply_add.hpp"
#include "davit/kernels/thread_team.hpp"

namespace davit::portable_kernels {

/// Products of up to so many rows do not pack their right operand, if its columns are contiguous (each is multiplied
/// with all rows: dots), or its rows (each is added to all results: sums).
inline constexpr std::int64_t few_rows_by_dots = 16;
inline constexpr std::int64_t few_rows_by_sums = 4;
/// Products of more rows and up to so many columns are computed transposed: transposing the left operand costs less
/// than a vector per row.
inline constexpr std::int64_t few_columns = 8;

namespace detail {

/// From this size of the right operand in bytes, one row is multiplied in memory order, and sums have no fixed order.
/// Smaller products, and all of them if kernels run as compiled, sum in the order of the static kernels.
inline constexpr std::int64_t row_from_memory = 1 << 20;
/// Columns whose sums stay in the cache, and columns of results that are transposed at once.
inline constexpr std::int64_t sum_columns = 1024;
inline constexpr std::int64_t turned_columns = 256;
/// The columns of a thread are a multiple of this, a multiple of every kernel's vectors, so that sums do not depend on
/// the threads.
inline constexpr std::int64_t columns_of_thread = 64;

/// Transposes the lanes x lanes matrix of these rows: first blocks, then elements within 16 bytes.
template <class C, std::size_t Bytes>
[[gnu::always_inline]] inline void transpose_lanes(
    Vector<C, Bytes> (&rows)[static_cast<std::size_t>(lanes<C, Bytes>)]) noexcept {
  constexpr auto n = static_cast<std::size_t>(lanes<C, Bytes>);
  constexpr std::size_t block = std::min(n, 16 / sizeof(C));
  constexpr auto all = std::make_index_sequence<n>{};
  unroll<static_cast<std::size_t>(std::countr_zero(n / block))>(
      [&]<std::size_t Round>() __attribute__((always_inline)) {
        constexpr std::size_t step = n >> (Round + 1);
        unroll<n>([&]<std::size_t I>() __attribute__((always_inline)) {
          if constexpr ((I & step) == 0) {
            const Vector<C, Bytes> a = rows[I];
            const Vector<C, Bytes> b = rows[I + step];
            [&]<std::size_t... L>(std::index_sequence<L...>) __attribute__((always_inline)) {
              rows[I] = __builtin_shufflevector(a, b, ((L & step) == 0 ? L : n + L - step)...);
              rows[I + step] = __builtin_shufflevector(a, b, ((L & step) == 0 ? L + step : n + L)...);
            }(all);
          }
        });
      });
  unroll<static_cast<std::size_t>(std::countr_zero(block))>([&]<std::size_t>() __attribute__((always_inline)) {
    Vector<C, Bytes> next[n];
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

/// to[k * to_row + j] = from[j * from_row + k] for `rows` j and `columns` k.
struct Transpose {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(std::int64_t rows, std::int64_t columns, const C* from, std::int64_t from_row,
                                         C* to, std::int64_t to_row) {
    constexpr auto n = static_cast<std::size_t>(lanes<C, Bytes>);
    std::int64_t j = 0;
    for (; j + lanes<C, Bytes> <= rows; j += lanes<C, Bytes>) {
      const C* const block = from + j * from_row;
      std::int64_t k = 0;
      for (; k + lanes<C, Bytes> <= columns; k += lanes<C, Bytes>) {
        Vector<C, Bytes> v[n];
        unroll<n>([&]<std::size_t I>() __attribute__((always_inline)) {
          v[I] = kernels::vector_at<Bytes>(block + static_cast<std::int64_t>(I) * from_row + k);
        });
        transpose_lanes<C, Bytes>(v);
        unroll<n>([&]<std::size_t I>() __attribute__((always_inline)) {
          kernels::vector_at<Bytes>(to + (k + static_cast<std::int64_t>(I)) * to_row + j) = v[I];
        });
      }
      for (; k < columns; ++k)
        for (std::size_t i = 0; i < n; ++i)
          to[k * to_row + j + static_cast<std::int64_t>(i)] = block[static_cast<std::int64_t>(i) * from_row + k];
    }
    if constexpr (Bytes > 16) return run<Bytes / 2>(rows - j, columns, from + j * from_row, from_row, to + j, to_row);
    for (; j < rows; ++j)
      for (std::int64_t k = 0; k < columns; ++k) to[k * to_row + j] = from[j * from_row + k];
  }
};

/// A product of contiguous rows of `a` and contiguous columns of `b`.
template <class C>
struct Dots {
  std::int64_t m, n, k;
  const C* a;
  std::int64_t a_row;
  const C* b;
  std::int64_t b_col;
  C* c;
  std::int64_t c_row;
};

/// Few rows of `a`, without packing. Sums are in the order of k.
struct GemmDot {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const Dots<C>* p) {
    std::int64_t j = 0;
    if constexpr (Bytes <= 16) columns<Bytes, 2>(*p, j);  // wider vectors take long enough to transpose
    columns<Bytes, 1>(*p, j);
    if constexpr (Bytes > 32) columns<32, 1>(*p, j);
    if constexpr (Bytes > 16) columns<16, 1>(*p, j);
    for (; j < p->n; ++j) column(*p, j);
  }

 private:
  template <std::size_t Bytes, std::size_t Vectors, class C>
  [[gnu::always_inline]] static void columns(const Dots<C>& p, std::int64_t& j) {
    constexpr std::int64_t width = static_cast<std::int64_t>(Vectors) * lanes<C, Bytes>;
    for (; j + width <= p.n; j += width) {
      std::int64_t i = 0;
      for (; i + 4 <= p.m; i += 4) tile<Bytes, 4, Vectors>(p, i, j);
      for (; i < p.m; ++i) tile<Bytes, 1, Vectors>(p, i, j);
    }
  }
  template <std::size_t Bytes, std::size_t Rows, std::size_t Vectors, class C>
  [[gnu::always_inline]] static void tile(const Dots<C>& p, std::int64_t i, std::int64_t j) {
    using V = Vector<C, Bytes>;
    constexpr auto n = static_cast<std::size_t>(lanes<C, Bytes>);
    const C* const a = p.a + i * p.a_row;
    const C* const b = p.b + j * p.b_col;
    V sums[Rows][Vectors];
    unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
      unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) { sums[R][N] = V{}; });
    });
    std::int64_t at = 0;
    for (; at + lanes<C, Bytes> <= p.k; at += lanes<C, Bytes>) {
      unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
        V block[n];
        unroll<n>([&]<std::size_t J>() __attribute__((always_inline)) {
          block[J] = kernels::vector_at<Bytes>(b + static_cast<std::int64_t>(N * n + J) * p.b_col + at);
        });
        transpose_lanes<C, Bytes>(block);
        unroll<n>([&]<std::size_t I>() __attribute__((always_inline)) {
          unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
            sums[R][N] += block[I] * a[static_cast<std::int64_t>(R) * p.a_row + at + static_cast<std::int64_t>(I)];
          });
        });
      });
    }
    for (; at < p.k; ++at) {
      C column[Vectors * n];
      unroll<Vectors * n>([&]<std::size_t J>() __attribute__((always_inline)) {
        column[J] = b[static_cast<std::int64_t>(J) * p.b_col + at];
      });
      unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
        const V right = kernels::vector_at<Bytes>(column + N * n);
        unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
          sums[R][N] += right * a[static_cast<std::int64_t>(R) * p.a_row + at];
        });
      });
    }
    unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
      unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
        kernels::vector_at<Bytes>(p.c + (i + static_cast<std::int64_t>(R)) * p.c_row + j +
                                  static_cast<std::int64_t>(N * n)) = sums[R][N];
      });
    });
  }
  template <class C>
  [[gnu::always_inline]] static void column(const Dots<C>& p, std::int64_t j) {
    const C* const b = p.b + j * p.b_col;
    for (std::int64_t i = 0; i < p.m; ++i) {
      C sum{};
      for (std::int64_t at = 0; at < p.k; ++at) {
        sum += b[at] * p.a[i * p.a_row + at];
        kernels::sum_in_order(sum);
      }
      p.c[i * p.c_row + j] = sum;
    }
  }
};

/// One row times contiguous columns, one after the other: reading memory in order is 1.4 times as fast as several
/// columns at once. Sums have no fixed order.
struct MultiplyRow {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const Dots<C>* p) {
    std::int64_t j = 0;
    for (; j + lanes<C, Bytes> <= p->n; j += lanes<C, Bytes>) columns<Bytes>(*p, j);
    for (; j < p->n; ++j) {
      C sum{};
      for (std::int64_t at = 0; at < p->k; ++at) sum += p->b[j * p->b_col + at] * p->a[at];
      p->c[j] = sum;
    }
  }

 private:
  /// Computes a vector's lanes of columns from `j` on.
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void columns(const Dots<C>& p, std::int64_t j) {
    using V = Vector<C, Bytes>;
    constexpr auto n = static_cast<std::size_t>(lanes<C, Bytes>);
    constexpr std::int64_t step = lanes<C, Bytes>;
    const C* const a = p.a;
    const C* const b = p.b + j * p.b_col;
    V sums[n];
    unroll<n>([&]<std::size_t J>() __attribute__((always_inline)) {
      const C* const column = b + static_cast<std::int64_t>(J) * p.b_col;
      constexpr std::size_t together = kernels::many_narrow_registers<Bytes> ? 4 : 2;
      V own[together]{};
      std::int64_t at = 0;
      for (constexpr auto block = static_cast<std::int64_t>(together) * step; at + block <= p.k; at += block)
        unroll<together>([&]<std::size_t I>() __attribute__((always_inline)) {
          const std::int64_t from = at + static_cast<std::int64_t>(I) * step;
          own[I] += kernels::vector_at<Bytes>(column + from) * kernels::vector_at<Bytes>(a + from);
        });
      for (; at + step <= p.k; at += step)
        own[0] += kernels::vector_at<Bytes>(column + at) * kernels::vector_at<Bytes>(a + at);
      sums[J] = own[0] + own[1];
      if constexpr (together == 4) sums[J] += own[2] + own[3];
    });
    transpose_lanes<C, Bytes>(sums);
    V total = sums[0];
    unroll<n - 1>([&]<std::size_t L>() __attribute__((always_inline)) { total += sums[L + 1]; });
    for (std::int64_t at = p.k / lanes<C, Bytes> * lanes<C, Bytes>; at < p.k; ++at) {
      C column[n];
      unroll<n>([&]<std::size_t J>()
                    __attribute__((always_inline)) { column[J] = b[static_cast<std::int64_t>(J) * p.b_col + at]; });
      total += kernels::vector_at<Bytes>(column) * a[at];
    }
    kernels::vector_at<Bytes>(p.c + j) = total;
  }
};

/// c (n rows of `c_row` elements) = a (m x k) * b with contiguous rows of b: each row is added to all results.
struct GemmAxpy {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, const C* b,
                                         std::int64_t b_row, C* c, std::int64_t c_row) {
    if (n == 4 * lanes<C, Bytes>) {  // results fit in registers: rows are read one after the other
      for (std::int64_t i = 0; i < m; ++i) add_all_rows<Bytes>(k, a.data + i * a.row, a.col, b, b_row, c + i * c_row);
      return;
    }
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * c_row + j] = C{};
    std::int64_t at = 0;
    const auto take = [&]<std::size_t Rows>() __attribute__((always_inline)) {
      for (; at + static_cast<std::int64_t>(Rows) <= k; at += static_cast<std::int64_t>(Rows))
        for (std::int64_t i = 0; i < m; ++i)
          add_scaled_rows<Bytes, Rows>(a.data + i * a.row + at * a.col, a.col, b + at * b_row, b_row, c + i * c_row, n);
    };
    take.template operator()<8>();
    take.template operator()<1>();
  }

 private:
  /// y = sum of `count` rows of four vectors, each times its factor.
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void add_all_rows(std::int64_t count, const C* factors, std::int64_t step,
                                                  const C* rows, std::int64_t row, C* y) {
    Vector<C, Bytes> sums[4]{};
    for (std::int64_t at = 0; at < count; ++at, rows += row)
      unroll<4>([&]<std::size_t I>() __attribute__((always_inline)) {
        sums[I] +=
            kernels::vector_at<Bytes>(rows + static_cast<std::int64_t>(I) * lanes<C, Bytes>) * factors[at * step];
      });
    unroll<4>([&]<std::size_t I>() __attribute__((always_inline)) {
      kernels::vector_at<Bytes>(y + static_cast<std::int64_t>(I) * lanes<C, Bytes>) = sums[I];
    });
  }
  /// y += sum of rows, each times its factor.
  template <std::size_t Bytes, std::size_t Rows, class C>
  [[gnu::always_inline]] static void add_scaled_rows(const C* factors, std::int64_t step, const C* rows,
                                                     std::int64_t row, C* y, std::int64_t n) {
    C factor[Rows];
    for (std::size_t i = 0; i < Rows; ++i) factor[i] = factors[static_cast<std::int64_t>(i) * step];
    std::int64_t j = 0;
    for (; j + lanes<C, Bytes> <= n; j += lanes<C, Bytes>) {
      Vector<C, Bytes> sum = kernels::vector_at<Bytes>(y + j);
      unroll<Rows>([&]<std::size_t I>() __attribute__((always_inline)) {
        sum += kernels::vector_at<Bytes>(rows + static_cast<std::int64_t>(I) * row + j) * factor[I];
      });
      kernels::vector_at<Bytes>(y + j) = sum;
    }
    for (; j < n; ++j)
      for (std::size_t i = 0; i < Rows; ++i) y[j] += rows[static_cast<std::int64_t>(i) * row + j] * factor[i];
  }
};

/// Copies a part of a matrix to a panel.
template <class C>
void pack_panel(const Matrix<C>& b, const PanelRange& r, C* to) {
  const C* from = b.data + r.k * b.row + r.j * b.col;
  if (b.row == 1 && std::is_floating_point_v<C>)
    return kernels::run_widest_for<C, Transpose>(r.count, r.depth, from, b.col, to, r.width);
  for (std::int64_t j = 0; j < r.count; ++j)
    for (std::int64_t k = 0; k < r.depth; ++k) to[k * r.width + j] = from[k * b.row + j * b.col];
}

/// `multiply` without transposing the product.
template <class C>
void multiply_as_is(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, Matrix<C> b, C* work, C* c,
                    std::int64_t c_row) {
  if constexpr (std::is_floating_point_v<C>) {
    if (m <= few_rows_by_dots && k > 0 && a.col == 1 && b.row == 1) {
      const bool from_memory =
          !kernels::one_instruction_set && m == 1 && n * k >= row_from_memory / static_cast<std::int64_t>(sizeof(C));
      return kernels::in_parallel(
          n, columns_of_thread, kernels::operations(m, n, k), [&](std::size_t, std::int64_t first, std::int64_t end) {
            const Dots<C> dots{m, end - first, k, a.data, a.row, b.data + first * b.col, b.col, c + first, c_row};
            if (from_memory)
              kernels::run_widest_for<C, MultiplyRow>(&dots);
            else
              kernels::run_widest_for<C, GemmDot>(&dots);
          });
    }
    if (m <= few_rows_by_sums && k > 0 && b.col == 1) {
      return kernels::in_parallel(n, columns_of_thread, kernels::operations(m, n, k),
                                  [&](std::size_t, std::int64_t first, std::int64_t end) {
                                    for (std::int64_t j = first; j < end; j += sum_columns)
                                      kernels::run_widest_for<C, GemmAxpy>(m, std::min(sum_columns, end - j), k, a,
                                                                           b.data + j, b.row, c + j, c_row);
                                  });
    }
  }
  std::array<std::int64_t, panel_depth> rows;
  for (std::int64_t i = 0; i < panel_depth; ++i) rows[static_cast<std::size_t>(i)] = i * b.row;
  gemm<C>(
      m, n, k, a, work,
      [&](C* to, const PanelRange& r) {
        if (b.col == 1) return Panel<C>{b.data + r.k * b.row + r.j, rows.data()};
        pack_panel(b, r, to);
        return Panel<C>{to, r.packed_rows};
      },
      c, c_row);
}

}  // namespace detail

/// Elements of work space of `multiply`.
template <class C>
[[nodiscard]] std::int64_t multiply_work(std::int64_t m, std::int64_t n) noexcept {
  return std::max(gemm_work<C>(m), gemm_work<C>(n)) + few_columns * detail::turned_columns;
}

/// c (rows of `c_row` elements) = the product of `a` (m x k) and `b` (k x n). `work` holds multiply_work<C>(m, n)
/// elements. O(m * n * k).
template <class C>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, Matrix<C> b, C* work, C* c,
              std::int64_t c_row) {
  static constexpr C none{};  // the address for matrices without elements
  if (a.data == nullptr) a.data = &none;
  if (b.data == nullptr) b.data = &none;
  if (n >= m || n > few_columns) return detail::multiply_as_is<C>(m, n, k, a, b, work, c, c_row);
  // few columns: computes the transpose
  if (n == 1 && c_row == 1) return detail::multiply_as_is<C>(1, m, k, b.transposed(), a.transposed(), work, c, m);
  for (std::int64_t i = 0; i < m; i += detail::turned_columns) {
    const std::int64_t count = std::min(detail::turned_columns, m - i);
    const Matrix<C> rows{a.data + i * a.row, a.row, a.col};
    C* const turned = work + gemm_work<C>(n);
    detail::multiply_as_is<C>(n, count, k, b.transposed(), rows.transposed(), work, turned, count);
    for (std::int64_t r = 0; r < count; ++r)
      for (std::int64_t j = 0; j < n; ++j) c[(i + r) * c_row + j] = turned[j * count + r];
  }
}

}  // namespace davit::portable_kernels
