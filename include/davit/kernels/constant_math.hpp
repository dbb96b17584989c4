// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <limits>

#include "davit/core/target.hpp"

/// Functions of <cmath> for float and double that also run in constant evaluation.
namespace davit::kernels {

namespace detail {

inline constexpr double ln2 = 0.693147180559945309417232121458;

[[nodiscard]] constexpr bool is_nan(double v) noexcept { return v != v; }

[[nodiscard]] constexpr double power_of_two(int n) noexcept {
  double result = 1;
  for (; n > 0; --n) result *= 2;
  for (; n < 0; ++n) result /= 2;
  return result;
}
[[nodiscard]] constexpr double constant_exp(double x) noexcept {
  if (is_nan(x)) return x;
  if (x > 710) return std::numeric_limits<double>::infinity();
  if (x < -750) return 0;
  const int n = static_cast<int>(x / ln2 + (x < 0 ? -0.5 : 0.5));
  const double r = x - n * ln2;
  double term = 1, sum = 1;
  for (int i = 1; i < 24; ++i) sum += term *= r / i;
  return sum * power_of_two(n);
}
[[nodiscard]] constexpr double constant_log(double x) noexcept {
  if (is_nan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (x == std::numeric_limits<double>::infinity()) return x;
  int n = 0;
  for (; x > 1.5; x /= 2) ++n;
  for (; x < 0.75; x *= 2) --n;
  const double q = (x - 1) / (x + 1);
  double term = q, sum = q;
  for (int i = 3; i < 60; i += 2) sum += (term *= q * q) / i;
  return 2 * sum + n * ln2;
}
[[nodiscard]] constexpr double constant_sqrt(double x) noexcept {
  if (is_nan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0 || x == std::numeric_limits<double>::infinity()) return x;
  double scale = 1;
  for (; x >= 4; x /= 4) scale *= 2;
  for (; x < 1; x *= 4) scale /= 2;
  double root = 1.5;
  for (int i = 0; i < 6; ++i) root = (root + x / root) / 2;
  return root * scale;
}
[[nodiscard]] constexpr double constant_tanh(double x) noexcept {
  if (x > 20 || x < -20) return x > 0 ? 1 : -1;
  const double e = constant_exp(2 * x);
  return (e - 1) / (e + 1);
}
[[nodiscard]] constexpr double constant_erf(double x) noexcept {
  if (is_nan(x)) return x;
  if (x > 6 || x < -6) return x > 0 ? 1 : -1;
  double term = x, sum = x;
  for (int i = 1; i < 200; ++i) sum += (term *= -x * x / i) / (2 * i + 1);
  return sum * 1.12837916709551257389615890312;
}

}  // namespace detail

template <class T>
[[nodiscard, gnu::always_inline]] constexpr T exp(T v) noexcept {
  if consteval {
    return static_cast<T>(detail::constant_exp(static_cast<double>(v)));
  } else {
    return std::exp(v);
  }
}
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T log(T v) noexcept {
  if consteval {
    return static_cast<T>(detail::constant_log(static_cast<double>(v)));
  } else {
    return std::log(v);
  }
}
/// On Arm only the instruction: std::sqrt also sets errno.
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T sqrt(T v) noexcept {
  if consteval {
    return static_cast<T>(detail::constant_sqrt(static_cast<double>(v)));
  } else {
#if DAVIT_TARGET_ARM32
    if constexpr (sizeof(T) == sizeof(float) && DAVIT_TARGET_ARM_FLOAT) {
      asm("vsqrt.f32 %0, %1" : "=t"(v) : "t"(v));
      return v;
    } else if constexpr (sizeof(T) == sizeof(double) && DAVIT_TARGET_ARM_DOUBLE) {
      asm("vsqrt.f64 %P0, %P1" : "=w"(v) : "w"(v));
      return v;
    }
#endif
    return std::sqrt(v);
  }
}
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T tanh(T v) noexcept {
  if consteval {
    return static_cast<T>(detail::constant_tanh(static_cast<double>(v)));
  } else {
    return std::tanh(v);
  }
}
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T erf(T v) noexcept {
  if consteval {
    return static_cast<T>(detail::constant_erf(static_cast<double>(v)));
  } else {
    return std::erf(v);
  }
}

}  // namespace davit::kernels
