// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/softmax.hpp"

#include <doctest/doctest.h>
#include <array>
#include <cmath>

#include "davit/backends/portable/int8/multiplier.hpp"
#include "support/int8_cases.hpp"

using namespace davit::int8_kernels;

TEST_CASE("softmax is that of the numbers, to a step") {
  davit::int8_cases::Random random(5);
  for (int round = 0; round < 200; ++round) {
    std::array<std::uint8_t, 40> x{};
    std::array<std::uint8_t, 40> y{};
    const std::int32_t n = random.in(1, 40);
    const double scale = random.real(0.001f, 0.3f);
    for (auto& v : x) v = static_cast<std::uint8_t>(random.in(0, 255));
    Softmax p{.count = n, .start = 1 << 24, .inverse_scale = 1 << 16};
    for (int bit = 0; bit < 8; ++bit)
      p.powers[bit] = static_cast<std::int32_t>(std::exp(-scale * (1 << bit)) * 2147483647.0);
    softmax(x.data(), y.data(), p);
    double sum = 0;
    for (std::int32_t i = 0; i < n; ++i) sum += std::exp(scale * x[static_cast<std::size_t>(i)]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      const double exact = std::fmin(255, std::exp(scale * x[i]) / sum * 256);
      CHECK(std::fabs(y[i] - exact) < 0.52);
    }
  }
}
