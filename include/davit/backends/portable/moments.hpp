// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "davit/backends/portable/dispatch.hpp"
#include "davit/backends/portable/kernel_call.hpp"
#include "davit/backends/portable/staging.hpp"
#include "davit/backends/portable/vector_lanes.hpp"

namespace davit::portable_kernels {

namespace detail {

/// The sum of f(i) for i in [0, n), in double with four partial sums.
template <class F>
[[nodiscard]] double sum_over(std::int64_t n, F&& f) {
  double a = 0, b = 0, c = 0, d = 0;
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    a += f(i);
    b += f(i + 1);
    c += f(i + 2);
    d += f(i + 3);
  }
  for (; i < n; ++i) a += f(i);
  return (a + b) + (c + d);
}

}  // namespace detail

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

/// The dtype of saved means and deviations: that of the float32 parameters of a 16-bit input, else the input's.
/// Source: is_mixed_type and param_scalar_type of ATen's mixed_data_type.h.
[[nodiscard]] constexpr ScalarType statistics_dtype(ScalarType input, std::initializer_list<const EValue*> parameters) {
  if (input != ScalarType::float16 && input != ScalarType::bfloat16) return input;
  for (const EValue* p : parameters)
    if (p->is_tensor() && p->tensor().dtype == ScalarType::float32) return ScalarType::float32;
  return input;
}

/// Checks that each parameter that is given has the statistics' dtype and `count` elements.
[[nodiscard]] inline ErrorCode check_norm_parameters(KernelCall& call, ScalarType dtype, std::int64_t count,
                                                     std::initializer_list<const EValue*> parameters) {
  for (const EValue* p : parameters) {
    if (!p->is_tensor()) continue;
    if (p->tensor().dtype != dtype)
      return call.refuse(ErrorCode::invalid_dtype, "normalisation: the parameters' dtypes do not fit the input");
    if (checked_numel(p->tensor()) != count)
      return call.refuse(ErrorCode::invalid_shape, "normalisation: a parameter has the wrong number of elements");
  }
  return ErrorCode::ok;
}

}  // namespace davit::portable_kernels
