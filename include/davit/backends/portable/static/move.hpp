// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/core/error.hpp"
#include "davit/core/next_index.hpp"

/// Data movement for elements of any type.
namespace davit::static_kernels {

/// A copy between strided tensors: permute, slice, select, expand, one operand of cat.
struct StridedCopy {
  std::int32_t from = 0, to = 0;  ///< the first elements
  Walk<2> walk{};

  /// Adds an innermost dimension; false if there are too many.
  constexpr bool push(std::int64_t size, std::int64_t from_stride, std::int64_t to_stride) noexcept {
    return walk.push(size, {from_stride, to_stride});
  }
};

/// Copies elements; sizes must not be 0. O(numel). Source: at::copy_.
struct strided_copy {
  using Params = StridedCopy;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x) noexcept {
    const Params& p = numbers_of(params);
    x += p.from;
    y += p.to;
    detail::walk_rows(
        p.walk, [&](const std::array<Index, 2>& at, Index count, std::size_t inner) __attribute__((always_inline)) {
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
};

/// A copy with a table of offsets per dimension, of `sizes[d]` entries, one table after the other: y[i, j, ...] =
/// x[offsets_0[i] + offsets_1[j] + ...]. O(elements of y). Source: at::flip, at::reflection_pad2d.
struct table_copy {
  static constexpr std::int32_t max_rank = 6;
  struct Params {
    std::int32_t rank = 0;
    std::array<std::int32_t, max_rank> sizes{};
  };
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x,
                                                   const std::int32_t* offsets) noexcept {
    const Params& p = numbers_of(params);
    std::array<std::int32_t, max_rank> index{};
    const auto inner = static_cast<std::size_t>(p.rank - 1);
    do {
      Index at = 0;
      const std::int32_t* table = offsets;
      for (std::size_t d = 0; d < inner; table += p.sizes[d++]) at += table[index[d]];
      for (Index i = 0; i < p.sizes[inner]; ++i) *y++ = x[at + table[i]];
    } while (next_index(inner, index, p.sizes));
  }
};

/// y[i] = row indices[i] of a table of any type. Errors: out_of_range for an index outside [0, rows). O(count *
/// length). Source: at::embedding.
struct embedding {
  struct Params {
    std::int32_t count = 0, rows = 0, length = 0;
  };
  template <class P, class T, class I>
  [[nodiscard, gnu::always_inline]] static constexpr ErrorCode run(const P& params, T* y, const T* table,
                                                                   const I* indices) noexcept {
    const Params& p = numbers_of(params);
    for (Index i = 0; i < p.count; ++i, y += p.length) {
      if (indices[i] < 0 || indices[i] >= p.rows) return ErrorCode::out_of_range;
      const T* row = table + static_cast<Index>(indices[i]) * p.length;
      if constexpr (std::is_same_v<T, float>)
        for_packs<false>(p.length,
                         [&]<Index N>(Index k) __attribute__((always_inline)) { store<N>(y + k, load<N>(row + k)); });
      else
        for (Index k = 0; k < p.length; ++k) y[k] = row[k];
    }
    return ErrorCode::ok;
  }
};

}  // namespace davit::static_kernels
