// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/core/error.hpp"

/// What only moves elements, of any type.
namespace davit::static_kernels {

/// Elements copied from places with strides to places with strides: permute, slice, select, expand, one operand of cat.
struct StridedCopy {
  std::int32_t from = 0, to = 0;  ///< the first element
  Walk<2> walk{};

  /// Adds an innermost dimension; false if there are too many.
  constexpr bool push(std::int64_t size, std::int64_t from_stride, std::int64_t to_stride) noexcept {
    return walk.push(size, {from_stride, to_stride});
  }
};

/// Copies elements; sizes must not be 0. O(numel). Source: at::copy_.
template <class P, class T>
[[gnu::always_inline]] constexpr void strided_copy(const P& params, const T* x, T* y) noexcept {
  const StridedCopy& p = numbers_of(params);
  x += p.from;
  y += p.to;
  detail::walk_rows(p.walk,
                    [&](const std::array<Index, 2>& at, Index count, std::size_t inner) __attribute__((always_inline)) {
                      const Index from_stride = p.walk.strides[0][inner], to_stride = p.walk.strides[1][inner];
                      if !consteval {
                        if (from_stride == 1 && to_stride == 1) {
                          std::memcpy(y + at[1], x + at[0], static_cast<std::size_t>(count) * sizeof(T));
                          return;
                        }
                      }
                      for (Index i = 0; i < count; ++i) y[at[1] + i * to_stride] = x[at[0] + i * from_stride];
                    });
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

}  // namespace davit::static_kernels
