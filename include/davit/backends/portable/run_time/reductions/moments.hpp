// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/row_moments.hpp"

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

/// `moments_on` for the widest vectors.
struct MomentsOf {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static kernels::Moments<> run(const C* x, std::int64_t n, std::int64_t parts,
                                                       std::int64_t step) {
    return kernels::moments_on<Bytes>(x, n, parts, step);
  }
};
template <class C>
[[nodiscard]] kernels::Moments<> widest_moments(const C* x, std::int64_t n, std::int64_t parts = 1,
                                                std::int64_t step = 0) {
  return kernels::run_widest_for<C, MomentsOf>(x, n, parts, step);
}

/// y[i] = factors[i] * x[i] + shifts[i]. O(n).
struct ScaleAndShiftEach {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const C* factors, const C* shifts, const C* x, C* y, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + kernels::lanes<C, Bytes> <= n; i += kernels::lanes<C, Bytes>)
      kernels::vector_at<Bytes>(y + i) = kernels::vector_at<Bytes>(x + i) * kernels::vector_at<Bytes>(factors + i) +
                                         kernels::vector_at<Bytes>(shifts + i);
    for (; i < n; ++i) y[i] = factors[i] * x[i] + shifts[i];
  }
};

}  // namespace detail

/// The dtype of saved means and deviations: that of the float32 parameters of a 16-bit input, else the input's.
/// Source: is_mixed_type and param_scalar_type of ATen's mixed_data_type.h.
[[nodiscard]] constexpr ScalarType statistics_dtype(ScalarType input, std::initializer_list<const EValue*> parameters) {
  if (input != ScalarType::float16 && input != ScalarType::bfloat16) return input;
  for (const EValue* p : parameters)
    if (p->is_tensor() && p->tensor().dtype == ScalarType::float32) return ScalarType::float32;
  return input;
}

/// Checks that each given parameter has the statistics' dtype and `count` elements.
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
