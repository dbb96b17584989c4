// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>

#include "davit/kernels/constant_math.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::kernels {

/// Mean and population variance, and what normalisation multiplies with: 1 / sqrt(variance + eps).
template <class Sum = double>
struct Moments {
  Sum mean = 0;
  Sum variance = 0;

  [[nodiscard, gnu::always_inline]] constexpr Sum inverse_deviation(Sum eps) const noexcept { return Sum{1} / sqrt(variance + eps); }
};

namespace detail {

/// The sum of (x[i] - from) ** Power, in type Sum with partial sums; in float in order where vectors are short.
template <int Power, std::size_t Bytes, class Sum, class C, class N>
[[nodiscard, gnu::always_inline]] constexpr Sum sum_of_powers(const C* x, N n, Sum from) noexcept {
  Sum sum = 0;
  N i = 0;
  if !consteval {
    if constexpr (std::is_same_v<Sum, double> || Bytes >= 16) {
      constexpr auto step = static_cast<N>(lanes<Sum, Bytes>);
      const auto add = [from](const C* elements, Vector<Sum, Bytes>& to) __attribute__((always_inline)) {
        using Wide = Vector<Sum, Bytes>;
        const Wide v = __builtin_convertvector((vector_at<Bytes * sizeof(C) / sizeof(Sum)>(elements)), Wide) - from;
        to += Power == 2 ? v * v : v;
      };
      Vector<Sum, Bytes> a{}, b{};
      for (; i + 2 * step <= n; i += 2 * step) {
        add(x + i, a);
        add(x + i + step, b);
      }
      sum = sum_of<Sum, Bytes>(a + b);
    }
  }
  for (; i < n; ++i) {
    const Sum v = static_cast<Sum>(x[i]) - from;
    sum += Power == 2 ? v * v : v;
  }
  return sum;
}

}  // namespace detail

/// The moments of `parts` arrays of `n` elements that lie `step` apart, summed in type Sum on vectors of `Bytes` bytes; mean 0
/// and variance NaN for no elements.
template <std::size_t Bytes, class Sum = double, class C, class N>
[[nodiscard, gnu::always_inline]] constexpr Moments<Sum> moments_on(const C* x, N n, N parts, N step) noexcept {
  const auto count = static_cast<Sum>(n * parts);
  Sum sum = 0;
  for (N p = 0; p < parts; ++p) sum += detail::sum_of_powers<1, Bytes, Sum>(x + p * step, n, Sum{});
  const Sum mean = count == 0 ? 0 : sum / count;
  Sum squares = 0;
  for (N p = 0; p < parts; ++p) squares += detail::sum_of_powers<2, Bytes, Sum>(x + p * step, n, mean);
  return {mean, squares / count};
}

}  // namespace davit::kernels
