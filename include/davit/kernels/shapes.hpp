// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "davit/core/tensor_view.hpp"

namespace davit::kernels {

/// Sizes and strides on the stack, for outputs being worked out.
struct Sizes {
  std::array<std::int64_t, max_rank> values{};
  std::size_t rank = 0;

  constexpr Sizes() = default;
  [[gnu::noinline]] constexpr Sizes(std::span<const std::int64_t> from) noexcept {
    for (const std::int64_t v : from) push(v);
  }
  constexpr bool push(std::int64_t v) noexcept {
    if (rank == max_rank) return false;
    values[rank++] = v;
    return true;
  }
  constexpr std::int64_t& operator[](std::size_t i) noexcept { return values[i]; }
  constexpr std::int64_t operator[](std::size_t i) const noexcept { return values[i]; }
  [[nodiscard]] constexpr std::span<const std::int64_t> span() const noexcept { return {values.data(), rank}; }
  constexpr operator std::span<const std::int64_t>() const noexcept { return span(); }
};

/// Wraps a dimension that may be negative; false if it is outside [-rank, rank) (rank 0 counts as 1).
[[nodiscard]] constexpr bool wrap_dim(std::int64_t& dim, std::size_t rank) noexcept {
  const auto limit = static_cast<std::int64_t>(rank == 0 ? 1 : rank);
  if (dim < -limit || dim >= limit) return false;
  if (dim < 0) dim += limit;
  return true;
}

/// The sizes that a and b broadcast to; false if they do not.
[[nodiscard, gnu::noinline]] constexpr bool broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                                      Sizes& out) noexcept {
  const std::size_t rank = a.size() > b.size() ? a.size() : b.size();
  if (rank > max_rank) return false;
  Sizes result;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t x = d + a.size() < rank ? 1 : a[d + a.size() - rank];
    const std::int64_t y = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (x != y && x != 1 && y != 1) return false;
    result.push(x == 1 ? y : x);
  }
  out = result;
  return true;
}

/// The strides with which a tensor walks `sizes` when broadcast to them (0 in broadcast dimensions). `sizes` must be
/// what the tensor broadcasts to.
[[nodiscard, gnu::noinline]] constexpr Sizes broadcast_strides(const TensorView& t,
                                                               std::span<const std::int64_t> sizes) noexcept {
  Sizes strides;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const bool absent = d + t.rank < sizes.size();
    const std::size_t own = absent ? 0 : d + t.rank - sizes.size();
    strides.push(absent || t.sizes_data[own] == 1 ? 0 : t.strides_data[own]);
  }
  return strides;
}

/// The strides of a tensor as Sizes.
[[nodiscard]] constexpr Sizes strides_of(const TensorView& t) noexcept {
  return Sizes(t.strides());
}

/// Calls f(offset_0, ..., offset_{N-1}) (element offsets) for each index of `sizes` in row-major order.
///
/// Every `f` is a loop nest of its own: for what is asked of each element once, such as positions. Elements that are
/// moved, converted or computed go in blocks (walk.hpp).
template <std::size_t N, class F>
void for_each_index(std::span<const std::int64_t> sizes, const std::array<Sizes, N>& strides, F&& f) {
  const std::size_t rank = sizes.size();
  for (const std::int64_t size : sizes)
    if (size == 0) return;
  std::array<std::int64_t, N> offset{};
  const std::int64_t inner = rank == 0 ? 1 : sizes[rank - 1];
  std::array<std::int64_t, N> step{};
  if (rank != 0)
    for (std::size_t n = 0; n < N; ++n) step[n] = strides[n][rank - 1];
  std::array<std::int64_t, max_rank> index{};
  while (true) {
    std::array<std::int64_t, N> at = offset;
    for (std::int64_t i = 0; i < inner; ++i) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        f(at[I]...);
      }
      (std::make_index_sequence<N>{});
      for (std::size_t n = 0; n < N; ++n) at[n] += step[n];
    }
    std::size_t d = rank < 2 ? 0 : rank - 1;
    while (d > 0) {
      --d;
      for (std::size_t n = 0; n < N; ++n) offset[n] += strides[n][d];
      if (++index[d] < sizes[d]) break;
      for (std::size_t n = 0; n < N; ++n) offset[n] -= strides[n][d] * sizes[d];
      index[d] = 0;
      if (d == 0) return;
    }
    if (rank < 2) return;
  }
}

}  // namespace davit::kernels
