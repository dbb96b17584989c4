// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/group_linear.hpp"

#include <doctest/doctest.h>
#include <array>
#include <cstdint>

#include "support/int8_cases.hpp"

using namespace davit::int8_cases;

TEST_CASE("linears with a scale per group give the bits of the definition") {
  static Buffers<std::int8_t> bytes;
  static Buffers<std::uint8_t> unsigned_bytes;
  for (std::uint32_t seed = 1; seed < 300; ++seed) {
    CAPTURE(seed);
    CHECK(group_linear_case<plain>(bytes, seed));
    CHECK(group_linear_case<plain>(unsigned_bytes, seed));
  }
}

TEST_CASE("two groups of weights of 4 bits in constant evaluation") {
  constexpr auto y = [] {
    // (2, 4) weights: 1 -8 | 7 2, -1 0 | 3 -4
    constexpr std::array<std::uint8_t, 4> weights{0x81, 0x27, 0x0f, 0xc3};
    constexpr std::array<std::uint8_t, 4> x{130, 127, 128, 140};  // less 129: 1 -2 -1 11
    constexpr std::array<float, 4> scales{0.5f, 2.0f, 0.25f, 4.0f};
    std::array<std::int8_t, 2> out{};
    group_linear(x.data(), weights.data(), scales.data(), static_cast<const float*>(nullptr), out.data(),
                 GroupLinear{.in_features = 4, .out_features = 2, .groups = 2, .input_zero_point = 1});
    return out;
  }();
  CHECK(y[0] == 12);    // (17 * 0.5 + 15 * 0.25): 12.25
  CHECK(y[1] == -128);  // -1 * 2 - 47 * 4
}
