// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/requantize.hpp"

#include <doctest/doctest.h>
#include <array>
#include <cmath>

using namespace davit::int8_kernels;

TEST_CASE("products keep their rounded high half, half up") {
  static_assert(multiply_high(1, 1 << 30) == 0 && multiply_high(2, 1 << 30) == 1 && multiply_high(-2, 1 << 30) == 0);
  static_assert(multiply_high(-3, 1 << 30) == -1 && multiply_high(-2147483647, 2147483647) == -1073741823);
  static_assert(saturate(200) == 127 && saturate(-200) == -128 && saturate(-3) == -3);
  CHECK(multiply_high(6, 1 << 30) == 2);
}

TEST_CASE("a channel's numbers give the rounded result of its scales") {
  constexpr Requantize q{
      .ratio = 0.02f / 0.05f * 4294967296.0f, .output_scale = 0.05f, .output_offset = -19.5f, .shift = fraction_bits};
  for (const float scale : {0.0011f, 0.0123f, 0.4f})
    for (const float bias : {-1.5f, 0.0f, 0.7f}) {
      const Channel c = channel_of(q, scale, bias);
      for (std::int32_t sum = -4000; sum < 4000; sum += 77) {
        const double exact = (sum * 0.02 * scale + bias) / 0.05 - 20;
        if (std::fabs(exact - std::floor(exact) - 0.5) < 0.0001) continue;
        const double rounded = std::floor(exact + 0.5);
        CHECK(requantize(sum, c, q.shift) == static_cast<int>(rounded < -128 ? -128 : rounded > 127 ? 127 : rounded));
      }
    }
}

TEST_CASE("scales and biases out of range leave the numbers in range") {
  constexpr Requantize q{.ratio = 1e6f};
  static_assert(channel_of(q, 1e-30f, 100.0f).initial == 1073741760);
  static_assert(channel_of(q, 1e-30f, -100.0f).initial == -1073741760);
  static_assert(channel_of({.ratio = 1e6f, .output_offset = 0}, 0.001f, 0.0f).initial == 0);
  CHECK(channel_of(q, 0.001f, 1.0f).multiplier == 1000);
}

TEST_CASE("outputs are clamped to narrower bounds") {
  std::array<std::int8_t, 3> y{-100, 5, 100};
  clamp_outputs(y.data(), 3, {.low = -10, .high = 50});
  CHECK(y == std::array<std::int8_t, 3>{-10, 5, 50});
  std::array<std::uint8_t, 2> u{0, 255};
  clamp_outputs(u.data(), 2, {.low = -10, .high = 50});
  CHECK(u == std::array<std::uint8_t, 2>{118, 178});
}
