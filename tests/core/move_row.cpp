// SPDX-License-Identifier: MIT
#include "davit/core/move_row.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

TEST_CASE("a row of elements is copied with strides, and as a whole if both sides are contiguous") {
  const std::array<std::int32_t, 6> from{1, 2, 3, 4, 5, 6};
  std::array<std::int32_t, 6> to{};
  const auto source = std::as_bytes(std::span(from));
  const auto target = std::as_writable_bytes(std::span(to));
  davit::move_row(4, source.data(), 8, target.data(), 4, 3);
  CHECK(to == std::array<std::int32_t, 6>{1, 3, 5, 0, 0, 0});
  davit::move_row(4, source.data() + 20, -8, target.data(), 8, 3);
  CHECK(to == std::array<std::int32_t, 6>{6, 3, 4, 0, 2, 0});
  davit::move_row(8, source.data(), 8, target.data(), 8, 3);
  CHECK(to == from);
}
