// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/reductions/moments.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/layer_norm.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operators/normalization.hpp"

namespace davit::portable_kernels {

namespace detail {

using operators::GroupNormView;

/// Checks the sizes in the arguments. Source: check_group_norm_inputs of ATen.
[[nodiscard]] inline ErrorCode check_groups(KernelCall& call, const TensorView& input, const GroupNormView& g) {
  const std::int64_t count = checked_numel(input);
  const std::array<std::int64_t, 3> sizes{g.batch, g.channels, g.plane};
  const TensorView claimed{nullptr, sizes.data(), nullptr, 3, input.dtype};
  if (std::ranges::min(sizes) < 0 || count < 0 || checked_numel(claimed) != count)
    return call.refuse(ErrorCode::invalid_shape, "group_norm: the input does not have N * C * HxW elements");
  if (g.channels > max_numel || g.batch > max_numel / g.groups)
    return call.refuse(ErrorCode::out_of_memory, "group_norm: the input is too large");
  return ErrorCode::ok;
}

template <class C>
[[nodiscard]] ErrorCode compute_group_norm(KernelCall& call, const GroupNormView& g) {
  ComputeBuffers<C> buffers(call);
  const auto x_id = buffers.read(call.tensor(0));
  const auto weight = call.is_tensor(1) ? buffers.read(call.tensor(1)) : x_id;
  const auto bias = call.is_tensor(2) ? buffers.read(call.tensor(2)) : x_id;
  const auto out_id = buffers.write(0);
  const auto mean_id = call.wants(1) ? buffers.write(1) : x_id;
  const auto inverse_id = call.wants(2) ? buffers.write(2) : x_id;
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const std::int64_t width = g.group_channels(), length = width * g.plane, groups = g.batch * g.groups;
  kernels::in_parallel(
      groups, 1, kernels::operations(groups, length, 4), [&](std::size_t, std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first; i < end; ++i) {
          const std::int64_t c = i % g.groups * width;
          kernels::run_widest_for<C, kernels::GroupNorm>(
              width, g.plane, g.eps, buffers.in(x_id) + i * length,
              call.is_tensor(1) ? buffers.in(weight) + c : nullptr, call.is_tensor(2) ? buffers.in(bias) + c : nullptr,
              buffers.out(out_id) + i * length, call.wants(1) ? buffers.out(mean_id) + i : nullptr,
              call.wants(2) ? buffers.out(inverse_id) + i : nullptr);
        }
      });
  return buffers.finish();
}

template <class C>
[[nodiscard]] ErrorCode compute_group_norm_backward(KernelCall& call, const GroupNormView& g,
                                                    const std::array<bool, 3>& wanted) {
  ComputeBuffers<C> buffers(call);
  const auto grad_id = buffers.read(call.tensor(0));
  const auto x_id = buffers.read(call.tensor(1));
  const auto mean_id = buffers.read(call.tensor(2));
  const auto inverse_id = buffers.read(call.tensor(3));
  const auto weight_id = call.is_tensor(4) ? buffers.read(call.tensor(4)) : x_id;
  std::array<std::size_t, 3> out{};
  for (std::size_t i = 0; i < 3; ++i)
    if (wanted[i]) out[i] = buffers.write(i);
  // per channel: sums of grad * x and of grad over this image; gradients of weight and bias over the batch
  const auto sums_id = buffers.template buffer_of<double>(4 * g.channels);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  double* products = buffers.template at<double>(sums_id);
  double* grads = products + g.channels;
  double* d_weight = grads + g.channels;
  double* d_bias = d_weight + g.channels;
  std::fill_n(products, 4 * g.channels, 0.0);
  const auto weight = [&](std::int64_t c) {
    return call.is_tensor(4) ? static_cast<double>(buffers.in(weight_id)[c]) : 1.0;
  };
  const double share = 1.0 / static_cast<double>(g.group_channels() * g.plane);
  for (std::int64_t i = 0; i < g.batch * g.groups; ++i) {
    const std::int64_t first = i % g.groups * g.group_channels();
    const auto mean = static_cast<double>(buffers.in(mean_id)[i]);
    const auto inverse = static_cast<double>(buffers.in(inverse_id)[i]);
    double product = 0;
    double sum = 0;
    for (std::int64_t k = 0; k < g.group_channels(); ++k) {
      const std::int64_t at = (i * g.group_channels() + k) * g.plane;
      const C* grad = buffers.in(grad_id) + at;
      const C* x = buffers.in(x_id) + at;
      const std::int64_t c = first + k;
      products[c] =
          sum_over(g.plane, [&](std::int64_t j) { return static_cast<double>(grad[j]) * static_cast<double>(x[j]); });
      grads[c] = sum_over(g.plane, [&](std::int64_t j) { return static_cast<double>(grad[j]); });
      d_weight[c] += (products[c] - grads[c] * mean) * inverse;
      d_bias[c] += grads[c];
      product += products[c] * weight(c);
      sum += grads[c] * weight(c);
    }
    if (!wanted[0]) continue;
    const double of_x = (sum * mean - product) * inverse * inverse * inverse * share;
    const double constant = -of_x * mean - sum * inverse * share;
    for (std::int64_t k = 0; k < g.group_channels(); ++k) {
      const double of_grad = inverse * weight(first + k);
      const std::int64_t at = (i * g.group_channels() + k) * g.plane;
      const C* grad = buffers.in(grad_id) + at;
      const C* x = buffers.in(x_id) + at;
      C* to = buffers.out(out[0]) + at;
      for (std::int64_t j = 0; j < g.plane; ++j)
        to[j] = static_cast<C>(of_grad * static_cast<double>(grad[j]) + of_x * static_cast<double>(x[j]) + constant);
    }
  }
  for (std::int64_t c = 0; c < g.channels; ++c) {
    if (wanted[1]) buffers.out(out[1])[c] = static_cast<C>(d_weight[c]);
    if (wanted[2]) buffers.out(out[2])[c] = static_cast<C>(d_bias[c]);
  }
  return buffers.finish();
}

}  // namespace detail

