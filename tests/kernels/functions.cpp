// SPDX-License-Identifier: MIT
#include "davit/kernels/functions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "davit/kernels/elementwise.hpp"

using namespace davit;
using namespace davit::kernels;

namespace {

/// Compares a functor's loop on vectors with the functor itself, for every remainder of elements.
template <template <class> class F>
void check_loop(Parameters parameters = {}) {
  static_assert(kernels::detail::takes_vectors<F<float>, 1>);
  constexpr float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> some{
      inf,  -inf, std::numeric_limits<float>::quiet_NaN(), 0, -0.0f, 1, -1, 2.5f, -2.9f, 3, 6, 100, -100, 1e-30f,
      0.7f, -7};
  for (std::size_t n = 1; n < 40; ++n) {
    std::vector<float> x(n), y(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = some[(i + n) % some.size()];
    const void* in = x.data();
    float_loops<F, 1>.float32(&in, y.data(), static_cast<std::int64_t>(n), parameters);
    for (std::size_t i = 0; i < n; ++i) {
      const float expected = [&] {
        if constexpr (std::is_constructible_v<F<float>, Parameters&>)
          return F<float>(parameters)(x[i]);
        else
          return F<float>{}(x[i]);
      }();
      CAPTURE(x[i]);
      CHECK((std::isnan(expected) ? std::isnan(y[i])
                                  : y[i] == expected || std::fabs(y[i] - expected) <= 1e-6f * std::fabs(expected)));
      CHECK((expected != 0 || std::signbit(y[i]) == std::signbit(expected)));
    }
  }
}

}  // namespace

TEST_CASE("loops on vectors equal their functors") {
  check_loop<Negate>();
  check_loop<Relu>();
  check_loop<Square>();
  check_loop<Hardsigmoid>();
  check_loop<Hardswish>();
  check_loop<Hardtanh>({.reals = {-1, 2}});
  check_loop<Hardtanh>({.reals = {std::numeric_limits<double>::quiet_NaN(), 2}});
  check_loop<Hardtanh>({.reals = {-1, std::numeric_limits<double>::quiet_NaN()}});
  check_loop<LeakyRelu>({.reals = {0.1}});
  check_loop<Sqrt>();
  check_loop<Rsqrt>();
  check_loop<Ceil>();
  check_loop<Floor>();
  check_loop<Round>();
  check_loop<Trunc>();
  check_loop<Sign>();
  check_loop<Sin>();
  check_loop<Cos>();
  check_loop<Log>();
  check_loop<Log1p>();
  check_loop<Mish>();
}
TEST_CASE("functions of integers") {
  CHECK(Absolute<std::int64_t>{}(INT64_MIN) == INT64_MIN);
  CHECK(Negate<std::int64_t>{}(5) == -5);
  CHECK(Sign<std::int64_t>{}(-9) == -1);
  Parameters truth{.integers = {1}};
  Parameters bits{.integers = {-1}};
  CHECK(BitNot<std::int64_t>(truth)(1) == 0);
  CHECK(BitNot<std::int64_t>(bits)(5) == ~5);
}
TEST_CASE("functions of floats: NaN, infinities and halves") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(Sign<double>{}(nan) == 0);
  CHECK(std::isnan(Relu<double>{}(nan)));
  CHECK(Round<float>{}(2.5f) == 2);
  CHECK(IsInf<double>{}(-inf));
  CHECK_FALSE(IsInf<std::int64_t>{}(INT64_MAX));
  CHECK(LogicalNot<double>{}(-0.0));
  CHECK(Log1p<float>{}(2e38f) == std::numeric_limits<float>::infinity());
  CHECK(Sigmoid<double>{}(0) == 0.5);
}
TEST_CASE("functions with parameters") {
  Parameters p{.reals = {-1, 2}, .integers = {-1, 2}};
  CHECK(Hardtanh<float>(p)(-3) == -1);
  CHECK(Hardtanh<std::int64_t>(p)(3) == 2);
  Parameters slope{.reals = {0.5}};
  CHECK(LeakyRelu<float>(slope)(-2) == -1);
  Parameters dense{.integers = {1}};
  Parameters other;
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(std::isnan(Gelu<float>(dense)(inf)));
  CHECK(Gelu<float>(other)(inf) == inf);
}
