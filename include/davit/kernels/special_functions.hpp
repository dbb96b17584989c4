// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <initializer_list>
#include <limits>

#include "davit/kernels/bessel_functions.hpp"

/// Functors of the special functions of torch.special, computed in double.
namespace davit::kernels {

namespace detail {

inline constexpr double pi = 3.14159265358979323846;

/// Newton's method from an approximation. Source: M. Giles, Approximating the erfinv function.
[[nodiscard]] inline double inverse_erf(double y) noexcept {
  if (!(std::fabs(y) < 1))
    return std::fabs(y) == 1 ? y * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  const double w = -std::log((1 - y) * (1 + y));
  double x = 0;
  if (w < 5) {
    for (const double c : {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                           -0.00125372503, -0.00417768164, 0.246640727, 1.50140941})
      x = x * (w - 2.5) + c;
  } else {
    for (const double c : {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
                           0.00943887047, 1.00167406, 2.83297682})
      x = x * (std::sqrt(w) - 3) + c;
  }
  x *= y;
  for (int i = 0; i < 2; ++i) {
    const double left = y < 0 ? std::erfc(-x) - (1 + y) : (1 - y) - std::erfc(x);  // erf(x) - y without cancellation
    x -= left / (2 / std::sqrt(pi) * std::exp(-x * x));
  }
  return x;
}
/// The p-quantile of the normal distribution: from its asymptotic form or the inverse error function, then Halley's
/// method on erfc, whose relative error is small for every p.
[[nodiscard]] inline double normal_quantile(double p) noexcept {
  if (!(p > 0 && p < 1))
    return p == 0 || p == 1 ? (p - 0.5) * std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::quiet_NaN();
  if (p > 0.5) return -normal_quantile(1 - p);
  const double root = std::sqrt(-2 * std::log(p));
  double x = p < 1e-4 ? std::log(root * std::sqrt(2 * pi)) / root - root : inverse_erf(2 * p - 1) * std::sqrt(2.0);
  for (int i = 0; i < 3; ++i) {
    const double excess = (0.5 * std::erfc(-x / std::sqrt(2.0)) - p) / (std::exp(-0.5 * x * x) / std::sqrt(2 * pi));
    if (std::isfinite(excess)) x -= excess / (1 + 0.5 * x * excess);
  }
  return x;
}
/// By the recurrence up to 10 and the asymptotic series; below 0 by reflection with the fraction of x, which is exact.
/// Source: calc_digamma of ATen.
[[nodiscard]] inline double digamma(double x) noexcept {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0)
    return x == std::floor(x) ? std::numeric_limits<double>::quiet_NaN()
                              : digamma(1 - x) - pi / std::tan(pi * (x - std::trunc(x)));
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  const double r = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}
/// std::lgamma without glibc's write to a variable that all threads share.
[[nodiscard]] inline double log_gamma(double x) noexcept {
#if defined(__GLIBC__)
  int sign = 0;
  return ::lgamma_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}
/// exp(x^2) erfc(x).
[[nodiscard]] inline double scaled_erfc(double x) noexcept {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double r = 1 / (x * x);
  return (1 - r * (0.5 - r * (0.75 - r * 1.875))) / (x * std::sqrt(pi));
}

}  // namespace detail

template <class T>
struct Erfc {
  T operator()(T v) const noexcept { return std::erfc(v); }
};
template <class T>
struct InverseErf {
  T operator()(T v) const noexcept { return static_cast<T>(detail::inverse_erf(static_cast<double>(v))); }
};
template <class T>
struct ScaledErfc {
  T operator()(T v) const noexcept { return static_cast<T>(detail::scaled_erfc(static_cast<double>(v))); }
};
template <class T>
struct LogGamma {
  T operator()(T v) const noexcept { return static_cast<T>(detail::log_gamma(static_cast<double>(v))); }
};
template <class T>
struct Digamma {
  T operator()(T v) const noexcept { return static_cast<T>(detail::digamma(static_cast<double>(v))); }
};
template <class T>
struct NormalQuantile {
  T operator()(T v) const noexcept { return static_cast<T>(detail::normal_quantile(static_cast<double>(v))); }
};
template <class T>
struct BesselI0 {
  T operator()(T v) const noexcept { return detail::bessel_i(0, v); }
};

}  // namespace davit::kernels
