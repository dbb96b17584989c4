// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "davit/backends/portable/vector_lanes.hpp"
#include "davit/kernels/function_ref.hpp"

namespace davit::portable_kernels {

/// A matrix anywhere in memory: element (i, j) is data[i * row + j * col].
template <class C>
struct Matrix {
  const C* data = nullptr;
  std::int64_t row = 0;
  std::int64_t col = 0;

  [[nodiscard]] Matrix transposed() const noexcept { return {data, col, row}; }
};

/// Some rows of the right operand as tiles read them: element (k, j) is data[k * row + j].
template <class C>
struct Panel {
  const C* data = nullptr;
  std::int64_t row = 0;
};

/// The part of a right operand that a source is asked for: rows [k, k + depth), columns [j, j + count), to be padded
/// with anything to `width` columns.
struct PanelRange {
  std::int64_t k, depth, j, count, width;
};

/// A finished part of a product: rows [i, i + rows), columns [j, j + columns); element (r, c) of it is
/// data[r * row + c * col].
template <class C>
struct Block {
  const C* data;
  std::int64_t row, col;
  std::int64_t i, rows, j, columns;
};

/// Gives a panel of a right operand: fills `to` (depth x width elements), or points elsewhere.
template <class C>
using PanelSource = kernels::FunctionRef<Panel<C>(C* to, const PanelRange&)>;
/// Takes a finished part of a product.
template <class C>
using BlockSink = kernels::FunctionRef<void(const Block<C>&)>;

/// The blocks an m x n x k product is cut into.
template <class C>
struct GemmShape {
  static constexpr std::int64_t width = 2 * lanes<C>;  ///< columns of a panel
  std::int64_t depth;   ///< rows of a panel
  std::int64_t rows;    ///< rows of the left operand taken at once
  std::int64_t panels;  ///< panels worked on at once, so that the left operand is read once for all of them

  constexpr GemmShape(std::int64_t m, std::int64_t n, std::int64_t k) noexcept
      : depth(std::clamp<std::int64_t>(k, 1, 256)),
        rows(std::clamp<std::int64_t>(m, 1, 2048)),
        panels(std::min(std::clamp<std::int64_t>(32768 / (rows * width), 1, 8), (n + width - 1) / width)) {}
  [[nodiscard]] constexpr std::int64_t work() const noexcept { return panels * width * (depth + rows); }
};

/// Elements of work space that an m x n x k product takes.
template <class C>
[[nodiscard]] constexpr std::int64_t gemm_work(std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
  return GemmShape<C>(m, n, k).work();
}

namespace detail {

template <std::size_t N, class F>
[[gnu::always_inline]] inline void unroll(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    (f.template operator()<I>(), ...);
  }(std::make_index_sequence<N>{});
}

/// c[Rows][Vectors * lanes] (+)= a[Rows][depth] * b[depth][Vectors * lanes], kept in registers.
template <std::size_t Rows, std::size_t Vectors, class C>
void gemm_tile(std::int64_t depth, const C* a, std::int64_t a_row, std::int64_t a_col, const C* b, std::int64_t b_row,
               C* c, std::int64_t c_row, bool accumulate) {
  constexpr auto step = static_cast<std::size_t>(lanes<C>);
  Vector<C> acc[Rows][Vectors];
  unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
    unroll<Vectors>([&]<std::size_t V>() __attribute__((always_inline)) {
      acc[R][V] = Vector<C>{};
      if (accumulate) acc[R][V] = load_vector(c + static_cast<std::int64_t>(R) * c_row + V * step);
    });
  });
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector<C> row[Vectors];
    unroll<Vectors>([&]<std::size_t V>() __attribute__((always_inline)) { row[V] = load_vector(b + V * step); });
    unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
      const C factor = a[static_cast<std::int64_t>(R) * a_row];
      unroll<Vectors>([&]<std::size_t V>() __attribute__((always_inline)) { acc[R][V] += row[V] * factor; });
    });
    a += a_col;
    b += b_row;
  }
  unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
    unroll<Vectors>([&]<std::size_t V>() __attribute__((always_inline)) {
      store_vector<C>(c + static_cast<std::int64_t>(R) * c_row + V * step, acc[R][V]);
    });
  });
}

