// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/pool_window.hpp"

namespace davit::portable_kernels {

namespace detail {

template <class C>
[[nodiscard]] ErrorCode compute_adaptive_avg_pool(KernelCall& call, const PoolWindow& w) {
  ComputeBuffers<C> buffers(call);
  const auto input = buffers.read(call.tensor(0));
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  for (std::int64_t p = 0; p < w.planes; ++p) {
    const C* plane = buffers.in(input) + p * volume(w.in);
    C* out = buffers.out(out_id) + p * volume(w.out);
    for_each_window(w, adaptive_span, [&](std::int64_t i, const Box& box) {
      out[i] = static_cast<C>(sum_box<double>(plane, w.in, box) / static_cast<double>(box.count()));
    });
  }
  return buffers.finish();
}

template <class C>
[[nodiscard]] ErrorCode compute_adaptive_avg_pool_backward(KernelCall& call, const PoolWindow& w) {
  ComputeBuffers<C> buffers(call);
  const auto grad_id = buffers.read(call.tensor(0));
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  std::fill_n(buffers.out(out_id), w.planes * volume(w.in), C{});
  for (std::int64_t p = 0; p < w.planes; ++p) {
    const C* grad = buffers.in(grad_id) + p * volume(w.out);
    C* plane = buffers.out(out_id) + p * volume(w.in);
    for_each_window(w, adaptive_span, [&](std::int64_t i, const Box& box) {
      add_to_box(plane, w.in, box, grad[i] / static_cast<C>(box.count()));
    });
  }
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode run_adaptive_avg_pool(KernelCall& call, const operators::AdaptivePoolOperator& op) {
  const TensorView& input = call.tensor(0);
  operators::AdaptivePoolView view;
  if (const operators::Refusal wrong = operators::read_adaptive_pool(KernelArguments(call), op, view))
    return call.refuse(wrong.code, wrong.what);
  PoolWindow w;
  w.out = view.out;
  if (const ErrorCode code = read_planes(call, input, view.dims, 1, w); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, input.dtype, w.out_sizes(input)); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() { return compute_adaptive_avg_pool<C>(call, w); });
}

}  // namespace detail

/// adaptive_avg_pool1d(self (N?, C, L), output_size). Source: at::adaptive_avg_pool1d.
[[nodiscard]] inline ErrorCode adaptive_avg_pool1d(KernelCall& call) {
  return detail::run_adaptive_avg_pool(
      call, operators::row_of(operators::adaptive_pool_operators, "aten.adaptive_avg_pool1d.default"));
}

/// adaptive_avg_pool2d(self (N?, C, H, W), output_size). Source: at::adaptive_avg_pool2d.
[[nodiscard]] inline ErrorCode adaptive_avg_pool2d(KernelCall& call) {
  return detail::run_adaptive_avg_pool(
      call, operators::row_of(operators::adaptive_pool_operators, "aten.adaptive_avg_pool2d.default"));
}

/// adaptive_avg_pool3d(self (N?, C, D, H, W), output_size). Source: at::adaptive_avg_pool3d.
[[nodiscard]] inline ErrorCode adaptive_avg_pool3d(KernelCall& call) {
  return detail::run_adaptive_avg_pool(
      call, operators::row_of(operators::adaptive_pool_operators, "aten._adaptive_avg_pool3d.default"));
}

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
  return dispatch_floating(call, input.dtype,
                         [&]<class C>() { return detail::compute_adaptive_avg_pool_backward<C>(call, w); });
}

inline constexpr auto adaptive_avg_pool_ops = std::to_array<OpRow>({
    {"aten._adaptive_avg_pool2d.default", adaptive_avg_pool2d},
    {"aten._adaptive_avg_pool2d_backward.default", adaptive_avg_pool2d_backward},
    {"aten._adaptive_avg_pool3d.default", adaptive_avg_pool3d},
    {"aten.adaptive_avg_pool1d.default", adaptive_avg_pool1d},
    {"aten.adaptive_avg_pool2d.default", adaptive_avg_pool2d},
});

}  // namespace davit::portable_kernels
