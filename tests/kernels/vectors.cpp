// SPDX-License-Identifier: MIT
#include "davit/kernels/vectors.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

using namespace davit;

static_assert(kernels::FloatVector<kernels::Vector<float, 16>> && !kernels::FloatVector<kernels::Vector<double, 16>>);
static_assert(!kernels::FloatVector<float> && !kernels::FloatVector<std::array<float, 4>>);
static_assert(kernels::lanes<float, 16> == 4 && kernels::lanes<double, 64> == 8);

TEST_CASE("vectors are read and written at any address, and summed up") {
  std::array<float, 9> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  kernels::vector_at<16>(x.data() + 5) = kernels::vector_at<16>(static_cast<const float*>(x.data()) + 1) * 2.0f;
  CHECK(x == std::array<float, 9>{0, 1, 2, 3, 4, 2, 4, 6, 8});
  const kernels::Vector<float, 16> v = kernels::vector_at<16>(x.data());
  CHECK(kernels::sum_of<float, 16>(v) == 6);
}

TEST_CASE("NaN elements stay, the others are replaced") {
  const kernels::Vector<double, 16> v{std::numeric_limits<double>::quiet_NaN(), 1}, other{2, 3};
  kernels::Vector<double, 16> to{};
  kernels::take_nan<kernels::Vector<double, 16>>(v, other, to);
  const double first = to[0], second = to[1];  // clang binds no reference to an element
  CHECK(std::isnan(first));
  CHECK(second == 3);
}
