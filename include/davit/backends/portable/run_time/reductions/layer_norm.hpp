// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/reductions/moments.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/layer_norm.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operators/normalization.hpp"

namespace davit::portable_kernels {

namespace detail {

/// An input as rows that are normalized one by one.
struct LayerRows {
  std::int64_t rows = 1;
  std::int64_t length = 1;
  Sizes statistics;  ///< the sizes of mean and 1 / deviation
};

/// Splits the input into rows of its last `dims` dimensions, which are checked before.
[[nodiscard]] inline ErrorCode cut_rows(KernelCall& call, const TensorView& input, std::size_t dims, LayerRows& r) {
  if (checked_numel(input) < 0) return call.refuse(ErrorCode::out_of_memory, "layer_norm: the input is too large");
  for (std::size_t d = 0; d < input.rank; ++d) {
    const bool outer = d + dims < input.rank;
    r.statistics.push(outer ? input.size(d) : 1);
    (outer ? r.rows : r.length) *= input.size(d);
  }
  return ErrorCode::ok;
}

template <class C>
[[nodiscard]] ErrorCode compute_layer_norm(KernelCall& call, const LayerRows& r, double eps, bool saves) {
  ComputeBuffers<C> buffers(call);
  const auto x_id = buffers.read(call.tensor(0));
  const auto weight_id = call.is_tensor(2) ? buffers.read(call.tensor(2)) : x_id;
  const auto bias_id = call.is_tensor(3) ? buffers.read(call.tensor(3)) : x_id;
  const auto out_id = buffers.write(0);
  const bool saves_mean = saves && call.wants(1);
  const bool saves_inverse = saves && call.wants(2);
  const auto mean_id = saves_mean ? buffers.write(1) : x_id;
  const auto inverse_id = saves_inverse ? buffers.write(2) : x_id;
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const C* weight = call.is_tensor(2) ? buffers.in(weight_id) : nullptr;
  const C* bias = call.is_tensor(3) ? buffers.in(bias_id) : nullptr;
  kernels::in_parallel(
      r.rows, 1, kernels::operations(r.rows, r.length, 4), [&](std::size_t, std::int64_t first, std::int64_t end) {
        kernels::run_widest_for<C, kernels::LayerNormRows<double>>(
            end - first, r.length, eps, buffers.in(x_id) + first * r.length, weight, bias,
            buffers.out(out_id) + first * r.length, saves_mean ? buffers.out(mean_id) + first : nullptr,
            saves_inverse ? buffers.out(inverse_id) + first : nullptr);
      });
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode run_layer_norm(KernelCall& call, const operators::LayerNormOperator& op) {
  operators::LayerNormView view;
  if (const ErrorCode code = answer(call, operators::read_layer_norm(KernelArguments(call), view));
      code != ErrorCode::ok)
    return code;
  const TensorView& input = call.tensor(view.input);
  LayerRows r;
  if (const ErrorCode code = cut_rows(call, input, view.dims, r); code != ErrorCode::ok) return code;
  const ScalarType dtype = statistics_dtype(input.dtype, {&call.arg(2), &call.arg(3)});
  if (const ErrorCode code = check_norm_parameters(call, dtype, r.length, {&call.arg(2), &call.arg(3)});
      code != ErrorCode::ok)
    return code;
  if (const ErrorCode code = call.make_like(0, input); code != ErrorCode::ok) return code;
  for (std::size_t i = 1; op.saves && i < 3 && call.wants(i); ++i)
    if (const ErrorCode code = call.make(i, dtype, r.statistics); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype,
                           [&]<class C>() { return compute_layer_norm<C>(call, r, view.eps, op.saves); });
}

/// Gradients of one row; adds to d_weight and d_bias, which may be nullptr.
template <class C>
void layer_norm_row_backward(std::int64_t n, const C* grad, const C* x, double mean, double inverse, const C* weight,
                             C* d_input, double* d_weight, double* d_bias) {
  const auto weighted = [&](std::int64_t i) {
    return static_cast<double>(grad[i]) * (weight == nullptr ? 1.0 : static_cast<double>(weight[i]));
  };
  const auto normal = [&](std::int64_t i) { return (static_cast<double>(x[i]) - mean) * inverse; };
  if (d_input != nullptr) {
    const double a = sum_over(n, weighted) / static_cast<double>(n);
    const double b = sum_over(n, [&](std::int64_t i) { return weighted(i) * normal(i); }) / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) d_input[i] = static_cast<C>(inverse * (weighted(i) - a - normal(i) * b));
  }
  for (std::int64_t i = 0; d_weight != nullptr && i < n; ++i) d_weight[i] += static_cast<double>(grad[i]) * normal(i);
  for (std::int64_t i = 0; d_bias != nullptr && i < n; ++i) d_bias[i] += static_cast<double>(grad[i]);
}

template <class C>
[[nodiscard]] ErrorCode compute_layer_norm_backward(KernelCall& call, const LayerRows& r,
                                                    const std::array<bool, 3>& wanted) {
  ComputeBuffers<C> buffers(call);
  const auto grad = buffers.read(call.tensor(0));
  const auto x = buffers.read(call.tensor(1));
  const auto mean = buffers.read(call.tensor(3));
  const auto inverse = buffers.read(call.tensor(4));
  const auto weight = call.is_tensor(5) ? buffers.read(call.tensor(5)) : x;
  std::array<std::size_t, 3> out{};
  for (std::size_t i = 0; i < 3; ++i)
    if (wanted[i]) out[i] = buffers.write(i);
  const auto sums_id = buffers.template buffer_of<double>(2 * r.length);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  double* sums = buffers.template at<double>(sums_id);
  std::fill_n(sums, 2 * r.length, 0.0);
  for (std::int64_t row = 0; row < r.rows; ++row) {
    const std::int64_t at = row * r.length;
    layer_norm_row_backward(r.length, buffers.in(grad) + at, buffers.in(x) + at,
                            static_cast<double>(buffers.in(mean)[row]), static_cast<double>(buffers.in(inverse)[row]),
                            call.is_tensor(5) ? buffers.in(weight) : nullptr,
                            wanted[0] ? buffers.out(out[0]) + at : nullptr, wanted[1] ? sums : nullptr,
                            wanted[2] ? sums + r.length : nullptr);
  }
  for (std::size_t i = 1; i < 3; ++i)
    for (std::int64_t k = 0; wanted[i] && k < r.length; ++k)
      buffers.out(out[i])[k] = static_cast<C>(sums[static_cast<std::int64_t>(i - 1) * r.length + k]);
  return buffers.finish();
}

}  // namespace detail

/// native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight?, bias?, output_mask) -> gradients
/// of input, weight and bias; outputs that output_mask excludes are None. Source: at::native_layer_norm_backward.
[[nodiscard]] inline ErrorCode native_layer_norm_backward(KernelCall& call) {
  const TensorView& grad = call.tensor(0);
  const TensorView& input = call.tensor(1);
  detail::LayerRows r;
  const KernelArguments arguments(call);
  operators::LayerNormView view{
      .input = 1, .weight = arguments.value({"weight", 5}), .bias = arguments.value({"bias", 6})};
  if (const ErrorCode code = answer(call, operators::read_normalized(arguments, {"normalized_shape", 2}, view));
      code != ErrorCode::ok)
    return code;
  if (const ErrorCode code = detail::cut_rows(call, input, view.dims, r); code != ErrorCode::ok) return code;
  const std::span<const EValue> mask = call.list(7);
  if (mask.size() != 3)
    return call.refuse(ErrorCode::invalid_argument, "layer_norm backward: output_mask needs three elements");
  if (grad.dtype != input.dtype || !std::ranges::equal(grad.sizes(), input.sizes()))
    return call.refuse(ErrorCode::invalid_shape, "layer_norm backward: grad_out must be like the input");
  if (checked_numel(call.tensor(3)) != r.rows || checked_numel(call.tensor(4)) != r.rows)
    return call.refuse(ErrorCode::invalid_shape, "layer_norm backward: mean and rstd need one element per row");
  std::array<bool, 3> wanted{};
  for (std::size_t i = 0; i < 3 && call.wants(i); ++i) {
    wanted[i] = mask[i].is_number() && mask[i].number() != 0;
    call.set(i, EValue());
    if (!wanted[i]) continue;
    const EValue& like = call.arg(i == 0 ? 1 : 4 + i);
    if (!like.is_tensor())
      return call.refuse(ErrorCode::invalid_argument, "layer_norm backward: the gradient of an absent parameter");
    if (const ErrorCode code = call.make_like(i, like.tensor()); code != ErrorCode::ok) return code;
  }
  return dispatch_floating(call, input.dtype,
                           [&]<class C>() { return detail::compute_layer_norm_backward<C>(call, r, wanted); });
}

/// native_layer_norm(input, normalized_shape, weight?, bias?, eps) -> (out, mean, 1 / deviation) over the last
/// dimensions, layer_norm with the first output alone, and the gradient. Source: at::native_layer_norm, at::layer_norm.
inline constexpr auto layer_norm_ops =
    joined_rows(rows_of<operators::layer_norm_operators, detail::run_layer_norm>(),
                std::to_array<OpRow>({{"aten.native_layer_norm_backward.default", native_layer_norm_backward}}));

}  // namespace davit::portable_kernels
