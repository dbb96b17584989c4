// SPDX-License-Identifier: MIT
#include "davit/kernels/move.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace kernels = davit::kernels;
using Integers = std::vector<std::int64_t>;

TEST_CASE("indices gather and scatter; an index outside is reported, the others are moved") {
  const std::array<std::int64_t, 3> index{2, 5, 0};
  std::array<float, 4> own{1, 2, 3, 4};
  std::array<float, 3> other{};
  const kernels::IndexedRow row{reinterpret_cast<const std::byte*>(index.data()), 8, 4, 4, 0};
  auto* indexed = reinterpret_cast<std::byte*>(own.data());
  auto* rest = reinterpret_cast<std::byte*>(other.data());
  CHECK_FALSE(kernels::move_indexed(4, true, row, indexed, rest, 4, 3));
  CHECK(other == std::array<float, 3>{3, 0, 1});
  other = {7, 8, 9};
  CHECK_FALSE(kernels::move_indexed(4, false, row, indexed, rest, 4, 3));
  CHECK(own == std::array<float, 4>{9, 2, 7, 4});
}
TEST_CASE("a row is filled with one element, which may be its first") {
  std::array<std::int16_t, 7> row{5};
  kernels::fill_row(2, row.data(), row.data(), 6);
  CHECK(row == std::array<std::int16_t, 7>{5, 5, 5, 5, 5, 5, 0});
  kernels::fill_row(2, nullptr, row.data(), 0);
}
