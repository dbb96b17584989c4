// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/pattern.hpp"

#include <doctest/doctest.h>

using namespace davit;
using namespace davit::int8_fold;

TEST_CASE("the byte of a number") {
  constexpr Quantized q{.value = 0, .dtype = ScalarType::int8, .scale = 0.5, .zero_point = -10};
  static_assert(q.byte_of(0) == -10 && q.byte_of(1) == -8 && q.byte_of(0.25) == -10 && q.byte_of(0.75) == -8);
  static_assert(q.byte_of(1e30) == 127 && q.byte_of(-1e30) == -128);
  CHECK(q.same_numbers({.value = 7, .dtype = ScalarType::int8, .scale = 0.5, .zero_point = -10}));
  CHECK(!q.same_numbers({.value = 0, .dtype = ScalarType::uint8, .scale = 0.5, .zero_point = -10}));
}
