// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

#include "davit/backends/portable/vector_lanes.hpp"

namespace davit::portable_kernels {

/// Mean and population variance, and what normalisation multiplies with: 1 / sqrt(variance + eps).
struct Moments {
  double mean = 0;
  double variance = 0;

  [[nodiscard]] double inverse_deviation(double eps) const noexcept { return 1.0 / std::sqrt(variance + eps); }
};

namespace detail {

/// The sum of (x[i] - from) ** Power, in double with partial sums.
template <int Power, class C>
[[nodiscard]] double sum_of_powers(const C* x, std::int64_t n, double from) noexcept {
  const auto power = [](const auto& v) {
    if constexpr (Power == 2) return v * v;
    if constexpr (Power == 1) return v;
  };
  Vector<double> a{}, b{};
  std::int64_t i = 0;
  for (; i + 2 * lanes<double> <= n; i += 2 * lanes<double>) {
    a += power(load_as_double(x + i) - from);
    b += power(load_as_double(x + i + lanes<double>) - from);
  }
  double sum = sum_of<double>(a + b);
  for (; i < n; ++i) sum += power(static_cast<double>(x[i]) - from);
  return sum;
}

}  // namespace detail

/// The moments of `parts` arrays of `n` elements that lie `step` apart; mean 0 and variance NaN for no elements.
template <class C>
[[nodiscard]] Moments moments(const C* x, std::int64_t n, std::int64_t parts = 1, std::int64_t step = 0) {
  const auto count = static_cast<double>(n * parts);
  double sum = 0;
  for (std::int64_t p = 0; p < parts; ++p) sum += detail::sum_of_powers<1>(x + p * step, n, 0);
  const double mean = count == 0 ? 0 : sum / count;
  double squares = 0;
  for (std::int64_t p = 0; p < parts; ++p) squares += detail::sum_of_powers<2>(x + p * step, n, mean);
  return {mean, squares / count};
}

}  // namespace davit::portable_kernels
