// SPDX-License-Identifier: MIT
#include "davit/kernels/arithmetic.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

using namespace davit;
using namespace davit::kernels;

static_assert(wrap_add(INT64_MAX, std::int64_t{1}) == INT64_MIN && wrap_sub(INT64_MIN, std::int64_t{1}) == INT64_MAX);
static_assert(nan_max(1.0f, 2.0f) == 2.0f && nan_min<std::int64_t>(1, 2) == 1);

TEST_CASE("NaN prevails in maxima and minima") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(nan_max(nan, 1.0f)));
  CHECK(std::isnan(nan_max(1.0f, nan)));
  CHECK(std::isnan(nan_min(nan, 1.0f)));
  CHECK(std::isnan(Clamp<float>{}(1.0f, 0.0f, nan)));
}
TEST_CASE("integers divide as in Python and in C, and a zero divisor is reported") {
  Parameters p;
  CHECK(FloorDivide<std::int64_t>(p)(-7, 2) == -4);
  CHECK(FloorDivide<std::int64_t>(p)(INT64_MIN, -1) == INT64_MIN);
  CHECK(TruncDivide<std::int64_t>(p)(-7, 2) == -3);
  CHECK(Fmod<std::int64_t>(p)(-7, 2) == -1);
  CHECK(Remainder<std::int64_t>(p)(-7, 2) == 1);
  CHECK(p.code == ErrorCode::ok);
  CHECK(Remainder<std::int64_t>(p)(1, 0) == 0);
  CHECK(p.code == ErrorCode::out_of_range);
}
TEST_CASE("floats divide as torch does") {
  Parameters p;
  CHECK(FloorDivide<double>(p)(-7.5, 2) == -4);
  CHECK(std::signbit(FloorDivide<double>(p)(-0.0, 3)));
  CHECK(std::isinf(FloorDivide<float>(p)(1, 0)));
  CHECK(Remainder<float>(p)(-7.5f, 2) == 0.5f);
  CHECK(p.code == ErrorCode::ok);
}
TEST_CASE("powers of integers wrap; negative powers are exact for 1 and -1") {
  const Power<std::int64_t> power;
  CHECK(power(3, 4) == 81);
  CHECK(power(2, 64) == 0);
  CHECK(power(-1, -3) == -1);
  CHECK(power(1, -5) == 1);
  CHECK(power(7, -1) == 0);
}
TEST_CASE("small powers by products, and powers of two") {
  const auto power = [](std::int64_t n, float x) {
    Parameters parameters{.integers = {n}};
    return SmallPower<float>(parameters)(x, 0);
  };
  CHECK(power(2, -3) == 9);
  CHECK(power(3, -3) == -27);
  CHECK(power(-1, 4) == 0.25f);
  CHECK(power(-2, 2) == 0.25f);
  CHECK(PowerOfTwo<float>{}(7, -3) == 0.125f);
}
TEST_CASE("scaled sums") {
  Parameters p{.reals = {0.5}, .integers = {-2}};
  CHECK(AddScaled<float>(p)(1, 4) == 3);
  CHECK(AddScaled<std::int64_t>(p)(1, 4) == -7);
}
