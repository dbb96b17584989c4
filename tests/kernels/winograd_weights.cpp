// SPDX-License-Identifier: MIT
#include "davit/kernels/winograd_weights.hpp"

#include <doctest/doctest.h>

#include <vector>

using davit::kernels::WinogradConvolution;

namespace {
constexpr WinogradConvolution of(std::int64_t channels, std::int64_t size) {
  return {.images = 2,
          .channels = channels,
          .height = size,
          .width = size,
          .out_channels = 32,
          .out_height = size,
          .out_width = size,
          .top = 1,
          .left = 1,
          .source = {},
          .made = {}};
}
}  // namespace

static_assert(of(16, 14).tile() == 2 && of(16, 14).products() == 16 && of(16, 14).tiles() == 2 * 7 * 7 &&
              of(16, 14).packed_size() == 16 * 16 * 32);
static_assert(of(16, 21).tile() == 4 && of(16, 21).products() == 36 && of(16, 21).tiles() == 2 * 6 * 6);
static_assert(of(16, 56).together() == 64 && of(512, 56).together() == 16);

TEST_CASE("the tap in the middle alone, and all taps") {
  const WinogradConvolution c = of(16, 14);
  std::vector<float> weight(32 * 16 * 9, 0.0f), packed(static_cast<std::size_t>(c.packed_size()));
  const std::size_t output = 17, input = 3;
  weight[(output * 16 + input) * 9 + 4] = 8;  // at (1, 1)
  davit::kernels::pack_winograd_weights(c, weight.data(), packed.data());
  const std::size_t at = (output / 16 * 16 + input) * 16 + output % 16;  // in blocks of 16 filters
  const float expected[] = {0, 0, 0, 0, 0, 2, -2, 0, 0, -2, 2, 0, 0, 0, 0, 0};
  float total = 0;
  for (std::size_t k = 0; k < 16; ++k) {
    CHECK(packed[k * 16 * 32 + at] == expected[k]);
    for (std::size_t i = 0; i < 16 * 32; ++i) total += packed[k * 16 * 32 + i] * packed[k * 16 * 32 + i];
  }
  CHECK(total == 16);
}
