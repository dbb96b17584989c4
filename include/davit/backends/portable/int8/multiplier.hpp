// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/core/nearest_even.hpp"

namespace davit::int8_kernels {

/// A real factor as (v << shift) * multiplier / 2^32.
struct Multiplier {
  std::int32_t multiplier = 0;
  std::int32_t shift = -1;  ///< -1: the factor has no such form
};

using davit::nearest_even;

/// 2^e.
[[nodiscard]] constexpr double power_of_two(int e) noexcept {
  double v = 1;
  for (; e > 0; --e) v *= 2;
  for (; e < 0; ++e) v /= 2;
  return v;
}

/// Returns the factor with the smallest shift for a multiplier below 2^31: that multiplier has the most bits.
[[nodiscard]] constexpr Multiplier multiplier_of(double factor, std::int32_t largest_shift) noexcept {
  if (!(factor > 0)) return {};
  for (std::int32_t shift = 0; shift <= largest_shift; ++shift)
    if (const double scaled = nearest_even(factor * power_of_two(32 - shift)); scaled < 2147483648.0)
      return {static_cast<std::int32_t>(scaled), shift};
  return {};
}

/// e^x. For -700 < x < 700, to 1e-15.
[[nodiscard]] constexpr double exponential(double x) noexcept {
  const auto whole = static_cast<int>(x / 0.6931471805599453 + (x < 0 ? -0.5 : 0.5));
  const double rest = x - whole * 0.6931471805599453;
  double sum = 1;
  double term = 1;
  for (int i = 1; i < 20; ++i) {
    term *= rest / i;
    sum += term;
  }
  return sum * power_of_two(whole);
}

}  // namespace davit::int8_kernels
