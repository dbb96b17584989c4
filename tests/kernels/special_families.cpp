// SPDX-License-Identifier: MIT
#include "davit/kernels/special_families.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

using namespace davit::kernels;

TEST_CASE("one functor computes the special functions of a number, another those of two") {
  const auto one = [](Special which, double x, std::int64_t order = 0) {
    Parameters p{.integers = {static_cast<std::int64_t>(which), order}};
    return SpecialFunction<double>(p)(x);
  };
  CHECK(one(Special::i0e, 0) == 1);
  CHECK(one(Special::i1, 1) == doctest::Approx(0.5651591039924851));
  CHECK(one(Special::i1e, -1) == doctest::Approx(-0.2079104153497085));
  CHECK(one(Special::bessel_y1, 1) == doctest::Approx(-0.7812128213002887));
  CHECK(one(Special::scaled_k1, 1) == doctest::Approx(0.6019072301972346 * std::exp(1.0)));
  CHECK(one(Special::polygamma, 4, 2) == doctest::Approx(-0.08003973224511449));
  const auto two = [](SpecialPair which, double a, double b, std::int64_t kind = 0, std::int64_t shifted = 0) {
    Parameters p{.integers = {static_cast<std::int64_t>(which), kind, shifted}};
    return SpecialPairFunction<double>(p)(a, b);
  };
  CHECK(two(SpecialPair::zeta, 2, 1) == doctest::Approx(1.6449340668482264));
  CHECK(two(SpecialPair::igammac, 3, 2) == doctest::Approx(0.6766764161830635));
  CHECK(two(SpecialPair::polynomial, 0.65, 2, 0, 1) == doctest::Approx(2 * 0.09 - 1));
}

TEST_CASE("the next number of a 16-bit float is a step of its last bit") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto next = [](double a, double b, bool bfloat) { return detail::next_half(a, b, bfloat); };
  CHECK(next(1, 2, false) == 1 + 0x1p-10);
  CHECK(next(1, 0, false) == 1 - 0x1p-11);
  CHECK(next(-1, -2, true) == -1 - 0x1p-7);
  CHECK(next(-1, inf, true) == -1 + 0x1p-8);
  CHECK(next(0, -1, false) == -0x1p-24);
  CHECK(next(0x1p-24, -1, false) == 0);
  CHECK(next(-0.0, 1, true) == 0x1p-133);
  CHECK(next(65504, inf, false) == inf);
  CHECK(next(inf, 0, false) == 65504);
  CHECK(next(-inf, 0, true) == -0x1.fep127);
  CHECK(next(0x1p-14, 0, false) == 0x1p-14 - 0x1p-24);
  CHECK(std::signbit(next(-0x1p-24, 1, false)));
  CHECK(std::isnan(next(std::numeric_limits<double>::quiet_NaN(), 1, true)));
}
