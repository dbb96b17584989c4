// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/linear.hpp"

#include <doctest/doctest.h>
#include <array>

#include "support/int8_cases.hpp"

using namespace davit::int8_cases;

TEST_CASE("linears of random shapes give the bytes of the definition") {
  static Buffers<std::int8_t> bytes;
  static Buffers<std::uint8_t> unsigned_bytes;
  for (std::uint32_t seed = 1; seed < 300; ++seed) {
    CAPTURE(seed);
    CHECK(linear_case<plain>(bytes, seed));
    CHECK(linear_case<plain>(unsigned_bytes, seed));
  }
}

TEST_CASE("float results") {
  constexpr std::array<std::int8_t, 3> x{-128, 0, 4};
  constexpr std::array<std::int8_t, 6> weights{1, 2, 3, -1, 0, 1};
  constexpr std::array<float, 2> scales{0.5f, 0.25f};
  constexpr std::array<float, 2> bias{1.0f, -1.0f};
  constexpr auto y = [&] {
    std::array<float, 2> out{};
    linear(x.data(), weights.data(), scales.data(), bias.data(), out.data(),
           Linear{.in_features = 3, .out_features = 2, .q = {.input_zero_point = -128}, .input_scale = 2});
    return out;
  }();
  CHECK(y[0] == doctest::Approx(128 * 2 + 132 * 3 + 1));
  CHECK(y[1] == doctest::Approx(132 * 0.5 - 1));
}
