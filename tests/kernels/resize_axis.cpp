// SPDX-License-Identifier: MIT
#include "davit/kernels/resize_axis.hpp"

#include <doctest/doctest.h>

using davit::kernels::ResizeAxis;

static_assert(ResizeAxis{3, 6}.nearest<float>(5) == 2 && ResizeAxis{4, 4, 7}.nearest<float>(3) == 3);

TEST_CASE("the nearest input element of an output element") {
  const ResizeAxis shrinks{10, 4};
  CHECK(shrinks.nearest<float>(0) == 0);
  CHECK(shrinks.nearest<float>(3) == 7);
  const ResizeAxis by_factor{4, 7, 1.8};
  CHECK(by_factor.nearest<float>(6) == 3);
  CHECK(by_factor.step<double>(true) == 3.0 / 6);
  CHECK(ResizeAxis{4, 1}.step<float>(true) == 0);
}

TEST_CASE("the two elements that an output element lies between") {
  constexpr ResizeAxis grows{2, 4};
  constexpr davit::kernels::LinearTap<float> second(grows, grows.step<float>(false), 1, false);
  static_assert(second.first == 0 && second.second == 1 && second.of_second == 0.25f);
  CHECK(second.of_first == 0.75f);
  constexpr ResizeAxis stays{4, 4};  // each element is its own, and no infinity beside it makes it NaN
  constexpr davit::kernels::LinearTap<float> own(stays, stays.step<float>(false), 1, false);
  static_assert(own.first == 1 && own.second == 1 && own.of_first == 1);
}
