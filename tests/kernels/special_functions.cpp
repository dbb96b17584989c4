// SPDX-License-Identifier: MIT
#include "davit/kernels/special_functions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

using namespace davit::kernels;

TEST_CASE("special functions undo each other and meet known values") {
  for (const double x : {-3.0, -1.0, -1e-3, 0.0, 1e-9, 0.3, 1.0, 2.5, 4.0})
    CHECK(InverseErf<double>{}(std::erf(x)) == doctest::Approx(x).epsilon(1e-6));
  CHECK(std::isinf(InverseErf<float>{}(1.0f)));
  CHECK(std::isnan(InverseErf<float>{}(1.5f)));
  CHECK(Digamma<double>{}(1.0) == doctest::Approx(-0.5772156649015329));
  CHECK(Digamma<double>{}(-0.5) == doctest::Approx(0.03648997397857652));
  CHECK(std::isnan(Digamma<double>{}(-2.0)));
  for (const double x : {1e-300, 1e-40, 1e-16, 1e-3})  // -x is so close to 0 that 1 - x is 1
    CHECK(Digamma<double>{}(-x) == doctest::Approx(1 / x + (x < 1e-5 ? 0.0 : -0.5788618021)).epsilon(1e-9));
  CHECK(Digamma<float>{}(-1e-40f) == std::numeric_limits<float>::infinity());
  for (const auto& [p, x] : {std::pair{1e-40, -13.310921},
                             {1e-20, -9.262340},
                             {1e-10, -6.361340},
                             {1e-7, -5.199338},
                             {1e-3, -3.090232},
                             {0.3, -0.524401},
                             {0.5, 0.0},
                             {0.999, 3.090232},
                             {1e-300, -37.047096}})
    CHECK(NormalQuantile<double>{}(p) == doctest::Approx(x).epsilon(1e-6));
  CHECK(NormalQuantile<float>{}(0.0f) == -std::numeric_limits<float>::infinity());
  CHECK(NormalQuantile<float>{}(1.0f) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(NormalQuantile<float>{}(-0.1f)));
  CHECK(BesselI0<double>{}(-1.0) == doctest::Approx(1.2660658777520084));
  CHECK(std::isinf(BesselI0<double>{}(800.0)));
  CHECK(ScaledErfc<double>{}(30.0) == doctest::Approx(0.018795888861416751));
  CHECK(ScaledErfc<double>{}(-1.0) == doctest::Approx(5.008980080762283));
  CHECK(LogGamma<double>{}(5.0) == doctest::Approx(std::log(24.0)));
}
