// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace davit {

/// Advances dimension d of an index; calls move(d, steps) for each change. Returns false where it wraps around to 0.
template <class Index, class Sizes, class Move>
[[gnu::always_inline]] constexpr bool next_in_dimension(std::size_t d, Index& index, const Sizes& sizes,
                                                        Move&& move) noexcept {
  move(d, std::ptrdiff_t{1});
  if (++index[d] < sizes[d]) return true;
  move(d, -static_cast<std::ptrdiff_t>(sizes[d]));
  index[d] = 0;
  return false;
}
/// Advances an index of `rank` dimensions in row-major order: the last dimension moves first. Calls move(d, steps) for
/// each dimension that changes. Returns false after the last index, and wraps around to the first. No size may be 0.
template <class Index, class Sizes, class Move>
[[gnu::always_inline]] constexpr bool next_index(std::size_t rank, Index& index, const Sizes& sizes,
                                                 Move&& move) noexcept {
  for (std::size_t d = rank; d-- > 0;)
    if (next_in_dimension(d, index, sizes, move)) return true;
  return false;
}
template <class Index, class Sizes>
[[gnu::always_inline]] constexpr bool next_index(std::size_t rank, Index& index, const Sizes& sizes) noexcept {
  return next_index(rank, index, sizes, [](std::size_t, std::ptrdiff_t) {});
}

}  // namespace davit
