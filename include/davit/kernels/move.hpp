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

namespace davit::kernels {

using davit::move_elements;
using davit::move_row;

/// Places that a row of int64 indices names: of index i, `index * stride + i * step` bytes from the first.
struct IndexedRow {
  const std::byte* index;
  std::int64_t index_step;  ///< bytes
  std::int64_t limit;       ///< indices outside [0, limit) name nothing
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

/// Moves elements of up to 8 bytes from the places that indices name to a row, or (not `gathers`) from a row to these
/// places, of several to one the last. False if an index is outside; the others are moved. O(n).
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

/// Fills n elements with the one at `value`, which may be the first of them. O(n).
[[gnu::noinline]] inline void fill_row(std::size_t element, const void* value, void* to, std::int64_t n) noexcept {
  auto* first = static_cast<std::byte*>(to);
  if (n <= 0) return;
  if (value != to) std::memcpy(first, value, element);
  auto done = static_cast<std::int64_t>(1);
  while (done < n) {
    const std::int64_t more = done < n - done ? done : n - done;
    std::memcpy(first + static_cast<std::size_t>(done) * element, first, static_cast<std::size_t>(more) * element);
    done += more;
  }
}

}  // namespace davit::kernels
