// SPDX-License-Identifier: MIT
#include "davit/kernels/functions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

using namespace davit;
using namespace davit::kernels;

TEST_CASE("functions of integers") {
  CHECK(Absolute<std::int64_t>{}(INT64_MIN) == INT64_MIN);
  CHECK(Negate<std::int64_t>{}(5) == -5);
  CHECK(Sign<std::int64_t>{}(-9) == -1);
  Parameters truth{.integers = {1}};
  Parameters bits{.integers = {-1}};
  CHECK(BitNot<std::int64_t>(truth)(1) == 0);
  CHECK(BitNot<std::int64_t>(bits)(5) == ~5);
}
TEST_CASE("functions of floats: NaN, infinities and halves") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(Sign<double>{}(nan) == 0);
  CHECK(std::isnan(Relu<double>{}(nan)));
  CHECK(Round<float>{}(2.5f) == 2);
  CHECK(IsInf<double>{}(-inf));
  CHECK_FALSE(IsInf<std::int64_t>{}(INT64_MAX));
  CHECK(LogicalNot<double>{}(-0.0));
  CHECK(Log1p<float>{}(2e38f) == std::numeric_limits<float>::infinity());
  CHECK(Sigmoid<double>{}(0) == 0.5);
}
TEST_CASE("functions with parameters") {
  Parameters p{.reals = {-1, 2}, .integers = {-1, 2}};
  CHECK(Hardtanh<float>(p)(-3) == -1);
  CHECK(Hardtanh<std::int64_t>(p)(3) == 2);
  Parameters slope{.reals = {0.5}};
  CHECK(LeakyRelu<float>(slope)(-2) == -1);
  Parameters dense{.integers = {1}};
  Parameters other;
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(std::isnan(Gelu<float>(dense)(inf)));
  CHECK(Gelu<float>(other)(inf) == inf);
}
