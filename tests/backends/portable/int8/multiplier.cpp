// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/multiplier.hpp"

#include <doctest/doctest.h>
#include <cmath>

using namespace davit::int8_kernels;

TEST_CASE("factors as multiplier and shift") {
  static_assert(multiplier_of(0.25, 8).multiplier == 1 << 30 && multiplier_of(0.25, 8).shift == 0);
  static_assert(multiplier_of(1.0, 8).multiplier == 1 << 30 && multiplier_of(1.0, 8).shift == 2);
  static_assert(multiplier_of(0.0, 8).shift == -1 && multiplier_of(1000.0, 8).shift == -1);
  CHECK(multiplier_of(0.3, 8).multiplier == 1288490189);
}

TEST_CASE("the nearest integer and the exponential") {
  static_assert(nearest_even(2.5) == 2 && nearest_even(3.5) == 4 && nearest_even(-2.5) == -2 && nearest_even(7.4) == 7);
  for (double x = -50; x < 50; x += 0.37) CHECK(exponential(x) == doctest::Approx(std::exp(x)).epsilon(1e-12));
}
