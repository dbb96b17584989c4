// SPDX-License-Identifier: MIT
#include "davit/kernels/bessel_functions.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

using namespace davit::kernels::detail;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr std::array<double, 4> places{0.25, 4.9, 9, 31};
bool near(double a, double b) { return std::fabs(a - b) <= 1e-14 + 1e-13 * std::fabs(b); }

}  // namespace

TEST_CASE("Bessel functions by series, recurrence and Hankel's expansion") {  // values of mpmath
  constexpr std::array<std::array<double, 4>, 2> j{
      {{0.9844359292958527, -0.2097383275853262, -0.09033361118287614, 0.05120814530454225},
       {0.1240259773227269, -0.3146946710151907, 0.2453117865733253, -0.1330243166663142}}};
  constexpr std::array<std::array<double, 4>, 2> y{
      {{-0.9315730249300587, -0.2920545942440142, 0.2499366982850247, -0.1338326605036443},
       {-2.704105229315283, 0.1812466920450486, 0.1043145751967159, -0.0533728269573216}}};
  for (const int n : {0, 1})
    for (std::size_t i = 0; i < places.size(); ++i) {
      CAPTURE(n);
      CAPTURE(places[i]);
      CHECK(near(bessel_j(n, places[i]), j[static_cast<std::size_t>(n)][i]));
      CHECK(near(bessel_j(n, -places[i]), (n == 0 ? 1 : -1) * j[static_cast<std::size_t>(n)][i]));
      CHECK(near(bessel_y(n, places[i]), y[static_cast<std::size_t>(n)][i]));
    }
  CHECK(bessel_j(0, 0.0) == 1);
  CHECK(bessel_j(1, 1e-300) == doctest::Approx(5e-301));
  CHECK(std::isnan(bessel_j(0, inf)));
  CHECK(bessel_y(0, 0.0) == -inf);
  CHECK(std::isnan(bessel_y(1, -1.0)));
}

TEST_CASE("the phase of an oscillation is rounded as PyTorch's kernels round it") {
  CHECK(bessel_j(0, 1e6f) == doctest::Approx(0.00033132).epsilon(1e-3));  // 0.00033103 in double
  CHECK(std::fabs(bessel_j(0, 1e6) - 0.000331034) < 1e-8);
}

TEST_CASE("modified Bessel functions, scaled and not") {
  for (const double x : {0.25, 2.5, 24.9, 60.0}) {
    const double wronskian =
        scaled_bessel_i(0, x) * bessel_k(1, x, true) + scaled_bessel_i(1, x) * bessel_k(0, x, true);
    CHECK(near(wronskian * x, 1));
  }
#if defined(__cpp_lib_math_special_functions)  // libc++ has none
  CHECK(near(scaled_bessel_i(0, 29.9), std::cyl_bessel_i(0, 29.9) * std::exp(-29.9)));
  CHECK(near(scaled_bessel_i(0, -30.1), std::cyl_bessel_i(0, 30.1) * std::exp(-30.1)));
#endif
  CHECK(near(bessel_k(0, 0.25, false), 1.541506751248303));
  CHECK(near(bessel_k(1, 2.5, false), 0.07389081634774705));
  CHECK(bessel_i(1, -1.0) == doctest::Approx(-0.5651591039924851));
  CHECK(std::isinf(bessel_i(0, 90.0f)));  // as exp(90)
  CHECK(bessel_i(0, 88.0f) < std::numeric_limits<float>::max());
  CHECK(bessel_k(0, 0.0, false) == inf);
  CHECK(bessel_k(1, inf, true) == 0);
  CHECK(std::isnan(bessel_k(1, -1.0, false)));
  CHECK(spherical_bessel_j0(0.0) == 1);
  CHECK(spherical_bessel_j0(-inf) == 0);
}

TEST_CASE("Airy's function on both sides of its series") {
  CHECK(near(airy_ai(0.0), 0.3550280538878172));
  CHECK(near(airy_ai(1.5), 0.07174949700810541));
  CHECK(near(airy_ai(-3.0), -0.3788142936776581));
  CHECK(std::fabs(airy_ai(-8.9999999) - airy_ai(-9.0)) < 2e-7);  // at the border of the asymptotic series
  CHECK(airy_ai(104.0) == 0);
  CHECK(std::isnan(airy_ai(inf)));
}
