// SPDX-License-Identifier: MIT
#include "davit/kernels/multiply_add.hpp"

#include <doctest/doctest.h>

static_assert(davit::kernels::multiply_add(2.0f, 3.0f, 4.0f) == 10.0f);

TEST_CASE("a product and a sum") {
  double two = 2;
  CHECK(davit::kernels::multiply_add(two, 3.0, 4.0) == 10.0);
}
