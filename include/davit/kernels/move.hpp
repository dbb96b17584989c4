// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "davit/core/move_elements.hpp"
#include "davit/core/move_row.hpp"
#include "davit/core/tensor_view.hpp"
#include "davit/core/walk.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::kernels {

using davit::move_elements;
using davit::move_row;

/// move_elements on the threads of the team.
[[gnu::noinline]] inline void move_in_parallel(std::size_t element, const Walk& walk, const void* from,
                                               void* to) noexcept {
  if (current_team == nullptr) return move_elements(element, walk, from, to);
  std::size_t d = walk.rank - 1;
  for (std::size_t k = 0; k + 1 < walk.rank; ++k)
    if (walk.sizes[d] < team_size() && walk.sizes[k] > walk.sizes[d]) d = k;
  constexpr std::int64_t tile = 64;  // threads get whole tiles, and whole cache lines
  walk_in_parallel(walk, d, walk.sizes[d] < 4 * tile ? 1 : tile, 8, [&](std::size_t, const WalkPart& part) {
    move_elements(element, part.walk, static_cast<const std::byte*>(from) + part.at[0],
                  static_cast<std::byte*>(to) + part.at[1]);
  });
}
[[gnu::noinline]] inline void move_in_parallel(std::size_t element, std::span<const std::int64_t> sizes,
                                               const void* from, std::span<const std::int64_t> from_strides, void* to,
                                               std::span<const std::int64_t> to_strides) noexcept {
  Walk walk(sizes);
  walk.add(from_strides, element).add(to_strides, element).collapse();
  move_in_parallel(element, walk, from, to);
}
inline void move_in_parallel(const TensorView& from, const TensorView& to) noexcept {
  move_in_parallel(size_of(from.dtype), from.sizes(), from.data, from.strides(), to.data, to.strides());
}

/// The elements that a row of int64 indices selects: for index i of position p, `index * stride + p * step` bytes from
/// the first.
struct IndexedRow {
  const std::byte* index;
  std::int64_t index_step;  ///< bytes
  std::int64_t limit;       ///< indices outside [0, limit) are faults
  std::int64_t stride;
  std::int64_t step;
};

namespace detail {
template <std::size_t Bytes, bool Gathers>
[[nodiscard]] bool move_indexed(const IndexedRow& row, std::byte* indexed, std::byte* other, std::int64_t other_step,
                                std::int64_t n) noexcept {
  const auto [first, index_step, limit, stride, step] = row;
  const std::byte* index = first;
  bool inside = true;
  for (; n > 0; --n, index += index_step, indexed += step, other += other_step) {
    const std::int64_t at = *reinterpret_cast<const std::int64_t*>(index);
    if (static_cast<std::uint64_t>(at) >= static_cast<std::uint64_t>(limit)) {
      inside = false;
    } else if constexpr (Gathers) {
      std::memcpy(other, indexed + at * stride, Bytes);
    } else {
      std::memcpy(indexed + at * stride, other, Bytes);
    }
  }
  return inside;
}
}  // namespace detail

/// Copies elements of up to 8 bytes from the indexed places to a row, or (not `gathers`) from a row to the indexed
/// places, where the last of several wins. False if an index is outside; the other elements are copied. O(n).
[[nodiscard, gnu::noinline]] inline bool move_indexed(std::size_t element, bool gathers, const IndexedRow& row,
                                                      std::byte* indexed, std::byte* other, std::int64_t other_step,
                                                      std::int64_t n) noexcept {
  switch (element) {
    case 1:
      return (gathers ? detail::move_indexed<1, true> : detail::move_indexed<1, false>)(row, indexed, other, other_step,
                                                                                        n);
    case 2:
      return (gathers ? detail::move_indexed<2, true> : detail::move_indexed<2, false>)(row, indexed, other, other_step,
                                                                                        n);
    case 4:
      return (gathers ? detail::move_indexed<4, true> : detail::move_indexed<4, false>)(row, indexed, other, other_step,
                                                                                        n);
    case 8:
      return (gathers ? detail::move_indexed<8, true> : detail::move_indexed<8, false>)(row, indexed, other, other_step,
                                                                                        n);
    default:
      return (gathers ? detail::move_indexed<16, true> : detail::move_indexed<16, false>)(row, indexed, other,
                                                                                          other_step, n);
  }
}

namespace detail {
template <std::size_t Bytes>
void fill_row(const void* value, std::byte* to, std::int64_t n) noexcept {
  constexpr std::int64_t some = 16 / Bytes;
  std::array<std::byte, 16> equal;
  for (std::size_t i = 0; i < 16; i += Bytes) std::memcpy(equal.data() + i, value, Bytes);
  for (; n >= some; n -= some, to += 16) std::memcpy(to, equal.data(), 16);
  for (; n > 0; --n, to += Bytes) std::memcpy(to, equal.data(), Bytes);
}
}  // namespace detail

/// Fills n elements of 1, 2, 4, 8 or 16 bytes with the element at `value`, which may be the first of them. O(n).
[[gnu::noinline]] inline void fill_row(std::size_t element, const void* value, void* to, std::int64_t n) noexcept {
  auto* const first = static_cast<std::byte*>(to);
  if (n <= 0) return;
  switch (element) {
    case 1: return detail::fill_row<1>(value, first, n);
    case 2: return detail::fill_row<2>(value, first, n);
    case 4: return detail::fill_row<4>(value, first, n);
    case 8: return detail::fill_row<8>(value, first, n);
    default: return detail::fill_row<16>(value, first, n);
  }
}

}  // namespace davit::kernels
