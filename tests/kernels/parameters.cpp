// SPDX-License-Identifier: MIT
#include "davit/kernels/parameters.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using davit::kernels::Parameters;

constexpr Parameters both{.reals = {1.5}, .integers = {7}};
static_assert(both.number<float>(0) == 1.5f && both.number<std::int64_t>(0) == 7 && both.number<double>(3) == 0);

TEST_CASE("an operator's number has the form of its compute type") {
  CHECK(both.number<double>(0) == 1.5);
  CHECK(both.number<std::int64_t>(0) == 7);
  CHECK(both.code == davit::ErrorCode::ok);
}
