// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "davit/backends/portable/vector_lanes.hpp"

namespace davit::portable_kernels {

namespace detail {

/// exp of each element, to about two units in the last place; below -87 it is 0, above 88 it is meaningless.
/// Method: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2].
[[nodiscard]] inline Vector<float> exp_vector(const Vector<float>& x) noexcept {
  using Ints = Vector<std::int32_t>;
  constexpr float round = 12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  const Vector<float> shifted = x * 1.44269504f + round;
  const Vector<float> n = shifted - round;
  const Vector<float> r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  Vector<float> p = r * (1.0f / 5040) + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  Ints exponent;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  exponent = (exponent + (127 - std::bit_cast<std::int32_t>(round))) << 23;
  Vector<float> scale;
  std::memcpy(&scale, &exponent, sizeof scale);
  const Ints far = x < -87.0f;  // all bits set where true
  Ints result;
  p = p * scale;
  std::memcpy(&result, &p, sizeof result);
  result &= ~far;
  std::memcpy(&p, &result, sizeof p);
  return p;
}

}  // namespace detail

/// y[i] = exp(x[i] - shift), and their sum; `y` may be `x`. For shift >= every x[i]; NaN stays NaN. O(n).
template <class Sum = double, class T>
inline Sum exp_shifted(const T* x, T shift, T* y, std::int64_t n) noexcept {
  Sum sum = 0;
  std::int64_t i = 0;
  if constexpr (std::is_same_v<T, float> && vector_bytes >= 16) {
    constexpr std::int64_t block = 256;
    while (i + lanes<float> <= n) {
      Vector<float> partial{};
      const std::int64_t end = i + block < n ? i + block : n;
      for (; i + lanes<float> <= end; i += lanes<float>) {
        const Vector<float> e = detail::exp_vector(load_vector(x + i) - shift);
        store_vector<float>(y + i, e);
        partial += e;
      }
      sum += static_cast<Sum>(sum_of<float>(partial));
    }
  }
  for (; i < n; ++i) {
    y[i] = std::exp(x[i] - shift);
    sum += static_cast<Sum>(y[i]);
  }
  return sum;
}

}  // namespace davit::portable_kernels
