// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/windows/pool_window.hpp"
#include "davit/program/operators/pooling.hpp"

namespace davit::portable_kernels {

namespace detail {

[[nodiscard]] inline ErrorCode run_adaptive_avg_pool(KernelCall& call, const operators::AdaptivePoolOperator& op) {
  const TensorView& input = call.tensor(0);
  PoolWindow w;
  if (const ErrorCode code = read_adaptive_pool(call, op, true, w); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, input.dtype, w.out_sizes(input)); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() {
    return pool_planes<C>(call, w, adaptive_span, [&](const C* plane, std::int64_t, const Box& box) {
      C sum = sum_box(plane, w.in, box);
      for (std::size_t d = 0; d < 3; ++d)
        sum /= static_cast<C>(box.end[d] - box.begin[d]);  // one division after the other, as in ATen
      return sum;
    });
  });
}

/// True for operators that lowering keeps: adaptive_avg_pool3d becomes _adaptive_avg_pool3d.
[[nodiscard]] constexpr bool is_primitive(const operators::AdaptivePoolOperator& op) noexcept {
  return std::string_view(op.target) != "aten.adaptive_avg_pool3d.default";
}

}  // namespace detail

/// The gradient of adaptive_avg_pool2d's input. Source: at::_adaptive_avg_pool2d_backward.
[[nodiscard]] inline ErrorCode adaptive_avg_pool2d_backward(KernelCall& call) {
  const TensorView& grad = call.tensor(0);
  const TensorView& input = call.tensor(1);
  PoolWindow w;
  if (grad.rank != input.rank || (grad.rank != 3 && grad.rank != 4))
    return call.refuse(ErrorCode::invalid_shape, "adaptive_avg_pool2d backward: the operands' ranks differ");
  if (const ErrorCode code = read_planes(call, input, 2, 1, w); code != ErrorCode::ok) return code;
  w.out = {1, grad.size(grad.rank - 2u), grad.size(grad.rank - 1u)};
  if (!std::ranges::equal(grad.sizes(), w.out_sizes(input).span()) || volume(w.out) == 0)
    return call.refuse(ErrorCode::invalid_shape, "adaptive_avg_pool2d backward: grad_output does not fit the input");
  if (grad.dtype != input.dtype)
    return call.refuse(ErrorCode::invalid_dtype, "adaptive_avg_pool2d backward: the operands must have the same dtype");
  if (const ErrorCode code = call.make_like(0, input); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() {
    return spread_over_planes<C>(call, w, adaptive_span,
                                 [](C of_one, const Box& box) { return of_one / static_cast<C>(box.count()); });
  });
}

/// Adaptive averages: (self (N?, C, spatial), output_size), and the gradient. Source: at::adaptive_avg_pool1d, 2d and
/// 3d.
inline constexpr auto adaptive_avg_pool_ops =
    joined_rows(rows_of<operators::adaptive_pool_operators, detail::run_adaptive_avg_pool, detail::is_primitive>(),
                std::to_array<OpRow>({{"aten._adaptive_avg_pool2d_backward.default", adaptive_avg_pool2d_backward}}));

}  // namespace davit::portable_kernels
