// SPDX-License-Identifier: MIT
#include "davit/kernels/winograd.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using davit::kernels::WinogradConvolution;

namespace {

struct Case {
  std::int64_t images, channels, height, width, out_channels, top, left, bottom, right;
  bool channels_last = false, bias = true, sum = false, relu = false;
};

[[nodiscard]] WinogradConvolution of(const Case& a) {
  WinogradConvolution c{.images = a.images,
                        .channels = a.channels,
                        .height = a.height,
                        .width = a.width,
                        .out_channels = a.out_channels,
                        .out_height = a.height + a.top + a.bottom - 2,
                        .out_width = a.width + a.left + a.right - 2,
                        .top = a.top,
                        .left = a.left,
                        .source = {},
                        .made = {}};
  const auto layout = [&](std::int64_t channels, std::int64_t height, std::int64_t width) {
    return a.channels_last
               ? davit::kernels::BlockedImage{height * width * channels, 16, width * channels, channels}
               : davit::kernels::BlockedImage{height * width * channels, height * width * 16, width * 16, 16};
  };
  c.source = layout(c.channels, c.height, c.width);
  c.made = layout(c.out_channels, c.out_height, c.out_width);
  return c;
}
[[nodiscard]] std::size_t place(const davit::kernels::BlockedImage& at, std::int64_t n, std::int64_t channel,
                                std::int64_t y, std::int64_t x) {
  return static_cast<std::size_t>(n * at.image + channel / 16 * at.block + channel % 16 + y * at.row + x * at.pixel);
}

/// The largest difference from sums in double, relative to the largest result.
[[nodiscard]] double difference(const Case& a) {
  const WinogradConvolution c = of(a);
  std::mt19937 numbers(3);
  const auto random = [&](std::int64_t count) {
    std::vector<float> x(static_cast<std::size_t>(count));
    for (float& v : x) v = static_cast<float>(static_cast<int>(numbers() % 2001) - 1000) / 1000;
    return x;
  };
  const auto source = random(c.images * c.source.image), weight = random(c.out_channels * c.channels * 9),
             bias = random(c.out_channels), sum = random(c.images * c.made.image);
  std::vector<float> packed(static_cast<std::size_t>(c.packed_size())),
      space(static_cast<std::size_t>(c.space() * davit::kernels::team_size()));
  std::vector<float> made = sum;
  davit::kernels::pack_winograd_weights(c, weight.data(), packed.data());
  davit::kernels::convolve_winograd(c, source.data(), packed.data(), a.bias ? bias.data() : nullptr,
                                    a.sum ? made.data() : nullptr, a.relu, made.data(), space.data());
  double most = 0, largest = 0;
  for (std::int64_t n = 0; n < c.images; ++n)
    for (std::int64_t o = 0; o < c.out_channels; ++o)
      for (std::int64_t y = 0; y < c.out_height; ++y)
        for (std::int64_t x = 0; x < c.out_width; ++x) {
          double right = a.bias ? static_cast<double>(bias[static_cast<std::size_t>(o)]) : 0;
          for (std::int64_t i = 0; i < c.channels; ++i)
            for (std::int64_t k = 0; k < 9; ++k) {
              const std::int64_t p = y + k / 3 - c.top, q = x + k % 3 - c.left;
              if (p < 0 || p >= c.height || q < 0 || q >= c.width) continue;
              right += static_cast<double>(source[place(c.source, n, i, p, q)]) *
                       static_cast<double>(weight[static_cast<std::size_t>((o * c.channels + i) * 9 + k)]);
            }
          const std::size_t at = place(c.made, n, o, y, x);
          if (a.sum) right += static_cast<double>(sum[at]);
          if (a.relu) right = std::max(right, 0.0);
          most = std::max(most, std::fabs(right - static_cast<double>(made[at])));
          largest = std::max(largest, std::fabs(right));
        }
  return most / largest;
}

}  // namespace

TEST_CASE("squares of outputs equal the plain sums") {
  CHECK(difference({1, 16, 9, 10, 32, 1, 1, 1, 1}) < 2e-6);        // squares of 2 x 2, some of them cut
  CHECK(difference({2, 32, 12, 9, 48, 0, 1, 1, 0, true}) < 2e-6);  // channels innermost
  CHECK(difference({1, 16, 21, 22, 32, 1, 1, 1, 1, false, true, true, true}) < 5e-6);  // squares of 4 x 4, with a sum
  CHECK(difference({1, 48, 30, 23, 16, 1, 0, 1, 1, true, false, false, true}) < 5e-6);
  CHECK(difference({3, 16, 28, 28, 16, 1, 1, 1, 1, true, true, true, false}) <
        5e-6);  // more squares than are computed together
}

TEST_CASE("threads compute the same") {
  davit::kernels::ThreadTeam team(2, 1);
  const Case a{1, 16, 28, 28, 32, 1, 1, 1, 1};
  const double alone = difference(a);
  const davit::kernels::TeamScope scope(&team);
  CHECK(difference(a) == alone);
}
