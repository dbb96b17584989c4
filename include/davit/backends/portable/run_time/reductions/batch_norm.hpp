// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/reductions/moments.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/kernels/blocks.hpp"
#include "davit/kernels/convert.hpp"
#include "davit/kernels/layer_norm.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operators/normalization.hpp"

namespace davit::portable_kernels {

namespace detail {

using operators::RunningStatistics;

/// The factor and shift of a channel; weight and bias are null if absent.
template <class C>
[[nodiscard]] std::pair<C, C> factor_and_shift(C mean, C inverse, const C* weight, const C* bias) noexcept {
  const C factor = weight != nullptr ? inverse * *weight : inverse;
  return {factor, (bias != nullptr ? *bias : C{}) - mean * factor};
}

/// from * factor + shift, for `n` elements of a dtype with compute type `C`. O(n).
template <class C>
void scale_and_shift_blocks(C factor, C shift, ScalarType dtype, const std::byte* from, std::byte* to, std::int64_t n) {
  const auto load = kernels::Conversion::between(dtype, scalar_type_of<C>),
             store = kernels::Conversion::between(scalar_type_of<C>, dtype);
  kernels::Block block, scratch;
  auto* const numbers = reinterpret_cast<C*>(block.bytes.data());
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  for (std::int64_t done = 0; done < n; done += kernels::block_length) {
    const std::int64_t some = std::min(n - done, kernels::block_length);
    load.run(from + done * element, numbers, scratch.bytes.data(), some);
    kernels::run_widest_for<C, kernels::ScaleAndShift>(factor, shift, numbers, numbers, some);
    store.run(numbers, to + done * element, scratch.bytes.data(), some);
  }
}

template <class C>
[[nodiscard]] ErrorCode compute_batch_norm(KernelCall& call, const operators::BatchNormOperator& op,
                                           const operators::BatchNormView& view) {
  const TensorView& input = call.tensor(0);
  const std::int64_t channels = input.size(1);
  const std::int64_t plane = input.numel() == 0 ? 0 : input.numel() / (input.size(0) * channels);
  const std::int64_t step = channels * plane;
  const std::int64_t batch = input.size(0);
  const auto optional = [&](ComputeBuffers<C>& s, ValueId v) {
    return v != no_id ? s.read(call.tensor(v)) : s.buffer(0);
  };
  ComputeBuffers<C> buffers(call);
  const bool by_blocks = !view.training && plane > 1 && input.dtype != scalar_type_of<C> && input.is_contiguous() &&
                         call.output(0).is_contiguous();
  const auto x_id = by_blocks ? buffers.buffer(0) : buffers.read(input);
  const auto weight = optional(buffers, view.weight);
  const auto bias = optional(buffers, view.bias);
  const bool running = view.mean != no_id;
  const auto running_mean = optional(buffers, view.mean);
  const auto running_var = optional(buffers, view.variance);
  const auto out_id = by_blocks ? buffers.buffer(0) : buffers.write(0);
  const bool saves = op.saves && view.training;
  const auto mean_id = saves && call.wants(1) ? buffers.write(1) : buffers.buffer(channels);
  const auto inverse_id = saves && call.wants(2) ? buffers.write(2) : buffers.buffer(channels);
  const bool keeps = running && op.running == RunningStatistics::outputs;
  const auto new_mean = keeps && call.wants(3) ? buffers.write(3) : buffers.buffer(channels);
  const auto new_var = keeps && call.wants(4) ? buffers.write(4) : buffers.buffer(channels);
  const auto factors = buffers.buffer(plane == 1 ? channels : 0), shifts = buffers.buffer(plane == 1 ? channels : 0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const C* x = buffers.in(x_id);
  C* out = buffers.out(out_id);
  const auto elements = static_cast<double>(batch * plane);
  const auto normalise = [&](std::int64_t c) {
    kernels::Moments<> m;
    if (view.training) {
      m = widest_moments(x + c * plane, plane, batch, step);
    } else {
      m = {static_cast<double>(buffers.in(running_mean)[c]), static_cast<double>(buffers.in(running_var)[c])};
    }
    const auto mean = static_cast<C>(m.mean);
    const bool constant = view.training && m.variance == 0 && view.eps == 0;  // nothing to normalize
    const auto inverse = constant ? C{} : static_cast<C>(m.inverse_deviation(view.eps));
    buffers.out(mean_id)[c] = mean;
    buffers.out(inverse_id)[c] = inverse;
    if (running) {
      const double old_mean = static_cast<double>(buffers.in(running_mean)[c]);
      const double old_var = static_cast<double>(buffers.in(running_var)[c]);
      const double unbiased = m.variance * elements / (elements - 1);
      buffers.out(new_mean)[c] =
          static_cast<C>(view.training ? view.momentum * m.mean + (1 - view.momentum) * old_mean : old_mean);
      buffers.out(new_var)[c] =
          static_cast<C>(view.training ? view.momentum * unbiased + (1 - view.momentum) * old_var : old_var);
    }
    const auto [factor, shift] =
        factor_and_shift<C>(mean, inverse, view.weight != no_id ? &buffers.in(weight)[c] : nullptr,
                            view.bias != no_id ? &buffers.in(bias)[c] : nullptr);
    if (plane == 1) {
      buffers.out(factors)[c] = factor;
      buffers.out(shifts)[c] = shift;
      return;
    }
    for (std::int64_t n = 0; by_blocks && n < batch; ++n) {
      const auto at = static_cast<std::ptrdiff_t>(size_of(input.dtype)) * (n * step + c * plane);
      scale_and_shift_blocks<C>(factor, shift, input.dtype, static_cast<const std::byte*>(input.data) + at,
                                static_cast<std::byte*>(call.output(0).data) + at, plane);
    }
    for (std::int64_t n = 0; !by_blocks && n < batch; ++n) {
      const C* from = x + n * step + c * plane;
      C* to = out + n * step + c * plane;
      kernels::run_widest_for<C, kernels::ScaleAndShift>(factor, shift, from, to, plane);
    }
  };
  kernels::in_parallel(channels, 1, kernels::operations(batch, channels, plane, view.training ? 16 : 4),
                       [&](std::size_t, std::int64_t first, std::int64_t end) {
                         for (std::int64_t c = first; c < end; ++c) normalise(c);
                       });
  if (plane == 1)  // channels are innermost
    kernels::in_parallel(batch, 1, kernels::operations(batch, channels, 2),
                         [&](std::size_t, std::int64_t first, std::int64_t end) {
                           for (std::int64_t n = first; n < end; ++n)
                             kernels::run_widest_for<C, ScaleAndShiftEach>(buffers.out(factors), buffers.out(shifts),
                                                                           x + n * step, out + n * step, channels);
                         });
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode run_batch_norm(KernelCall& call, const operators::BatchNormOperator& op) {
  operators::BatchNormView view;
  if (const ErrorCode code = answer(call, operators::read_batch_norm(KernelArguments(call), op, view));
      code != ErrorCode::ok)
    return code;
  if (view.training && view.mean != no_id && op.running == RunningStatistics::in_place)
    return call.refuse(ErrorCode::unsupported_operator,
                       "batch_norm: running statistics are not written in place; lower the program with to_backend");
  const TensorView& input = call.tensor(view.input);
  const std::int64_t count = checked_numel(input);
  if (count < 0) return call.refuse(ErrorCode::out_of_memory, "batch_norm: the input is too large");
  if (count == 0 && !op.saves) return call.make_like(0, input);
  if (view.training && count == 0)
    return call.refuse(ErrorCode::invalid_shape, "batch_norm: the input must have elements in training");
  static constexpr EValue absent;
  const auto given = [&](ValueId v) { return v == no_id ? &absent : &call.arg(v); };
  const std::initializer_list<const EValue*> parameters{given(view.weight), given(view.bias), given(view.mean),
                                                        given(view.variance)};
  const ScalarType dtype = statistics_dtype(input.dtype, parameters);
  if (const ErrorCode code = check_norm_parameters(call, dtype, input.size(1), parameters); code != ErrorCode::ok)
    return code;
  if (const ErrorCode code = call.make_like(0, input); code != ErrorCode::ok) return code;
  const Sizes per_channel(std::array{input.size(1)});
  const Sizes saved(std::array{view.training ? input.size(1) : std::int64_t{0}});
  for (std::size_t i = 1; op.saves && i < 3 && call.wants(i); ++i)
    if (const ErrorCode code = call.make(i, dtype, saved); code != ErrorCode::ok) return code;
  for (std::size_t i = 3; op.running == RunningStatistics::outputs && i < 5 && call.wants(i); ++i)
    if (const ErrorCode code = call.make(i, dtype, per_channel); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() { return compute_batch_norm<C>(call, op, view); });
}

}  // namespace detail

/// Batch norms: (input (N, C, *), weight?, bias?, running_mean, running_var, training, momentum, eps) -> (out, mean, 1
/// / deviation), as far as the operator has them. Training has no running statistics (functionalize() writes their
/// update as copies), or returns the new ones as outputs 3 and 4. In evaluation the saved statistics are empty. Source:
/// at::batch_norm, at::_native_batch_norm_legit.
inline constexpr auto batch_norm_ops = rows_of<operators::batch_norm_operators, detail::run_batch_norm>();

}  // namespace davit::portable_kernels
