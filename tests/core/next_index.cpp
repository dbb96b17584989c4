// SPDX-License-Identifier: MIT
#include "davit/core/next_index.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>

using davit::next_in_dimension;
using davit::next_index;

namespace {

/// Offsets of the elements of a 2 x 3 x 2 tensor with these strides, as digits.
constexpr bool check_places() {
  const std::array<int, 3> sizes{2, 3, 2};
  const std::array<std::ptrdiff_t, 3> strides{1, 0, 5};
  std::array<int, 3> index{};
  std::ptrdiff_t at = 0;
  for (const std::ptrdiff_t place : {0, 5, 0, 5, 0, 5, 1, 6, 1, 6, 1, 6}) {
    if (at != place || at != index[0] * strides[0] + index[2] * strides[2]) return false;
    const bool more =
        next_index(3, index, sizes, [&](std::size_t d, std::ptrdiff_t steps) { at += strides[d] * steps; });
    if (more != (index != std::array<int, 3>{})) return false;
  }
  return at == 0;
}
static_assert(check_places());

/// A dimension counts up to its size, and steps back to 0.
constexpr bool check_one_dimension() {
  const std::array<int, 2> sizes{4, 3};
  std::array<int, 2> index{2, 1};
  std::ptrdiff_t moved = 0;
  const auto move = [&](std::size_t d, std::ptrdiff_t steps) { moved += d == 1 ? steps : 100; };
  if (!next_in_dimension(1, index, sizes, move) || index != std::array{2, 2} || moved != 1) return false;
  return !next_in_dimension(1, index, sizes, move) && index == std::array{2, 0} && moved == -1;
}
static_assert(check_one_dimension());

}  // namespace

TEST_CASE("indices follow one another in row-major order, and the first follows the last") {
  CHECK(check_places());
  CHECK(check_one_dimension());
  std::array<int, 1> none{};
  CHECK_FALSE(next_index(0, none, none));
}
