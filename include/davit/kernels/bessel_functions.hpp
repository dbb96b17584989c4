// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

/// Bessel functions of orders 0 and 1, and Airy's Ai. For oscillating functions, the phase behind the series is rounded
/// to T as in PyTorch's kernels: at 1e6 a float32 phase is off by 0.03, and so are the values. Source: ATen's Math.h
/// for the values at zeros, infinities and negative numbers.
namespace davit::kernels::detail {

inline constexpr double euler_gamma = 0.57721566490153286061;
inline constexpr double quarter_pi = 0.78539816339744830962;

/// exp(-|x|) I_n(x), n 0 or 1: the power series, with positive terms, up to 30; Hankel's series above.
[[nodiscard]] inline double scaled_bessel_i(int n, double x) noexcept {
  const double a = std::fabs(x);
  double sum = 1, term = 1;
  if (a > 30) {
    for (double k = 1; k < 2 * a && std::fabs(term) > 1e-17 * sum; ++k) {
      term *= ((2 * k - 1) * (2 * k - 1) - 4 * n) / (8 * a * k);
      sum += term;
    }
    sum /= std::sqrt(8 * quarter_pi * a);
  } else {
    for (double k = 1; term > 1e-17 * sum; ++k) sum += term *= a * a / (4 * k * (k + n));
    sum *= std::exp(-a) * (n == 0 ? 1 : a / 2);
  }
  return n == 1 && x < 0 ? -sum : sum;
}
/// I_n(x); infinite if exp(|x|) overflows T.
template <class T>
[[nodiscard]] T bessel_i(int n, T x) noexcept {
  return std::exp(std::fabs(x)) * static_cast<T>(scaled_bessel_i(n, static_cast<double>(x)));
}

/// exp(x) K_v(x), 0 <= v <= 1, x > 0, by the trapezoidal rule on the integral of exp(-x (cosh(t) - 1)) cosh(v t): its
/// error falls exponentially with the number of steps; about 13 to 60 matter for x >= 1.
[[nodiscard]] inline double scaled_bessel_k(double v, double x) noexcept {
  const double h = x < 32 ? 0.125 : 0.7 / std::sqrt(x);
  double sum = 0.5;
  for (double t = h;; t += h) {
    const double s = std::sinh(t / 2), term = std::exp(-2 * x * s * s) * std::cosh(v * t);
    sum += term;
    if (!(term > 1e-17 * sum)) return sum * h;
  }
}
/// K_n(x), n 0 or 1, for 0 < x <= 1, by the series of its logarithmic part.
[[nodiscard]] inline double small_bessel_k(int n, double x) noexcept {
  const double log = std::log(x / 2), q = x * x / 4;
  double term = n == 0 ? 1 : x / 2,
         psi = n == 0 ? -2 * euler_gamma : 1 - 2 * euler_gamma;  // psi(k + 1) + psi(k + n + 1)
  double sum = n == 0 ? 0 : 1 / x;
  for (double k = 0; k < 14; ++k) {
    sum += (n == 0 ? -1 : 1) * term * (log - psi / 2);
    term *= q / ((k + 1) * (k + 1 + n));
    psi += 1 / (k + 1) + 1 / (k + 1 + n);
  }
  return sum;
}
/// K_n(x), or exp(x) K_n(x) if `scaled`.
template <class T>
[[nodiscard]] T bessel_k(int n, T x, bool scaled) noexcept {
  if (!(x > 0)) return x == 0 ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
  if (std::isinf(x)) return 0;
  const auto wide = static_cast<double>(x);
  if (wide > 1) return static_cast<T>(scaled_bessel_k(n, wide) * (scaled ? 1 : std::exp(-wide)));
  return static_cast<T>(small_bessel_k(n, wide) * (scaled ? std::exp(wide) : 1));
}

/// The sums P and Q of Hankel's series, where J_n is sqrt(2 / (pi x)) (P cos(phase) - Q sin(phase)).
[[nodiscard]] inline std::array<double, 2> hankel_sums(int n, double x) noexcept {
  std::array<double, 2> sums{1, 0};
  double term = 1;
  for (int k = 1; k < 40 && std::fabs(term) > 1e-17; ++k) {
    term *= (4.0 * n - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * x);
    sums[static_cast<std::size_t>(k % 2)] += k % 4 < 2 ? term : -term;
  }
  return sums;
}
/// J_n(x) and Y_n(x), n 0 or 1, for 0 < x < 25: their power series up to 5; above, Miller's backward recurrence for J
/// and Neumann's series in J for Y.
[[nodiscard]] inline std::array<double, 2> small_bessel_jy(int n, double x) noexcept {
  const double log = std::log(x / 2) + euler_gamma, q = x * x / 4, two_over_pi = 0.5 / quarter_pi;
  if (x <= 5) {
    double term = n == 0 ? 1 : x / 2, j = 0, rest = 0, harmonic = n == 0 ? 0 : 1;  // H_k + H_{k + n}
    for (double k = 0; k < 30; ++k) {
      j += term;
      rest += term * harmonic;
      term *= -q / ((k + 1) * (k + 1 + n));
      harmonic += 1 / (k + 1) + 1 / (k + 1 + n);
    }
    return {j, two_over_pi * (log * j - rest / 2 - (n == 0 ? 0 : 1 / x))};
  }
  std::array<double, 72> f{};
  int k = static_cast<int>(x) / 2 * 2 + 40;
  f[static_cast<std::size_t>(k)] = 1e-90;
  for (; k > 0; --k)
    f[static_cast<std::size_t>(k) - 1] =
        2 * k / x * f[static_cast<std::size_t>(k)] - f[static_cast<std::size_t>(k) + 1];
  double one = f[0], y = 0, slope = 0;
  for (std::size_t m = 2; m + 1 < f.size(); m += 2) {
    const double weight = (m % 4 == 0 ? 2.0 : -2.0) / static_cast<double>(m);
    one += 2 * f[m];
    y += weight * f[m];
    slope += weight * (f[m - 1] - f[m + 1]) / 2;
  }
  if (n == 0) return {f[0] / one, two_over_pi * (log * f[0] - 2 * y) / one};
  return {f[1] / one, two_over_pi * (log * f[1] - f[0] / x + 2 * slope) / one};  // -Y0'
}
/// J_n(x).
template <class T>
[[nodiscard]] T bessel_j(int n, T x) noexcept {
  const T a = std::fabs(x);
  const auto wide = static_cast<double>(a);
  double j = n == 0 ? 1 : 0;
  if (wide < 25 && wide > 0) {
    j = small_bessel_jy(n, wide)[0];
  } else if (wide != 0) {
    const auto phase = static_cast<double>(a - static_cast<T>((2 * n + 1) * quarter_pi));
    const auto [p, q] = hankel_sums(n, wide);
    j = (p * std::cos(phase) - q * std::sin(phase)) * std::sqrt(0.5 / quarter_pi / wide);
  }
  return static_cast<T>(n == 1 && x < 0 ? -j : j);
}
/// Y_n(x).
template <class T>
[[nodiscard]] T bessel_y(int n, T x) noexcept {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
  const auto wide = static_cast<double>(x);
  if (wide < 25) return static_cast<T>(small_bessel_jy(n, wide)[1]);
  const auto phase = static_cast<double>(x - static_cast<T>((2 * n + 1) * quarter_pi));
  const auto [p, q] = hankel_sums(n, wide);
  return static_cast<T>((p * std::sin(phase) + q * std::cos(phase)) * std::sqrt(0.5 / quarter_pi / wide));
}
/// sin(x) / x.
template <class T>
[[nodiscard]] T spherical_bessel_j0(T x) noexcept {
  if (std::isinf(x)) return 0;
  return x == 0 ? T{1} : std::sin(x) / x;
}

/// Ai(x) for -9 < x <= 1: the Taylor series of y'' = x y, from 0 in steps of at most 1.
[[nodiscard]] inline double small_airy(double x) noexcept {
  double at = 0, y = 0.35502805388781723926, slope = -0.25881940379280679841;
  while (at != x) {
    const double h = std::fmax(x - at, -1.0);
    double before = 0, a = y, b = slope, power = 1, next_y = 0, next_slope = 0;  // coefficients k - 1, k and k + 1
    for (double k = 0; k < 30; ++k) {
      next_y += a * power;
      next_slope += (k + 1) * b * power;
      power *= h;
      const double c = (at * a + before) / ((k + 2) * (k + 1));
      before = a;
      a = b;
      b = c;
    }
    y = next_y;
    slope = next_slope;
    at = x - at < -1 ? at - 1 : x;
  }
  return y;
}
/// Ai(x): by its own series, by K of order 1/3 for large x, by the asymptotic series where it oscillates.
template <class T>
[[nodiscard]] T airy_ai(T x) noexcept {
  if (std::isnan(x) || std::isinf(x)) return std::numeric_limits<T>::quiet_NaN();
  const auto wide = static_cast<double>(x);
  if (wide > 103.892) return 0;
  if (wide > 1) {
    const double zeta = 2 * wide * std::sqrt(wide) / 3;
    return static_cast<T>(scaled_bessel_k(1.0 / 3, zeta) * std::exp(-zeta) * std::sqrt(wide / 3) / (4 * quarter_pi));
  }
  if (wide > -9) return static_cast<T>(small_airy(wide));
  const T root = std::sqrt(-x);
  const auto zeta = static_cast<double>(T{-2} * x * root / T{3});
  double sums[2] = {1, 0}, term = 1;
  for (int k = 1; k < 30 && std::fabs(term) > 1e-17; ++k) {
    term *= (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / (216.0 * k * (2.0 * k - 1) * zeta);
    sums[k % 2] += k % 4 < 2 ? term : -term;
  }
  const auto phase = static_cast<double>(static_cast<T>(zeta) + static_cast<T>(quarter_pi));
  return static_cast<T>((std::sin(phase) * sums[0] - std::cos(phase) * sums[1]) /
                        std::sqrt(4 * quarter_pi * static_cast<double>(root)));
}

}  // namespace davit::kernels::detail
