// SPDX-License-Identifier: MIT
#include "davit/kernels/constant_math.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

namespace k = davit::kernels;

namespace {

constexpr bool near(double a, double b) { return a - b < 1e-14 && b - a < 1e-14; }
static_assert(near(k::exp(1.0), 2.718281828459045) && near(k::log(10.0), 2.302585092994046) &&
              near(k::sqrt(7.0), 2.6457513110645907) && near(k::tanh(-0.75), -0.6351489523872873) &&
              near(k::erf(0.5), 0.5204998778130465));
static_assert(k::exp(-800.0) == 0 && k::exp(800.0) == std::numeric_limits<double>::infinity() &&
              k::sqrt(-1.0) != k::sqrt(-1.0));

}  // namespace

TEST_CASE("at run time the functions are those of the C++ library") {
  for (const float v : {-3.5f, -0.0f, 0.25f, 7.0f}) {
    CHECK(k::exp(v) == std::exp(v));
    CHECK(k::tanh(v) == std::tanh(v));
    CHECK(k::erf(static_cast<double>(v)) == std::erf(static_cast<double>(v)));
    CHECK(k::sqrt(std::fabs(v)) == std::sqrt(std::fabs(v)));
    CHECK(k::log(std::fabs(v)) == std::log(std::fabs(v)));
  }
}
