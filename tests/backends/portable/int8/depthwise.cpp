// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/depthwise.hpp"

#include <doctest/doctest.h>
#include <array>

#include "support/int8_cases.hpp"

using namespace davit::int8_cases;

TEST_CASE("3x3 filters of one channel give the bytes of the definition") {
  static Buffers<std::int8_t> bytes;
  static Buffers<std::uint8_t> unsigned_bytes;
  for (std::uint32_t seed = 1; seed < 300; ++seed) {
    CAPTURE(seed);
    CHECK(conv_case<plain>(bytes, seed, ConvKind::depthwise));
    CHECK(conv_case<plain>(unsigned_bytes, seed, ConvKind::depthwise));
  }
}

TEST_CASE("which convolutions it computes") {
  CHECK(is_depthwise3x3({.groups = 4, .kernel_h = 3, .kernel_w = 3, .pad_w = 2}));
  CHECK_FALSE(is_depthwise3x3({.in_channels = 2, .kernel_h = 3, .kernel_w = 3}));
  CHECK_FALSE(is_depthwise3x3({.kernel_h = 3, .kernel_w = 3, .pad_w = 3}));
  CHECK_FALSE(is_depthwise3x3({.kernel_h = 3, .kernel_w = 3, .dilation_w = 2}));
}
