// SPDX-License-Identifier: MIT
#include "davit/kernels/gamma_functions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace davit::kernels::detail;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();
bool near(double a, double b, double tolerance = 1e-13) { return std::fabs(a - b) <= tolerance * std::fabs(b); }

}  // namespace

TEST_CASE("the zeta function of Hurwitz, below zero too") {
  CHECK(near(hurwitz_zeta(2, 1), pi * pi / 6));
  CHECK(near(hurwitz_zeta(3, 0.5), 8.41439832211716));
  CHECK(near(hurwitz_zeta(1.5, 20), 0.4528736171293872));
  CHECK(near(hurwitz_zeta(4, -2.5), 32.4579793698646));
  CHECK(near(hurwitz_zeta(41, -0.5), std::pow(1.5, -41) + std::pow(2.5, -41)));  // the largest terms cancel
  CHECK(near(hurwitz_zeta(2, -1e6 - 0.25), hurwitz_zeta(2, 0.75) + hurwitz_zeta(2, 0.25) - 1e-6, 1e-9));
  CHECK(near(hurwitz_zeta(3, -1e-40), -1e120));
  CHECK(hurwitz_zeta(2, -1e300) == inf);
  CHECK(hurwitz_zeta(1, 3) == inf);
  CHECK(hurwitz_zeta(2, -4) == inf);
  CHECK(std::isnan(hurwitz_zeta(0.5, 1)));
  CHECK(std::isnan(hurwitz_zeta(2.5, -0.5)));
  CHECK(std::isnan(hurwitz_zeta(not_a_number, 2)));
  CHECK(hurwitz_zeta(1e30, -0.5) == inf);
}

TEST_CASE("derivatives of digamma") {
  CHECK(near(polygamma(0, 1.0), -0.5772156649015329));
  CHECK(near(polygamma(1, 0.3), 12.24536454610773));
  CHECK(near(polygamma(1, -0.3), 13.94516026780572));
  CHECK(near(polygamma(2, 4.0), -0.08003973224511449));
  CHECK(near(polygamma(3, -1.5), 194.5942762191876));
  CHECK(polygamma(1, inf) == 0);
  CHECK(polygamma(1, 0.0f) == std::numeric_limits<float>::infinity());
  CHECK(polygamma(1, -1.0f) > 1e14f);  // torch's sine of pi is not 0
  CHECK(polygamma(2, 0.0) == -inf);
}

TEST_CASE("incomplete gamma functions by series, fraction and expansion") {
  const double rows[][4] = {{0.5, 0.3, 0.561421973919, 0.438578026081},
                            {0.5, 3, 0.9856941215645704, 0.01430587843542964},
                            {3, 2, 0.3233235838169366, 0.6766764161830635},
                            {3, 9, 0.9937678048936227, 0.00623219510637733},
                            {25, 22, 0.2882805244329326, 0.7117194755670674},
                            {1000, 980, 0.2656040388821805, 0.7343959611178195},
                            {5e6, 5.001e6, 0.6726826253276285, 0.3273173746723716}};
  for (const auto& [a, x, lower, upper] : rows) {
    CAPTURE(a);
    CHECK(near(incomplete_gamma(a, x, false), lower, 1e-9));
    CHECK(near(incomplete_gamma(a, x, true), upper, 1e-9));
  }
  CHECK(near(incomplete_gamma(1e-8, 0.5, true), 5.597736012179697e-09, 1e-9));
  CHECK(near(incomplete_gamma(1e6 - 1, 1e6, false), incomplete_gamma(1e6 + 1, 1e6 + 2, false),
             1e-6));  // on both sides of the expansion
  CHECK(incomplete_gamma(0, 1, false) == 1);
  CHECK(std::isnan(incomplete_gamma(0, 0, false)));
  CHECK(incomplete_gamma(2, 0, true) == 1);
  CHECK(incomplete_gamma(inf, 2, false) == 0);
  CHECK(std::isnan(incomplete_gamma(inf, inf, true)));
  CHECK(incomplete_gamma(2, inf, false) == 1);
  CHECK(std::isnan(incomplete_gamma(-1, 2, false)));
  CHECK(incomplete_gamma(not_a_number, 0, false) == 0);  // as in torch
  CHECK(std::isnan(incomplete_gamma(not_a_number, 1, true)));
}