/// native_group_norm(input, weight?, bias?, N, C, HxW, group, eps) -> (out, mean (N, group), 1 / deviation (N, group)).
/// Source: at::native_group_norm.
[[nodiscard]] inline ErrorCode native_group_norm(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  operators::GroupNormView g;
  if (const ErrorCode code = answer(call, operators::read_group_norm(KernelArguments(call), g)); code != ErrorCode::ok)
    return code;
  if (const ErrorCode code = detail::check_groups(call, input, g); code != ErrorCode::ok) return code;
  const ScalarType dtype = statistics_dtype(input.dtype, {&call.arg(1), &call.arg(2)});
  if (const ErrorCode code = check_norm_parameters(call, dtype, g.channels, {&call.arg(1), &call.arg(2)});
      code != ErrorCode::ok)
    return code;
  if (const ErrorCode code = call.make_like(0, input); code != ErrorCode::ok) return code;
  const Sizes statistics(std::array{g.batch, g.groups});
  for (std::size_t i = 1; i < 3 && call.wants(i); ++i)
    if (const ErrorCode code = call.make(i, dtype, statistics); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() { return detail::compute_group_norm<C>(call, g); });
}

/// native_group_norm_backward(grad_out, input, mean, rstd, weight?, N, C, HxW, group, output_mask) -> gradients of
/// input, weight and bias; outputs that output_mask excludes are None. Source: at::native_group_norm_backward.
[[nodiscard]] inline ErrorCode native_group_norm_backward(KernelCall& call) {
  const TensorView& grad = call.tensor(0);
  const TensorView& input = call.tensor(1);
  operators::GroupNormView g;
  if (const ErrorCode code = answer(call, operators::read_groups(KernelArguments(call), 5, g)); code != ErrorCode::ok)
    return code;
  if (const ErrorCode code = detail::check_groups(call, input, g); code != ErrorCode::ok) return code;
  const std::span<const EValue> mask = call.list(9);
  if (mask.size() != 3)
    return call.refuse(ErrorCode::invalid_argument, "group_norm backward: output_mask needs three elements");
  if (grad.dtype != input.dtype || checked_numel(grad) != checked_numel(input))
    return call.refuse(ErrorCode::invalid_shape, "group_norm backward: grad_out must be like the input");
  if (checked_numel(call.tensor(2)) != g.batch * g.groups || checked_numel(call.tensor(3)) != g.batch * g.groups)
    return call.refuse(ErrorCode::invalid_shape, "group_norm backward: mean and rstd need one element per group");
  const ScalarType dtype = statistics_dtype(input.dtype, {&call.arg(2), &call.arg(3), &call.arg(4)});
  if (const ErrorCode code = check_norm_parameters(call, dtype, g.channels, {&call.arg(4)}); code != ErrorCode::ok)
    return code;
  const Sizes per_channel(std::array{g.channels});
  std::array<bool, 3> wanted{};
  for (std::size_t i = 0; i < 3 && call.wants(i); ++i) {
    wanted[i] = mask[i].is_number() && mask[i].number() != 0;
    call.set(i, EValue());
    if (!wanted[i]) continue;
    if (i > 0 && !call.is_tensor(4))
      return call.refuse(ErrorCode::invalid_argument, "group_norm backward: the gradient of an absent parameter");
    const ErrorCode code = i == 0 ? call.make_like(0, input) : call.make(i, dtype, per_channel);
    if (code != ErrorCode::ok) return code;
  }
  return dispatch_floating(call, input.dtype,
                           [&]<class C>() { return detail::compute_group_norm_backward<C>(call, g, wanted); });
}

inline constexpr auto group_norm_ops = std::to_array<OpRow>({
    {"aten.native_group_norm.default", native_group_norm},
    {"aten.native_group_norm_backward.default", native_group_norm_backward},
});

}  // namespace davit::portable_kernels