template <std::size_t Vectors, class C>
void gemm_tiles(std::int64_t rows, std::int64_t depth, Matrix<C> a, Panel<C> b, C* c, std::int64_t c_row,
                bool accumulate) {
  std::int64_t i = 0;
  const auto take = [&]<std::size_t Rows>() {
    for (; i + static_cast<std::int64_t>(Rows) <= rows; i += static_cast<std::int64_t>(Rows))
      gemm_tile<Rows, Vectors>(depth, a.data + i * a.row, a.row, a.col, b.data, b.row, c + i * c_row, c_row, accumulate);
  };
  take.template operator()<6>();
  take.template operator()<4>();
  take.template operator()<2>();
  take.template operator()<1>();
}

/// Integers: vectors do not pay, registers do.
template <class C>
void add_integer_rows(std::int64_t rows, std::int64_t depth, Matrix<C> a, Panel<C> b, std::int64_t width, C* c,
                      std::int64_t c_row, bool accumulate) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const C* const left = a.data + i * a.row;
    C* const to = c + i * c_row;
    std::int64_t j = 0;
    for (; j + 2 <= width; j += 2) {
      C first = accumulate ? to[j] : C{};
      C second = accumulate ? to[j + 1] : C{};
      for (std::int64_t k = 0; k < depth; ++k) {
        const C factor = left[k * a.col];
        first += factor * b.data[k * b.row + j];
        second += factor * b.data[k * b.row + j + 1];
      }
      to[j] = first;
      to[j + 1] = second;
    }
    for (; j < width; ++j) {
      C sum = accumulate ? to[j] : C{};
      for (std::int64_t k = 0; k < depth; ++k) sum += left[k * a.col] * b.data[k * b.row + j];
      to[j] = sum;
    }
  }
}

/// A panel's share of the product: `rows` x `width` elements.
template <class C>
void gemm_rows(std::int64_t rows, std::int64_t depth, Matrix<C> a, Panel<C> b, std::int64_t width, C* c,
               std::int64_t c_row, bool accumulate) {
  if constexpr (std::is_floating_point_v<C>) {
    if (width == lanes<C>) return gemm_tiles<1>(rows, depth, a, b, c, c_row, accumulate);
    return gemm_tiles<2>(rows, depth, a, b, c, c_row, accumulate);
  } else {
    add_integer_rows(rows, depth, a, b, width, c, c_row, accumulate);
  }
}

}  // namespace detail

/// The product of `a` (m x k) and the k x n matrix that `source` gives in panels; `sink` takes its blocks.
///
/// `sink` gets each element once. `work` holds gemm_work<C>(m, n, k) elements. Integer types must be
/// unsigned and wrap around. O(m * n * k).
template <class C>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, C* work, PanelSource<C> source,
          BlockSink<C> sink) {
  const GemmShape<C> shape(m, n, k);
  constexpr std::int64_t full = GemmShape<C>::width;
  const std::int64_t row = shape.panels * full;
  C* const results = work + row * shape.depth;
  for (std::int64_t j = 0; j < n; j += row) {
    const std::int64_t columns = std::min(row, n - j);
    for (std::int64_t i = 0; i < m; i += shape.rows) {
      const std::int64_t rows = std::min(shape.rows, m - i);
      if (k == 0) std::fill_n(results, rows * row, C{});
      for (std::int64_t at = 0; at < k; at += shape.depth) {
        const std::int64_t depth = std::min(shape.depth, k - at);
        const Matrix<C> left{a.data + i * a.row + at * a.col, a.row, a.col};
        for (std::int64_t p = 0; p < columns; p += full) {
          const std::int64_t count = std::min(full, columns - p);
          const std::int64_t width = count > lanes<C> ? full : lanes<C>;
          const Panel<C> b = source(work + p * shape.depth, PanelRange{at, depth, j + p, count, width});
          detail::gemm_rows(rows, depth, left, b, width, results + p, row, at > 0);
        }
      }
      sink(Block<C>{results, row, 1, i, rows, j, columns});
    }
  }
}

/// Copies a part of a matrix as a panel.
template <class C>
void pack_panel(const Matrix<C>& b, const PanelRange& r, C* to) {
  const C* from = b.data + r.k * b.row + r.j * b.col;
  if (b.col == 1) {
    for (std::int64_t k = 0; k < r.depth; ++k, to += r.width) {
      std::copy_n(from + k * b.row, r.count, to);
      std::fill(to + r.count, to + r.width, C{});
    }
    return;
  }
  for (std::int64_t j = 0; j < r.width; ++j)
    for (std::int64_t k = 0; k < r.depth; ++k)
      to[k * r.width + j] = j < r.count ? from[k * b.row + j * b.col] : C{};
}

}  // namespace davit::portable_kernels
