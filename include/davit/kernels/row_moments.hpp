// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "davit/kernels/vectors.hpp"

namespace davit::kernels {

/// Mean and population variance, and what normalisation multiplies with: 1 / sqrt(variance + eps).
struct Moments {
  double mean = 0;
  double variance = 0;

  [[nodiscard]] double inverse_deviation(double eps) const noexcept { return 1.0 / std::sqrt(variance + eps); }
};

namespace detail {

/// The sum of (x[i] - from) ** Power, in double with partial sums.
template <int Power, std::size_t Bytes, class C>
[[nodiscard, gnu::always_inline]] inline double sum_of_powers(const C* x, std::int64_t n, double from) noexcept {
  constexpr std::int64_t step = lanes<double, Bytes>;
  const auto add = [from](const C* elements, Vector<double, Bytes>& to) __attribute__((always_inline)) {
    using Wide = Vector<double, Bytes>;
    const Wide v = __builtin_convertvector((vector_at<Bytes * sizeof(C) / sizeof(double)>(elements)), Wide) - from;
    to += Power == 2 ? v * v : v;
  };
  Vector<double, Bytes> a{}, b{};
  std::int64_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    add(x + i, a);
    add(x + i + step, b);
  }
  double sum = sum_of<double, Bytes>(a + b);
  for (; i < n; ++i) {
    const double v = static_cast<double>(x[i]) - from;
    sum += Power == 2 ? v * v : v;
  }
  return sum;
}

}  // namespace detail

/// The moments of `parts` arrays of `n` elements that lie `step` apart, on vectors of `Bytes` bytes; mean 0
/// and variance NaN for no elements.
template <std::size_t Bytes, class C>
[[nodiscard, gnu::always_inline]] inline Moments moments_on(const C* x, std::int64_t n, std::int64_t parts, std::int64_t step) {
  const auto count = static_cast<double>(n * parts);
  double sum = 0;
  for (std::int64_t p = 0; p < parts; ++p) sum += detail::sum_of_powers<1, Bytes>(x + p * step, n, 0);
  const double mean = count == 0 ? 0 : sum / count;
  double squares = 0;
  for (std::int64_t p = 0; p < parts; ++p) squares += detail::sum_of_powers<2, Bytes>(x + p * step, n, mean);
  return {mean, squares / count};
}

/// The same on the vectors of the translation unit's target.
template <class C>
[[nodiscard]] Moments moments(const C* x, std::int64_t n) {
  return moments_on<vector_bytes>(x, n, 1, 0);
}

}  // namespace davit::kernels
