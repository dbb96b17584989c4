// SPDX-License-Identifier: MIT
#include "davit/core/floor_divide.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using davit::floor_divide;
using davit::floor_modulo;
using davit::has_quotient;

namespace {

constexpr bool check_floor_divide() {
  return floor_divide(-7, 2) == -4 && floor_divide(7, 2) == 3 && floor_divide(-6, 2) == -3 &&
         floor_divide(7, -2) == -4 && floor_divide(-7, -2) == 3 && floor_divide(7, -1) == -7 &&
         floor_divide<std::uint8_t>(255, 2) == 127 && floor_divide<std::int8_t>(-128, 127) == -2 &&
         floor_divide(INT64_MIN, INT64_MAX) == -2;
}
constexpr bool check_without_quotient() {
  return floor_divide(7, 0) == 0 && floor_divide<std::uint64_t>(7, 0) == 0 &&
         floor_divide(INT64_MIN, std::int64_t{-1}) == INT64_MIN && floor_divide<std::int8_t>(-128, -1) == -128;
}
constexpr bool check_floor_modulo() {
  return floor_modulo(-7, 2) == 1 && floor_modulo(7, -2) == -1 && floor_modulo(7, 0) == 0 &&
         floor_modulo(INT64_MIN, std::int64_t{3}) == 1 && floor_modulo(INT64_MIN, std::int64_t{-1}) == 0 &&
         floor_modulo<std::uint8_t>(255, 7) == 3 && floor_modulo<std::int8_t>(-128, 127) == 126;
}
static_assert(check_floor_divide() && check_without_quotient() && check_floor_modulo());

}  // namespace

TEST_CASE("quotients of integers are rounded towards minus infinity") {
  CHECK(check_floor_divide());
  CHECK(check_floor_modulo());
  for (int a = -9; a <= 9; ++a)
    for (int b = -4; b <= 4; ++b) {
      if (b == 0) continue;
      const int rest = a - floor_divide(a, b) * b;  // has the divisor's sign
      CHECK(floor_modulo(a, b) == rest);
      CHECK((b > 0 ? 0 <= rest && rest < b : b < rest && rest <= 0));
    }
}

TEST_CASE("division without a quotient has a defined result") {
  CHECK(check_without_quotient());
  CHECK_FALSE(has_quotient(7, 0));
  CHECK_FALSE(has_quotient(0u, 0u));
  CHECK_FALSE(has_quotient(INT64_MIN, std::int64_t{-1}));
  CHECK_FALSE(has_quotient<std::int8_t>(-128, -1));
  CHECK(has_quotient(INT64_MIN + 1, std::int64_t{-1}));
  CHECK(has_quotient(UINT64_MAX, UINT64_MAX));
}
