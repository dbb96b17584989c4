// SPDX-License-Identifier: MIT
#include "davit/kernels/row_moments.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace davit::kernels;

TEST_CASE("mean and variance of rows of every length, on vectors of every width") {
  std::vector<float> x;
  for (std::int64_t n = 1; n < 70; ++n) {
    x.push_back(static_cast<float>((n * 37) % 101) - 50);
    double sum = 0, squares = 0;
    for (const float v : x) sum += static_cast<double>(v);
    const double mean = sum / static_cast<double>(n);
    for (const float v : x) squares += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
    constexpr std::int64_t one = 1, none = 0;
    for (const Moments<>& m :
         {moments_on<vector_bytes>(x.data(), n, one, none), moments_on<16>(x.data(), n, one, none)}) {
      CAPTURE(n);
      CHECK(m.mean == doctest::Approx(mean));
      CHECK(m.variance == doctest::Approx(squares / static_cast<double>(n)));
    }
  }
}

TEST_CASE("separate parts count as one row; no elements have no variance") {
  const double x[] = {1, 2, -100, 3, 6};
  const Moments<> m = moments_on<16>(x, 2, 2, 3);
  CHECK(m.mean == 3);
  CHECK(m.variance == 3.5);
  CHECK(m.inverse_deviation(0.5) == 0.5);
  const Moments<> none = moments_on<16>(x, 0, 1, 0);
  CHECK(none.mean == 0);
  CHECK(std::isnan(none.variance));
}
