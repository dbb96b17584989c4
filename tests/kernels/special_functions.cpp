// SPDX-License-Identifier: MIT
#include "davit/kernels/special_functions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

using namespace davit::kernels;

TEST_CASE("special functions undo each other and meet known values") {
  for (const double x : {-3.0, -1.0, -1e-3, 0.0, 1e-9, 0.3, 1.0, 2.5, 4.0}) CHECK(InverseErf<double>{}(std::erf(x)) == doctest::Approx(x).epsilon(1e-6));
  CHECK(std::isinf(InverseErf<float>{}(1.0f)));
  CHECK(std::isnan(InverseErf<float>{}(1.5f)));
  CHECK(Digamma<double>{}(1.0) == doctest::Approx(-0.5772156649015329));
  CHECK(Digamma<double>{}(-0.5) == doctest::Approx(0.03648997397857652));
  CHECK(std::isnan(Digamma<double>{}(-2.0)));
  CHECK(BesselI0<double>{}(-1.0) == doctest::Approx(1.2660658777520084));
  CHECK(std::isinf(BesselI0<double>{}(800.0)));
  CHECK(ScaledErfc<double>{}(30.0) == doctest::Approx(0.018795888861416751));
  CHECK(ScaledErfc<double>{}(-1.0) == doctest::Approx(5.008980080762283));
  CHECK(LogGamma<double>{}(5.0) == doctest::Approx(std::log(24.0)));
}
