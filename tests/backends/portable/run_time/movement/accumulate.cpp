// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/accumulate.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace davit::portable_kernels;

namespace {

constexpr bool check_combine() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto is_nan = [](double v) { return __builtin_isnan(v); };
  return accumulate(Reduction::sum, INT64_MAX, std::int64_t{1}) == INT64_MIN &&
         accumulate<std::int32_t>(Reduction::prod, INT32_MIN, -1) == INT32_MIN &&
         accumulate(Reduction::sum, true, true) && !accumulate(Reduction::prod, true, false) &&
         is_nan(accumulate(Reduction::amax, nan, 1.0)) && is_nan(accumulate(Reduction::amin, 1.0, nan)) &&
         accumulate(Reduction::amin, 2, -1) == -1;
}
static_assert(check_combine());

constexpr bool check_neutral() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  return identity<double>(Reduction::amax) == -inf && identity<float>(Reduction::prod) == 1 &&
         !identity<bool>(Reduction::amax) && identity<bool>(Reduction::amin) &&
         identity<std::int8_t>(Reduction::amax) == -128 && identity<int>(Reduction::mean) == 0;
}
static_assert(check_neutral());

}  // namespace

TEST_CASE("integers combine modulo 2^n, NaN prevails") { CHECK(check_combine()); }
TEST_CASE("the neutral value of each reduction") { CHECK(check_neutral()); }
TEST_CASE("reductions by torch's names") {
  CHECK(reduction_named("mean") == Reduction::mean);
  CHECK(reduction_named("amin") == Reduction::amin);
  CHECK(reduction_named("max") == Reduction::unknown);
}
