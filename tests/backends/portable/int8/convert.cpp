// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/convert.hpp"

#include <doctest/doctest.h>
#include <array>

using namespace davit::int8_kernels;

TEST_CASE("numbers become bytes, ties to even, out of range at the bounds") {
  constexpr std::array<float, 6> x{0.25f, 0.75f, -0.25f, 1e9f, -1e9f, 3.0f};
  constexpr auto y = [&] {
    std::array<std::int8_t, 6> out{};
    quantize(x.data(), out.data(), {.count = 6, .inverse_scale = 2, .zero_point = 3, .low = -128, .high = 127});
    return out;
  }();
  CHECK(y == std::array<std::int8_t, 6>{3, 5, 3, 127, -128, 9});
}

TEST_CASE("bytes become numbers, with one scale or one per channel") {
  constexpr std::array<std::uint8_t, 4> x{0, 1, 2, 255};
  std::array<float, 4> y{};
  dequantize<std::uint8_t, std::int64_t>(x.data(), nullptr, nullptr, y.data(),
                                         {.inner = 4, .scale = 0.5f, .zero_point = 1});
  CHECK(y == std::array<float, 4>{-0.5f, 0.0f, 0.5f, 127.0f});
  constexpr std::array<float, 2> scales{1.0f, 10.0f};
  constexpr std::array<std::int64_t, 2> zero_points{0, 5};
  dequantize<std::uint8_t, std::int64_t>(x.data(), scales.data(), nullptr, y.data(), {.channels = 2, .inner = 2});
  CHECK(y == std::array<float, 4>{0.0f, 1.0f, 20.0f, 2550.0f});
  dequantize(x.data(), scales.data(), zero_points.data(), y.data(), {.channels = 2, .inner = 2});
  CHECK(y == std::array<float, 4>{0.0f, 1.0f, -30.0f, 2500.0f});
}
