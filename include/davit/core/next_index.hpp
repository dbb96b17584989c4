// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace davit {

/// Goes on to the next of the indices of `rank` dimensions in row-major order: the last dimension goes first. Calls
/// move(d, steps) for each dimension that the index moves along. False after the last index; the first follows. No size
/// may be 0.
template <class Index, class Sizes, class Move>
[[gnu::always_inline]] constexpr bool next_index(std::size_t rank, Index& index, const Sizes& sizes,
                                                 Move&& move) noexcept {
  for (std::size_t d = rank; d-- > 0;) {
    move(d, std::ptrdiff_t{1});
    if (++index[d] < sizes[d]) return true;
    move(d, -static_cast<std::ptrdiff_t>(sizes[d]));
    index[d] = 0;
  }
  return false;
}
template <class Index, class Sizes>
[[gnu::always_inline]] constexpr bool next_index(std::size_t rank, Index& index, const Sizes& sizes) noexcept {
  return next_index(rank, index, sizes, [](std::size_t, std::ptrdiff_t) {});
}

}  // namespace davit
