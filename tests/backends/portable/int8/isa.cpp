// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/isa.hpp"

#include <doctest/doctest.h>
#include <array>
#include <cstddef>
#include <cstdint>

using namespace davit::int8_kernels;

TEST_CASE("bytes and their int8 form") {
  static_assert(to_int8(std::uint8_t{0}) == -128 && to_int8(std::uint8_t{128}) == 0 && to_int8(std::int8_t{-7}) == -7);
  static_assert(from_int8<std::uint8_t>(-128) == 0 && from_int8<std::uint8_t>(127) == 255 &&
                from_int8<std::int8_t>(-7) == -7);
  for (int v = 0; v < 256; ++v) {
    const auto byte = static_cast<std::uint8_t>(v);
    CHECK(to_int8(byte) == v - 128);
    CHECK(from_int8<std::uint8_t>(to_int8(byte)) == byte);
  }
}

TEST_CASE("rows of any length are copied, and no byte behind them") {
  std::array<std::uint8_t, 40> from{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint8_t>(i * 7);
  for (std::int32_t n = 0; n < 20; ++n) {
    std::array<std::int8_t, 40> to{};
    copy_row(to.data() + 1, from.data() + 3, n);
    for (std::int32_t i = 0; i < 30; ++i)
      CHECK(to[static_cast<std::size_t>(i) + 1] == (i < n ? to_int8(from[static_cast<std::size_t>(i) + 3]) : 0));
    CHECK(to[0] == 0);
  }
}

TEST_CASE("rows are filled by words") {
  std::array<std::int8_t, 12> to{};
  fill_row(to.data(), -5, 6);
  for (std::size_t i = 0; i < 12; ++i) CHECK(to[i] == (i < 8 ? -5 : 0));
}
