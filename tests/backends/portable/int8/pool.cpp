// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/pool.hpp"

#include <doctest/doctest.h>
#include <array>

using namespace davit::int8_kernels;

TEST_CASE("the maximum of windows, without their padding") {
  constexpr std::array<std::int8_t, 9> x{-9, -8, -7, -6, -5, -4, -3, -2, -1};
  constexpr auto y = [&] {
    std::array<std::int8_t, 4> out{};
    max_pool2d(x.data(), out.data(),
               {.in_h = 3,
                .in_w = 3,
                .out_h = 2,
                .out_w = 2,
                .kernel_h = 2,
                .kernel_w = 2,
                .stride_h = 2,
                .stride_w = 2,
                .pad_h = 1,
                .pad_w = 1});
    return out;
  }();
  CHECK(y == std::array<std::int8_t, 4>{-9, -7, -3, -1});
  constexpr std::array<std::uint8_t, 4> bytes{0, 200, 3, 100};
  std::array<std::uint8_t, 2> most{};
  max_pool2d(bytes.data(), most.data(), {.in_h = 1, .in_w = 4, .out_w = 2, .kernel_w = 2, .stride_w = 2});
  CHECK(most == std::array<std::uint8_t, 2>{200, 100});
}

TEST_CASE("averages at another scale, zeros in the padding") {
  constexpr std::array<std::int8_t, 4> x{10, 20, 30, 40};
  constexpr AvgPool quarter{.shape = {.in_h = 2, .in_w = 2, .kernel_h = 2, .kernel_w = 2}, .multiplier = 1 << 30};
  std::array<std::int8_t, 1> y{};
  avg_pool2d(x.data(), y.data(), quarter);
  CHECK(y[0] == 25);
  AvgPool padded = quarter;
  padded.shape.pad_h = padded.shape.pad_w = 1;
  padded.input_zero_point = 6;
  padded.output_zero_point = -3;
  avg_pool2d(x.data(), y.data(), padded);
  CHECK(y[0] == -2);  // (10 - 6) / 4 - 3
}
