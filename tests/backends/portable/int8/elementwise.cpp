// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/elementwise.hpp"

#include <doctest/doctest.h>
#include <array>

using namespace davit::int8_kernels;

TEST_CASE("rescaling, clamped, to a part of the output") {
  constexpr std::array<std::int8_t, 4> x{-10, 0, 10, 100};
  std::array<std::int8_t, 6> y{};
  rescale(x.data(), y.data(),
          {.blocks = {.count = 2, .block = 2, .stride = 3, .offset = 1},
           .multiplier = 1 << 30,
           .shift = 1,
           .input_zero_point = -10,
           .output_zero_point = 2,
           .low = 3,
           .high = 50});
  CHECK(y == std::array<std::int8_t, 6>{0, 3, 7, 0, 12, 50});
}

TEST_CASE("blocks are copied to their places") {
  constexpr std::array<std::uint8_t, 4> x{1, 2, 3, 4};
  std::array<std::uint8_t, 6> y{};
  copy_blocks(x.data(), y.data(), {.count = 2, .block = 2, .stride = 3, .offset = 1});
  CHECK(y == std::array<std::uint8_t, 6>{0, 1, 2, 0, 3, 4});
}

TEST_CASE("sums and products at their own scales") {
  constexpr std::array<std::int8_t, 3> a{10, -20, 127};
  constexpr std::array<std::int8_t, 3> b{4, 8, 127};
  std::array<std::int8_t, 3> y{};
  add(a.data(), b.data(), y.data(),
      {.count = 3, .a_multiplier = 1 << 20, .b_multiplier = 1 << 19, .initial = 1 << 19, .shift = 20});
  CHECK(y == std::array<std::int8_t, 3>{12, -16, 127});
  add(a.data(), b.data(), y.data(),
      {.count = 3,
       .b_step = 0,
       .a_multiplier = 1 << 20,
       .b_multiplier = 1 << 20,
       .initial = 1 << 19,
       .shift = 20,
       .low = 0});
  CHECK(y == std::array<std::int8_t, 3>{14, 0, 127});
  mul(a.data(), b.data(), y.data(),
      {.count = 3, .a_zero_point = 2, .output_zero_point = 1, .multiplier = 1 << 30, .shift = 1});
  CHECK(y == std::array<std::int8_t, 3>{17, -87, 127});
}

TEST_CASE("tables and permutations") {
  std::array<std::int8_t, 256> table{};
  for (std::size_t i = 0; i < 256; ++i) table[i] = static_cast<std::int8_t>(static_cast<int>(i) - 128);
  constexpr std::array<std::int8_t, 3> x{-128, 0, 127};
  std::array<std::int8_t, 3> y{};
  lookup(x.data(), table.data(), y.data(), 3);
  CHECK(y == std::array<std::int8_t, 3>{0, -128, -1});
  constexpr std::array<std::uint8_t, 6> matrix{1, 2, 3, 4, 5, 6};
  std::array<std::uint8_t, 6> turned{};
  permute(matrix.data(), turned.data(), {.sizes = {1, 1, 3, 2}, .strides = {0, 0, 1, 3}});
  CHECK(turned == std::array<std::uint8_t, 6>{1, 4, 2, 5, 3, 6});
}
