// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/static/fold.hpp"
#include "davit/backends/portable/static/mapped.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/core/next_index.hpp"

/// What moves elements to and from places that tensors or tables name, of any type.
namespace davit::static_kernels {

/// A walk over a tensor that is indexed, another that is contiguous or walked too, and N index tensors. Index k counts
/// steps[k] elements of the indexed tensor, of `sizes[k]`; where `wraps`, negative ones count from the end.
template <std::size_t N>
struct Indexed {
  Walk<N + 2> walk{};  ///< indexed, other, indices
  std::array<std::int32_t, N> sizes{}, steps{};
  std::int32_t wraps = 0;
};

namespace detail {

/// Calls f(offset in the indexed tensor, offset in the other) for each place. Errors: out_of_range.
template <std::size_t N, class I, class F>
[[nodiscard, gnu::always_inline]] constexpr ErrorCode walk_indexed(const Indexed<N>& p,
                                                                   const std::array<const I*, N>& indices,
                                                                   F&& f) noexcept {
  ErrorCode code = ErrorCode::ok;
  walk_each(p.walk, [&](const std::array<Index, N + 2>& at) __attribute__((always_inline)) {
    Index indexed = at[0];
    for (std::size_t k = 0; k < N; ++k) {
      auto index = static_cast<std::int64_t>(indices[k][at[k + 2]]);
      if (index < 0 && p.wraps != 0) index += p.sizes[k];
      if (index < 0 || index >= p.sizes[k]) {
        code = ErrorCode::out_of_range;
        return;
      }
      indexed += static_cast<Index>(index) * p.steps[k];
    }
    f(indexed, at[1]);
  });
  return code;
}

}  // namespace detail

/// y[place] = x[indexed place]. Errors: out_of_range for an index outside its dimension. O(places).
/// Source: at::index, at::gather, at::index_select.
template <std::size_t N, class P, class T, class I, class... More>
[[nodiscard, gnu::always_inline]] constexpr ErrorCode pick(const P& params, const T* x, T* y, const I* first,
                                                           const More*... more) noexcept {
  return detail::walk_indexed<N, I>(numbers_of(params), {first, more...},
                                    [&](Index from, Index to) __attribute__((always_inline)) { y[to] = x[from]; });
}
/// y[indexed place] = x[place], or += where `Adds`; y holds what is not written. Of places that are written twice the
/// last counts. Errors: out_of_range for an index outside its dimension. O(places). Source: at::index_put, at::scatter,
/// at::scatter_add.
template <bool Adds, std::size_t N, class P, class T, class I, class... More>
[[nodiscard, gnu::always_inline]] constexpr ErrorCode put(const P& params, const T* x, T* y, const I* first,
                                                          const More*... more) noexcept {
  return detail::walk_indexed<N, I>(
      numbers_of(params), {first, more...}, [&](Index to, Index from) __attribute__((always_inline)) {
        if constexpr (Adds)
          y[to] = kernels::convert<T>(static_cast<Computed<T>>(detail::loaded(y[to]) + detail::loaded(x[from])));
        else
          y[to] = x[from];
      });
}

/// y[indexed place] = Op(y[indexed place], x[place]). Errors: out_of_range for an index outside its dimension.
/// O(places). Source: at::scatter_reduce.
template <class Op, class P, class T, class I>
[[nodiscard, gnu::always_inline]] constexpr ErrorCode put_folded(const P& params, const T* x, T* y,
                                                                 const I* index) noexcept {
  return detail::walk_indexed<1, I>(numbers_of(params), {index},
                                    [&](Index to, Index from) __attribute__((always_inline)) {
                                      y[to] = kernels::convert<T>(Op{}(detail::loaded(y[to]), detail::loaded(x[from])));
                                    });
}

/// A copy in which each dimension has a table of offsets: `sizes[d]` of them, one table after another.
struct TableCopy {
  static constexpr std::int32_t max_rank = 6;
  std::int32_t rank = 0;
  std::array<std::int32_t, max_rank> sizes{};
};
/// y[i, j, ...] = x[offsets_0[i] + offsets_1[j] + ...]. O(elements of y). Source: at::flip, at::reflection_pad2d.
template <class P, class T>
[[gnu::always_inline]] constexpr void table_copy(const P& params, const T* x, const std::int32_t* offsets,
                                                 T* y) noexcept {
  const TableCopy& p = numbers_of(params);
  std::array<std::int32_t, TableCopy::max_rank> index{};
  const auto inner = static_cast<std::size_t>(p.rank - 1);
  do {
    Index at = 0;
    const std::int32_t* table = offsets;
    for (std::size_t d = 0; d < inner; table += p.sizes[d++]) at += table[index[d]];
    for (Index i = 0; i < p.sizes[inner]; ++i) *y++ = x[at + table[i]];
  } while (next_index(inner, index, p.sizes));
}

/// Planes resized: output row i lies between input rows taps[i] and taps[out_h + i], its share of the second is
/// shares[i]; columns stand behind the rows.
struct LinearResize {
  std::int32_t planes = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  std::int32_t by_difference = 0;  ///< not 0: a + (b - a) * share along each axis that changes its size
};
/// O(elements of y). Source: at::upsample_bilinear2d.
template <class P>
[[gnu::always_inline]] constexpr void linear_resize(const P& params, const float* x, const std::int32_t* taps,
                                                    const float* shares, float* y) noexcept {
  const LinearResize& p = numbers_of(params);
  const std::int32_t* const columns = taps + 2 * p.out_h;
  for (Index plane = 0; plane < p.planes; ++plane, x += Index{p.in_h} * p.in_w)
    for (Index row = 0; row < p.out_h; ++row) {
      const float* const above = x + Index{taps[row]} * p.in_w;
      const float* const below = x + Index{taps[p.out_h + row]} * p.in_w;
      const float down = shares[row];
      for (Index column = 0; column < p.out_w; ++column) {
        const Index first = columns[column], second = columns[p.out_w + column];
        const float across = shares[p.out_h + column];
        if (p.by_difference == 0) {
          *y++ = (1 - down) * ((1 - across) * above[first] + across * above[second]) +
                 down * ((1 - across) * below[first] + across * below[second]);
          continue;
        }
        const auto mixed = [&](const float* line) {
          return p.in_w == p.out_w ? line[first] : line[first] + (line[second] - line[first]) * across;
        };
        const float upper = mixed(above);
        *y++ = p.in_h == p.out_h ? upper : upper + (mixed(below) - upper) * down;
      }
    }
}

/// Planes resized by the taps of each axis: for output row i taps[i * (rows + 1)] is how many there are, their input
/// rows follow; weights[i * rows] and the next are theirs. Columns stand behind the rows.
struct TapResize {
  std::int32_t planes = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  std::int32_t rows = 1, columns = 1;  ///< the most taps
};
/// O(elements of y * taps). Source: at::upsample_bicubic2d, at::_upsample_bicubic2d_aa.
template <class P>
[[gnu::always_inline]] constexpr void tap_resize(const P& params, const float* x, const std::int32_t* taps,
                                                 const float* weights, float* y) noexcept {
  const TapResize& p = numbers_of(params);
  for (Index plane = 0; plane < p.planes; ++plane, x += Index{p.in_h} * p.in_w)
    for (Index row = 0; row < p.out_h; ++row) {
      const std::int32_t* const down = taps + row * (p.rows + 1);
      for (Index column = 0; column < p.out_w; ++column) {
        const std::int32_t* const across = taps + Index{p.out_h} * (p.rows + 1) + column * (p.columns + 1);
        float sum = 0;
        for (Index i = 0; i < down[0]; ++i) {
          const float* const line = x + Index{down[1 + i]} * p.in_w;
          float of_line = 0;
          for (Index k = 0; k < across[0]; ++k)
            of_line += weights[Index{p.out_h} * p.rows + column * p.columns + k] * line[across[1 + k]];
          sum += weights[row * p.rows + i] * of_line;
        }
        *y++ = sum;
      }
    }
}

}  // namespace davit::static_kernels
