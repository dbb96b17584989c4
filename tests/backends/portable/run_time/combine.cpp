// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/combine.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace davit::portable_kernels;

namespace {

constexpr bool check_combine() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto is_nan = [](double v) { return __builtin_isnan(v); };
  return combine(Combine::sum, INT64_MAX, std::int64_t{1}) == INT64_MIN &&
         combine<std::int32_t>(Combine::prod, INT32_MIN, -1) == INT32_MIN && combine(Combine::sum, true, true) &&
         !combine(Combine::prod, true, false) && is_nan(combine(Combine::amax, nan, 1.0)) &&
         is_nan(combine(Combine::amin, 1.0, nan)) && combine(Combine::amin, 2, -1) == -1;
}
static_assert(check_combine());

constexpr bool check_neutral() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  return neutral<double>(Combine::amax) == -inf && neutral<float>(Combine::prod) == 1 &&
         !neutral<bool>(Combine::amax) && neutral<bool>(Combine::amin) && neutral<std::int8_t>(Combine::amax) == -128 &&
         neutral<int>(Combine::mean) == 0;
}
static_assert(check_neutral());

constexpr bool check_division() {
  return divide_down(-7, 2) == -4 && divide_down(7, 2) == 3 && divide_down(-6, 2) == -3 && divide_down(7, -2) == -4 &&
         divide_down(INT64_MIN, std::int64_t{-1}) == INT64_MIN && divide_down<std::uint8_t>(255, 2) == 127;
}
static_assert(check_division());

}  // namespace

TEST_CASE("integers combine modulo 2^n, NaN prevails") {
  CHECK(check_combine());
}
TEST_CASE("the neutral value of each reduction") {
  CHECK(check_neutral());
}
TEST_CASE("integer means round towards minus infinity") {
  CHECK(check_division());
}
TEST_CASE("reductions by torch's names") {
  CHECK(combine_named("mean") == Combine::mean);
  CHECK(combine_named("amin") == Combine::amin);
  CHECK(combine_named("max") == Combine::unknown);
}
