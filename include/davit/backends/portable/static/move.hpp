// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/core/error.hpp"

/// What only moves elements, of any type.
namespace davit::static_float {

/// Elements copied from places with strides to places with strides: permute, slice, select, expand, one operand of cat.
struct StridedCopy {
  static constexpr std::int32_t max_rank = 6;
  std::int32_t rank = 0, from = 0, to = 0;  ///< `from`, `to`: the first element
  std::array<std::int32_t, max_rank> sizes{}, from_strides{}, to_strides{};

  /// Adds an innermost dimension, as part of the last where it continues that; false if there are too many.
  constexpr bool push(std::int64_t size, std::int64_t from_stride, std::int64_t to_stride) noexcept {
    if (size == 1) return true;
    const auto s = static_cast<std::int32_t>(size);
    const auto f = static_cast<std::int32_t>(from_stride);
    const auto t = static_cast<std::int32_t>(to_stride);
    if (rank > 0) {
      const auto last = static_cast<std::size_t>(rank - 1);
      if (from_strides[last] == s * f && to_strides[last] == s * t) {
        sizes[last] *= s;
        from_strides[last] = f;
        to_strides[last] = t;
        return true;
      }
    }
    if (rank == max_rank) return false;
    const auto at = static_cast<std::size_t>(rank++);
    sizes[at] = s;
    from_strides[at] = f;
    to_strides[at] = t;
    return true;
  }
};

/// Copies elements; sizes must not be 0. O(numel). Source: at::copy_.
template <class P, class T>
[[gnu::always_inline]] constexpr void strided_copy(const P& params, const T* x, T* y) noexcept {
  const StridedCopy& p = numbers_of(params);
  x += p.from;
  y += p.to;
  if (p.rank == 0) {
    *y = *x;
    return;
  }
  const auto inner = static_cast<std::size_t>(p.rank - 1);
  const bool dense = p.from_strides[inner] == 1 && p.to_strides[inner] == 1;
  std::array<std::int32_t, StridedCopy::max_rank> index{};
  for (bool more = true; more;) {
    const auto copy_row = [&] __attribute__((always_inline)) {
      if !consteval {
        if (dense) {
          std::memcpy(y, x, static_cast<std::size_t>(p.sizes[inner]) * sizeof(T));
          return;
        }
      }
      for (Index i = 0; i < p.sizes[inner]; ++i) y[i * p.to_strides[inner]] = x[i * p.from_strides[inner]];
    };
    copy_row();
    more = false;
    for (std::size_t d = inner; d-- > 0;) {
      if (++index[d] < p.sizes[d]) {
        x += p.from_strides[d];
        y += p.to_strides[d];
        more = true;
        break;
      }
      x -= Index{p.from_strides[d]} * (p.sizes[d] - 1);
      y -= Index{p.to_strides[d]} * (p.sizes[d] - 1);
      index[d] = 0;
    }
  }
}

/// y[i] = number.
struct Fill {
  std::int32_t count = 0;
  float number = 0;
};
/// O(count). Source: at::full.
template <class P>
[[gnu::always_inline]] constexpr void fill(const P& params, float* y) noexcept {
  const Fill& p = numbers_of(params);
  for_packs<false>(p.count,
                   [&]<Index N>(Index i) __attribute__((always_inline)) { store<N>(y + i, p.number - Pack<N>{}); });
}

/// Rows of a table.
struct Embedding {
  std::int32_t count = 0, rows = 0, length = 0;
};
/// y[i] = table[indices[i]]. Errors: out_of_range for an index outside [0, rows). O(count * length).
/// Source: at::embedding.
template <class P, class I>
[[nodiscard, gnu::always_inline]] constexpr ErrorCode embedding(const P& params, const float* table, const I* indices,
                                                                float* y) noexcept {
  const Embedding& p = numbers_of(params);
  for (Index i = 0; i < p.count; ++i, y += p.length) {
    if (indices[i] < 0 || indices[i] >= p.rows) return ErrorCode::out_of_range;
    const float* row = table + static_cast<Index>(indices[i]) * p.length;
    for_packs<false>(p.length,
                     [&]<Index N>(Index k) __attribute__((always_inline)) { store<N>(y + k, load<N>(row + k)); });
  }
  return ErrorCode::ok;
}

}  // namespace davit::static_float
