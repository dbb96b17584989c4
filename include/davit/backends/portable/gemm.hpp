// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "davit/backends/portable/vector_lanes.hpp"

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

/// The blocks the product is cut into.
template <class C>
struct GemmShape {
  static constexpr std::int64_t depth = 256;           ///< rows of a panel
  static constexpr std::int64_t width = 2 * lanes<C>;  ///< columns of a panel
  static constexpr std::int64_t max_rows = 2048;
  /// Panels worked on at once, so that the left operand is read once for all of them.
  [[nodiscard]] static constexpr std::int64_t panels(std::int64_t m) noexcept {
    return std::clamp<std::int64_t>(32768 / (std::min(m, max_rows) * width + 1), 1, 8);
  }
};

/// Elements of work space that a product with `m` rows takes.
template <class C>
[[nodiscard]] constexpr std::int64_t gemm_work(std::int64_t m) noexcept {
  using Shape = GemmShape<C>;
  return Shape::panels(m) * Shape::width * (Shape::depth + std::min(m, Shape::max_rows));
}
/// The same where the product may be computed transposed (`multiply`).
template <class C>
[[nodiscard]] constexpr std::int64_t gemm_work(std::int64_t m, std::int64_t n) noexcept {
  return std::max(gemm_work<C>(m), gemm_work<C>(n));
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
void gemm_rows(std::int64_t rows, std::int64_t depth, Matrix<C> a, Panel<C> b, C* c, std::int64_t c_row,
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

/// The same for integers, where vectors do not pay.
template <class C>
void gemm_rows_plain(std::int64_t rows, std::int64_t depth, Matrix<C> a, Panel<C> b, std::int64_t width, C* c,
                     std::int64_t c_row, bool accumulate) {
  for (std::int64_t i = 0; i < rows; ++i) {
    C* to = c + i * c_row;
    if (!accumulate) std::fill(to, to + width, C{});
    for (std::int64_t k = 0; k < depth; ++k) {
      const C factor = a.data[i * a.row + k * a.col];
      for (std::int64_t j = 0; j < width; ++j) to[j] += factor * b.data[k * b.row + j];
    }
  }
}

}  // namespace detail

/// The product of `a` (m x k) and the k x n matrix that `source` gives in panels; `sink` takes its blocks.
///
/// `source(C* to, PanelRange) -> Panel<C>` either fills `to` (depth x width elements) or points elsewhere;
/// `sink(const Block<C>&)` gets each element once. `work` holds gemm_work<C>(m) elements. Integer types wrap around
/// (use unsigned ones). O(m * n * k).
template <class C, class Source, class Sink>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<C> a, C* work, Source&& source, Sink&& sink) {
  using Shape = GemmShape<C>;
  const std::int64_t panels = Shape::panels(m);
  const std::int64_t row = panels * Shape::width;
  C* const results = work + panels * Shape::width * Shape::depth;
  for (std::int64_t j = 0; j < n; j += row) {
    const std::int64_t columns = std::min(row, n - j);
    for (std::int64_t i = 0; i < m; i += Shape::max_rows) {
      const std::int64_t rows = std::min(Shape::max_rows, m - i);
      std::int64_t at = 0;
      do {  // once even if k is 0: the product is zero then
        const std::int64_t depth = std::min(Shape::depth, k - at);
        for (std::int64_t p = 0; p < columns; p += Shape::width) {
          const std::int64_t count = std::min(Shape::width, columns - p);
          const std::int64_t width = count > lanes<C> ? Shape::width : lanes<C>;
          const Panel<C> b = source(work + p * Shape::depth, PanelRange{at, depth, j + p, count, width});
          const Matrix<C> left{k == 0 ? a.data : a.data + i * a.row + at * a.col, a.row, a.col};
          if constexpr (std::is_integral_v<C>) {
            detail::gemm_rows_plain(rows, depth, left, b, width, results + p, row, at > 0);
          } else if (width == Shape::width) {
            detail::gemm_rows<2>(rows, depth, left, b, results + p, row, at > 0);
          } else {
            detail::gemm_rows<1>(rows, depth, left, b, results + p, row, at > 0);
          }
        }
        at += Shape::depth;
      } while (at < k);
      sink(Block<C>{results, row, 1, i, rows, j, columns});
    }
  }
}

/// Copies a part of a matrix as a panel.
template <class C>
void pack_panel(const Matrix<C>& b, const PanelRange& r, C* to) {
  if (r.depth == 0) return;
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
