// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "davit/kernels/special_functions.hpp"

/// The zeta function of Hurwitz, polygamma, and the incomplete gamma functions. Source: ATen's Math.h for the values at
/// zeros, infinities and numbers outside the domain.
namespace davit::kernels::detail {

/// The sum of (q + k)^-x over k >= 0, for x > 1: the first terms up to 9, then the Euler-Maclaurin formula.
[[nodiscard]] inline double zeta_sum(double x, double q) noexcept {
  constexpr double tiny = 1e-17;
  double sum = std::pow(q, -x), at = q, term = 0;
  for (int i = 0; i < 9 || at <= 9; ++i) {
    at += 1;
    sum += term = std::pow(at, -x);
    if (std::fabs(term) < tiny * std::fabs(sum)) return sum;
  }
  sum += term * at / (x - 1) - term / 2;
  // B_2k / (2 k)!
  constexpr double coefficients[] = {1.0 / 12,
                                     -1.0 / 720,
                                     1.0 / 30240,
                                     -1.0 / 1209600,
                                     1.0 / 47900160,
                                     -5.284190138687493e-10,
                                     1.3382536530684679e-11,
                                     -3.389680296322583e-13,
                                     8.586062056277845e-15,
                                     -2.174868698558062e-16};
  double factor = 1, k = 0;
  for (const double c : coefficients) {
    factor *= x + k;
    term /= at;
    const double part = factor * term * c;
    sum += part;
    if (std::fabs(part) < tiny * std::fabs(sum)) break;
    factor *= x + k + 1;
    term /= at;
    k += 2;
  }
  return sum;
}
/// zeta(x, q). For q < 0, where x must be whole, terms below 0 are added one by one or, if they are many, by two sums
/// over positive numbers. O(min(-q, 10000)).
[[nodiscard]] inline double hurwitz_zeta(double x, double q) noexcept {
  if (x == 1) return std::numeric_limits<double>::infinity();
  if (x < 1) return std::numeric_limits<double>::quiet_NaN();
  const double floor = std::floor(q);
  if (q <= 0 && q == floor) return std::numeric_limits<double>::infinity();
  if (q <= 0 && x != std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
  if (!(q < -1e4)) return zeta_sum(x, q);
  const double below = zeta_sum(x, floor + 1 - q) - zeta_sum(x, 1 - q);
  return zeta_sum(x, q - floor) + (std::fmod(x, 2) == 0 ? below : -below);
}
/// The n-th derivative of digamma.
template <class T>
[[nodiscard]] T polygamma(std::int64_t n, T x) noexcept {
  const auto wide = static_cast<double>(x);
  if (n == 0) return static_cast<T>(digamma(wide));
  if (n == 1) {
    if (std::isinf(x) && x > 0) return 0;
    if (!(x < T{0.5})) return static_cast<T>(hurwitz_zeta(2, wide));
    const auto sine =
        static_cast<double>(std::sin(static_cast<T>(pi) * x));  // not quite 0 at whole numbers, as in torch
    return static_cast<T>(pi * pi / (sine * sine) - hurwitz_zeta(2, 1 - wide));
  }
  const auto order = static_cast<double>(n);
  const T factor = static_cast<T>(std::exp(log_gamma(order + 1)));
  return (n % 2 == 0 ? -factor : factor) * static_cast<T>(hurwitz_zeta(order + 1, wide));
}

/// x^a exp(-x) / Gamma(a + 1).
[[nodiscard]] inline double gamma_density(double a, double x) noexcept {
  if (a < 10) return std::exp(a * std::log(x) - x - log_gamma(a + 1));
  const double d = (x - a) / a, r = 1 / (a * a);
  return std::exp(a * (std::log1p(d) - d) - (1.0 / 12 - r * (1.0 / 360 - r / 1260)) / a) / std::sqrt(2 * pi * a);
}
/// P(a, x), or Q(a, x) if `upper`, for a large a, by Temme's uniform expansion without two of its terms: 1e-13 at 1e6.
[[nodiscard]] inline double large_incomplete_gamma(double a, double x, bool upper) noexcept {
  const double d = (x - a) / a, half_square = d - std::log1p(d);
  const double eta = std::copysign(std::sqrt(2 * std::fmax(half_square, 0.0)), d);
  const double c =
      std::fabs(eta) < 1e-2 ? -1.0 / 3 + eta * (1.0 / 12 - eta * (2.0 / 135 - eta / 864)) : 1 / d - 1 / eta;
  const double rest = std::exp(-a * half_square) / std::sqrt(2 * pi * a) * c;
  const double tail = eta * std::sqrt(a / 2);
  return upper ? 0.5 * std::erfc(tail) + rest : 0.5 * std::erfc(-tail) - rest;
}
/// P(a, x) by its power series. O(sqrt(a)) terms at most.
[[nodiscard]] inline double lower_gamma_series(double a, double x) noexcept {
  double sum = 1, term = 1;
  for (double n = 1; term > 1e-17 * sum; ++n) sum += term *= x / (a + n);
  return sum * gamma_density(a, x);
}
/// Q(a, x) by its continued fraction, x > a, evaluated forwards. Source: W. J. Lentz's method.
[[nodiscard]] inline double upper_gamma_fraction(double a, double x) noexcept {
  double b = x + 1 - a, c = b, d = 0, value = b;
  for (double n = 1; n < 1e5; ++n) {
    const double numerator = n * (a - n);
    b += 2;
    d = 1 / (b + numerator * d);
    c = b + numerator / c;
    value *= c * d;
    if (!(std::fabs(c * d - 1) > 1e-16)) break;
  }
  return gamma_density(a, x) * a / value;
}
/// Q(a, x), x <= 1.1, without the cancellation of 1 - P for small a.
[[nodiscard]] inline double upper_gamma_series(double a, double x) noexcept {
  const double log = a * std::log(x) - log_gamma(a + 1);
  double sum = 0, term = 1;
  for (double n = 1; n < 30; ++n) {
    term *= -x / n;
    sum += term / (a + n);
  }
  return -std::expm1(log) - std::exp(log) * a * sum;
}
/// P(a, x), the regularized lower incomplete gamma function, or Q(a, x) = 1 - P(a, x) if `upper`.
[[nodiscard]] inline double incomplete_gamma(double a, double x, bool upper) noexcept {
  const double nan = std::numeric_limits<double>::quiet_NaN(), nothing = upper ? 1 : 0;
  if (x < 0 || a < 0) return nan;
  if (a == 0) return x > 0 ? 1 - nothing : nan;
  if (x == 0) return nothing;
  if (std::isinf(a)) return std::isinf(x) ? nan : nothing;
  if (std::isinf(x)) return 1 - nothing;
  if (std::isnan(a) || std::isnan(x)) return nan;
  if (a > 1e6) return large_incomplete_gamma(a, x, upper);
  if (x > 1 && x > a) {
    const double q = upper_gamma_fraction(a, x);
    return upper ? q : 1 - q;
  }
  if (upper && x <= 1.1) return upper_gamma_series(a, x);
  const double p = lower_gamma_series(a, x);
  return upper ? 1 - p : p;
}

}  // namespace davit::kernels::detail
