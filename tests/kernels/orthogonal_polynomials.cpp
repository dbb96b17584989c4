// SPDX-License-Identifier: MIT
#include "davit/kernels/orthogonal_polynomials.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

using namespace davit::kernels;

TEST_CASE("orthogonal polynomials by recurrence, by cosines and at the ends") {
  const auto p = [](Polynomial kind, double x, double n, bool shifted = false) {
    return polynomial(kind, x, n, shifted);
  };
  CHECK(p(Polynomial::chebyshev_t, 0.3, 3) == doctest::Approx(4 * 0.027 - 0.9));
  CHECK(p(Polynomial::chebyshev_t, 2, 7) == doctest::Approx(5042));
  CHECK(p(Polynomial::chebyshev_u, 0.3, 2) == doctest::Approx(4 * 0.09 - 1));
  CHECK(p(Polynomial::chebyshev_v, 0.3, 1) == doctest::Approx(-0.4));
  CHECK(p(Polynomial::chebyshev_w, 0.3, 1) == doctest::Approx(1.6));
  for (int kind = 0; kind < 4; ++kind)  // a cosine instead of the recurrence
    CHECK(p(static_cast<Polynomial>(kind), 0.3, 12) ==
          doctest::Approx(0.6 * p(static_cast<Polynomial>(kind), 0.3, 11) - p(static_cast<Polynomial>(kind), 0.3, 10)));
  CHECK(p(Polynomial::chebyshev_t, 0.65, 5, true) == doctest::Approx(p(Polynomial::chebyshev_t, 0.3, 5)));
  CHECK(p(Polynomial::chebyshev_u, -1, 3) == -4);
  CHECK(p(Polynomial::chebyshev_v, -1, 3) == -7);
  CHECK(p(Polynomial::chebyshev_w, 0, 3, true) == -1);
  CHECK(p(Polynomial::hermite_h, 0.5, 3) == doctest::Approx(8 * 0.125 - 6));
  CHECK(p(Polynomial::hermite_he, 0.5, 3) == doctest::Approx(0.125 - 1.5));
  CHECK(p(Polynomial::laguerre_l, 0.5, 2) == doctest::Approx(0.125));
  CHECK(p(Polynomial::legendre_p, 0.5, 3) == doctest::Approx(-0.4375));
  CHECK(p(Polynomial::legendre_p, -1, 5) == -1);
  CHECK(p(Polynomial::legendre_p, 0.5, -1) == 0);
  CHECK(p(Polynomial::legendre_p, 0.5, 2.9) == doctest::Approx(-0.125));
  CHECK(p(Polynomial::legendre_p, 0.5, std::numeric_limits<double>::infinity()) == 0);  // as torch converts the degree
  CHECK(p(Polynomial::chebyshev_t, 0.5, std::numeric_limits<double>::quiet_NaN()) == 0);
  CHECK(std::isnan(polynomial(Polynomial::hermite_h, 0.5f, 129.0f, false)));
  CHECK(std::isnan(p(Polynomial::legendre_p, 1e9, 1e15)));  // ends at the overflow
}
