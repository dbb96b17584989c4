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

TEST_CASE("the two elements around an output element") {
  constexpr ResizeAxis grows{2, 4};
  constexpr davit::kernels::LinearTap<float> second(grows, grows.step<float>(false), 1, false);
  static_assert(second.first == 0 && second.second == 1 && second.of_second == 0.25f);
  CHECK(second.of_first == 0.75f);
  constexpr ResizeAxis stays{4, 4};  // each element is its own, and no neighbouring infinity makes it NaN
  constexpr davit::kernels::LinearTap<float> own(stays, stays.step<float>(false), 1, false);
  static_assert(own.first == 1 && own.second == 1 && own.of_first == 1);
}

TEST_CASE("the input element with the nearest centre") {
  constexpr ResizeAxis grows{3, 7}, shrinks{10, 4}, by_factor{4, 7, 1.8};
  static_assert(grows.nearest_exact<float>(0) == 0 && grows.nearest_exact<float>(3) == 1 &&
                grows.nearest_exact<double>(6) == 2);
  CHECK(shrinks.nearest_exact<float>(0) == 1);
  CHECK(shrinks.nearest_exact<float>(3) == 8);
  CHECK(by_factor.nearest_exact<float>(6) == 3);
}

namespace {

/// The sums of the taps' elements and of their weights, for all output elements of an axis.
struct Sums {
  std::int64_t taps = 0;
  double weights = 0, places = 0;
};
constexpr Sums sums(const ResizeAxis& axis, davit::kernels::ResizeFilter filter, bool aligned = false) {
  const davit::kernels::ResizeTaps<double> taps(axis, filter, aligned);
  Sums out;
  for (std::int64_t i = 0; i < axis.out; ++i) {
    std::int64_t elements[64] = {};
    double weights[64] = {};
    const std::int64_t n = taps.write(i, taps.most(64), elements, weights);
    out.taps += n;
    for (std::int64_t k = 0; k < n; ++k) {
      out.weights += weights[k];
      out.places += weights[k] * static_cast<double>(elements[k]);
      if (elements[k] < 0 || elements[k] >= axis.in) return {};
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the taps of an axis: as many as the filter is wide, inside the axis, with weights that sum up to 1") {
  static_assert(sums({4, 8}, {.cubic = true}).taps == 32 && sums({4, 8}, {}).taps == 16);
  CHECK(sums({4, 8}, {.cubic = true}).weights == doctest::Approx(8));
  CHECK(sums({4, 8}, {.cubic = true}).places == doctest::Approx(8 * 1.5));
  CHECK(sums({9, 3}, {.smooth = true}).weights == doctest::Approx(3));
  CHECK(sums({9, 3}, {.smooth = true}).taps == 15);  // 5, 6 and 4
  CHECK(sums({9, 3}, {.cubic = true, .smooth = true}).places == doctest::Approx(3 * 4));
  CHECK(sums({9, 3, 1e-300}, {.cubic = true, .smooth = true}).taps <= 3 * 9);  // a scale that no file should have
  CHECK(sums({9, 3, 1e-300}, {.cubic = true}).weights == doctest::Approx(3));
  CHECK(sums({5, 9}, {.cubic = true}, true).weights == doctest::Approx(9));
}
