// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/conv2d.hpp"

#include <doctest/doctest.h>
#include <array>

#include "support/int8_cases.hpp"

using namespace davit::int8_cases;

TEST_CASE("convolutions of random shapes give the bytes of the definition") {
  static Buffers<std::int8_t> bytes;
  static Buffers<std::uint8_t> unsigned_bytes;
  for (std::uint32_t seed = 1; seed < 150; ++seed) {
    CAPTURE(seed);
    CHECK(conv_case<plain>(bytes, seed, ConvKind::general));
    CHECK(conv_case<plain>(unsigned_bytes, seed, ConvKind::general));
    CHECK(conv_case<plain>(bytes, seed, ConvKind::pointwise));
    CHECK(conv_case<plain>(unsigned_bytes, seed, ConvKind::pointwise));
  }
}

TEST_CASE("an error of one in a sum is found") {
  static Buffers<std::int8_t> bytes;
  planted_error = 1;
  bool found = false;
  for (std::uint32_t seed = 1; seed < 20; ++seed) found = found || !conv_case<plain>(bytes, seed, ConvKind::general);
  planted_error = 0;
  CHECK(found);
}

namespace {
constexpr std::array<std::int8_t, 4> weights{1, 2, 3, 4};
constexpr Conv2d small{
    .shape = {.in_channels = 1, .in_h = 3, .in_w = 3, .out_h = 2, .out_w = 2, .kernel_h = 2, .kernel_w = 2},
    .q = {.ratio = 429496729.6f, .shift = fraction_bits, .input_zero_point = -1}};
constexpr std::array<std::int8_t, 9> image{0, 1, 2, 3, 4, 5, 6, 7, 8};
constexpr auto in_constant_evaluation = [] {
  std::array<std::int8_t, 4> y{};
  conv2d<plain>(image.data(), weights.data(), nullptr, nullptr, y.data(), nullptr, small);
  return y;
}();
}  // namespace

TEST_CASE("constant evaluation gives the same bytes") {
  std::array<std::int8_t, 4> y{};
  std::array<std::int32_t, 64> scratch{};
  conv2d<plain>(image.data(), weights.data(), nullptr, nullptr, y.data(), scratch.data(), small);
  CHECK(y == in_constant_evaluation);
  CHECK(y == std::array<std::int8_t, 4>{4, 5, 7, 8});
}
