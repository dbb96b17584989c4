// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/core/next_index.hpp"

namespace davit::static_kernels {

/// A walk over N tensors in row-major order of `sizes`; the stride of a broadcast dimension is 0.
template <std::size_t N>
struct Walk {
  static constexpr std::int32_t max_rank = 6;
  std::int32_t rank = 0;
  std::array<std::int32_t, max_rank> sizes{};
  std::array<std::array<std::int32_t, max_rank>, N> strides{};

  [[nodiscard]] constexpr Index count() const noexcept {
    Index n = 1;
    for (std::int32_t d = 0; d < rank; ++d) n *= sizes[static_cast<std::size_t>(d)];
    return n;
  }
  /// Adds an innermost dimension; it is merged with the last one if every tensor's strides allow. False if there are
  /// too many.
  constexpr bool push(std::int64_t size, const std::array<std::int64_t, N>& steps) noexcept {
    if (size == 1) return true;
    const auto s = static_cast<std::int32_t>(size);
    bool continues = rank > 0;
    std::size_t at = static_cast<std::size_t>(continues ? rank - 1 : 0);
    for (std::size_t n = 0; n < N; ++n)
      continues = continues && strides[n][at] == s * static_cast<std::int32_t>(steps[n]);
    if (!continues) {
      if (rank == max_rank) return false;
      at = static_cast<std::size_t>(rank++);
      sizes[at] = 1;
    }
    sizes[at] *= s;
    for (std::size_t n = 0; n < N; ++n) strides[n][at] = static_cast<std::int32_t>(steps[n]);
    return true;
  }
};

namespace detail {

/// Calls f(offset of each tensor's row, number of elements, dimension of the row) for each innermost row, in order; the
/// sizes must not be 0.
template <std::size_t N, class F>
[[gnu::always_inline]] constexpr void walk_rows(const Walk<N>& w, F&& f) noexcept {
  const std::size_t inner = w.rank == 0 ? 0 : static_cast<std::size_t>(w.rank - 1);
  const Index count = w.rank == 0 ? 1 : w.sizes[inner];
  std::array<Index, N> at{};
  std::array<std::int32_t, Walk<N>::max_rank> index{};
  do f(at, count, inner);
  while (next_index(inner, index, w.sizes, [&](std::size_t d, Index steps) __attribute__((always_inline)) {
    for (std::size_t n = 0; n < N; ++n) at[n] += w.strides[n][d] * steps;
  }));
}
/// Calls f(offset of each tensor's element) for each position, in order: an array, or the offset for a single tensor.
/// The sizes must not be 0.
template <std::size_t N, class F>
[[gnu::always_inline]] constexpr void walk_each(const Walk<N>& w, F&& f) noexcept {
  walk_rows(w, [&](const std::array<Index, N>& row, Index count, std::size_t inner) __attribute__((always_inline)) {
    std::array<Index, N> at = row;
    for (Index i = 0; i < count; ++i) {
      if constexpr (N == 1)
        f(at[0]);
      else
        f(at);
      for (std::size_t n = 0; n < N; ++n) at[n] += w.strides[n][inner];
    }
  });
}

}  // namespace detail

}  // namespace davit::static_kernels
