// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "davit/core/tensor_view.hpp"
#include "davit/core/walk.hpp"

namespace davit::kernels {

/// Sizes and strides on the stack, for the computation of outputs.
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

/// Computes the broadcast sizes of a and b; false if there are none.
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

/// The strides of a tensor when broadcast to `sizes` (0 in broadcast dimensions), which it must broadcast to.
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
[[nodiscard]] constexpr Sizes strides_of(const TensorView& t) noexcept { return Sizes(t.strides()); }

/// The walk over `sizes` of operands with these strides, in elements.
[[nodiscard]] inline Walk walk_over(std::span<const std::int64_t> sizes, std::span<const Sizes> strides) noexcept {
  Walk walk(sizes);
  for (const Sizes& of : strides) walk.add({of.values.data(), sizes.size()}, 1);
  walk.collapse();
  return walk;
}
/// Calls f(offset_0, ..., offset_{N-1}) for each position of a walk in order.
///
/// Each `f` instantiates its own loop nest: use it only for cheap work done once per element, such as offsets. Move,
/// convert and compute elements in blocks (walk.hpp).
template <std::size_t N, class F>
void for_each_index(const Walk& walk, F&& f) {
  if (walk.count == 0) return;
  walk.for_each_row([&](std::array<std::int64_t, Walk::max_operands> at) {
    for (std::int64_t i = 0; i < walk.sizes[0]; ++i) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        f(at[I]...);
        ((at[I] += walk.strides[I][0]), ...);
      }(std::make_index_sequence<N>{});
    }
  });
}
/// Calls f for each index of `sizes` in row-major order; strides are in elements.
template <std::size_t N, class F>
void for_each_index(std::span<const std::int64_t> sizes, const std::array<Sizes, N>& strides, F&& f) {
  for_each_index<N>(walk_over(sizes, strides), f);
}

}  // namespace davit::kernels
