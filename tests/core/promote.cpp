// SPDX-License-Identifier: MIT
#include "davit/core/promote.hpp"

#include <doctest/doctest.h>

using namespace davit;
using enum ScalarType;

static_assert(promote(float16, bfloat16) == float32 && promote(uint8, int8) == int16 &&
              promote(int64, float16) == float16);
static_assert(promote(undefined, bool_) == bool_ && promote(bool_, uint8) == uint8 &&
              promote(float64, complex64) == complex128);
static_assert(promote(bfloat16, complex32) == complex64 && promote(float16, complex32) == complex32 &&
              promote(complex128, float16) == complex128);

TEST_CASE("dimensions count before category: a number changes a tensor's dtype only by being of a higher category") {
  CHECK(PromotedType{.dimensioned = int32, .number = int64}.get() == int32);
  CHECK(PromotedType{.dimensioned = int32, .number = float32}.get() == float32);
  CHECK(PromotedType{.dimensioned = float16, .zero = float64}.get() == float16);
  CHECK(PromotedType{.dimensioned = bool_, .zero = int64}.get() == int64);
  CHECK(PromotedType{.dimensioned = float32, .zero = complex128}.get() == complex64);
  CHECK(PromotedType{.dimensioned = complex64, .zero = float64}.get() == complex64);
  CHECK(PromotedType{.zero = float64, .number = float32}.get() == float64);
}
