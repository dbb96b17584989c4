// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/moments.hpp"
#include "davit/backends/portable/run_time/staging.hpp"
#include "davit/backends/portable/vector_lanes.hpp"

namespace davit::portable_kernels {

namespace detail {

/// What becomes of the running statistics in training.
enum class RunningStatistics : std::uint8_t { none, in_place, outputs };

/// One of the batch_norm operators.
struct BatchNorm {
  bool training = false;
  bool saves = true;  ///< outputs 1 and 2: mean and 1 / deviation, empty in evaluation
  RunningStatistics running = RunningStatistics::none;
  double momentum = 0;
  double eps = 0;
  bool has_running = true;  ///< arguments 3 and 4 are the running statistics
};

/// Writes `count` values into a tensor of rank 1 that an argument names.
template <class C>
[[nodiscard]] ErrorCode overwrite(const TensorView& t, const C* values) {
  if (!is_floating(t.dtype)) return ErrorCode::invalid_dtype;
  const std::int64_t one = 1;
  const bool real = kernels::convert_elements(t.sizes(), values, scalar_type_of<C>, {&one, 1}, t.data, t.dtype, t.strides());
  return real ? ErrorCode::ok : ErrorCode::invalid_dtype;
}

template <class C>
[[nodiscard]] ErrorCode compute_batch_norm(KernelCall& call, const BatchNorm& op) {
  const TensorView& input = call.tensor(0);
  const std::int64_t channels = input.size(1);
  const std::int64_t plane = input.numel() == 0 ? 0 : input.numel() / (input.size(0) * channels);
  const std::int64_t step = channels * plane;
  const std::int64_t batch = input.size(0);
  const auto optional = [&](Staging<C>& s, std::size_t i, bool given) {
    return given && call.is_tensor(i) ? s.read(call.tensor(i)) : s.buffer(0);
  };
  Staging<C> staging(call);
  const auto x_id = staging.read(input);
  const auto weight = optional(staging, 1, true);
  const auto bias = optional(staging, 2, true);
  const bool running = op.has_running && call.is_tensor(3) && call.is_tensor(4);
  const auto running_mean = optional(staging, 3, running);
  const auto running_var = optional(staging, 4, running);
  const auto out_id = staging.write(0);
  const bool saves = op.saves && op.training;
  const auto mean_id = saves && call.wants(1) ? staging.write(1) : staging.buffer(channels);
  const auto inverse_id = saves && call.wants(2) ? staging.write(2) : staging.buffer(channels);
  const bool keeps = running && op.running == RunningStatistics::outputs;
  const auto new_mean = keeps && call.wants(3) ? staging.write(3) : staging.buffer(channels);
  const auto new_var = keeps && call.wants(4) ? staging.write(4) : staging.buffer(channels);
  if (const ErrorCode code = staging.allocate(); code != ErrorCode::ok) return code;
  const C* x = staging.in(x_id);
  C* out = staging.out(out_id);
  const auto elements = static_cast<double>(batch * plane);
  for (std::int64_t c = 0; c < channels; ++c) {
    Moments m;
    if (op.training) {
      m = moments(x + c * plane, plane, batch, step);
    } else {
      m = {static_cast<double>(staging.in(running_mean)[c]), static_cast<double>(staging.in(running_var)[c])};
    }
    const auto mean = static_cast<C>(m.mean);
    const auto inverse = static_cast<C>(m.inverse_deviation(op.eps));
    staging.out(mean_id)[c] = mean;
    staging.out(inverse_id)[c] = inverse;
    if (running) {
      const double old_mean = static_cast<double>(staging.in(running_mean)[c]);
      const double old_var = static_cast<double>(staging.in(running_var)[c]);
      const double unbiased = m.variance * elements / (elements - 1);
      staging.out(new_mean)[c] =
          static_cast<C>(op.training ? op.momentum * m.mean + (1 - op.momentum) * old_mean : old_mean);
      staging.out(new_var)[c] =
          static_cast<C>(op.training ? op.momentum * unbiased + (1 - op.momentum) * old_var : old_var);
    }
    const C factor = call.is_tensor(1) ? inverse * staging.in(weight)[c] : inverse;
    const C shift = (call.is_tensor(2) ? staging.in(bias)[c] : C{}) - mean * factor;
    for (std::int64_t n = 0; n < batch; ++n) {
      const C* from = x + n * step + c * plane;
      C* to = out + n * step + c * plane;
      scale_and_shift(factor, shift, from, to, plane);
    }
  }
  if (running && op.training && op.running == RunningStatistics::in_place) {
    if (const ErrorCode code = overwrite(call.tensor(3), staging.in(new_mean)); code != ErrorCode::ok) return code;
    if (const ErrorCode code = overwrite(call.tensor(4), staging.in(new_var)); code != ErrorCode::ok) return code;
  }
  return staging.finish();
}

[[nodiscard]] inline ErrorCode run_batch_norm(KernelCall& call, const BatchNorm& op) {
  const TensorView& input = call.tensor(0);
  static constexpr EValue absent;
  const EValue* mean = op.has_running ? &call.arg(3) : &absent;
  const EValue* variance = op.has_running ? &call.arg(4) : &absent;
  if (input.rank < 2)
    return call.refuse(ErrorCode::invalid_shape, "batch_norm: the input needs at least two dimensions");
  const std::int64_t count = checked_numel(input);
  if (count < 0) return call.refuse(ErrorCode::out_of_memory, "batch_norm: the input is too large");
  if (count == 0 && !op.saves) return call.make_like(0, input);
  if (op.training && count == 0)
    return call.refuse(ErrorCode::invalid_shape, "batch_norm: the input must have elements in training");
  const bool running = mean->is_tensor() && variance->is_tensor();
  if (!running && (!op.training || mean->is_tensor() || variance->is_tensor()))
    return call.refuse(ErrorCode::invalid_argument, "batch_norm: the running statistics must be given");
  if (running && (mean->tensor().rank != 1 || variance->tensor().rank != 1))
    return call.refuse(ErrorCode::invalid_shape, "batch_norm: the running statistics must have one dimension");
  const ScalarType dtype = statistics_dtype(input.dtype, {&call.arg(1), &call.arg(2), mean, variance});
  if (const ErrorCode code =
          check_norm_parameters(call, dtype, input.size(1), {&call.arg(1), &call.arg(2), mean, variance});
      code != ErrorCode::ok)
    return code;
  if (const ErrorCode code = call.make_like(0, input); code != ErrorCode::ok) return code;
  const Sizes per_channel(std::array{input.size(1)});
  const Sizes saved(std::array{op.training ? input.size(1) : std::int64_t{0}});
  for (std::size_t i = 1; op.saves && i < 3 && call.wants(i); ++i)
    if (const ErrorCode code = call.make(i, dtype, saved); code != ErrorCode::ok) return code;
  for (std::size_t i = 3; op.running == RunningStatistics::outputs && i < 5 && call.wants(i); ++i)
    if (const ErrorCode code = call.make(i, dtype, per_channel); code != ErrorCode::ok) return code;
  return dispatch_staged(call, input.dtype, [&]<class C>() { return compute_batch_norm<C>(call, op); });
}

}  // namespace detail

/// _native_batch_norm_legit(input (N, C, *), weight?, bias?, running_mean, running_var, training, momentum, eps) ->
/// (out, mean, 1 / deviation); in training the running statistics are updated in place.
/// Source: at::_native_batch_norm_legit.
[[nodiscard]] inline ErrorCode native_batch_norm(KernelCall& call) {
  return detail::run_batch_norm(call, {.training = call.boolean(5),
                                       .running = detail::RunningStatistics::in_place,
                                       .momentum = call.number(6),
                                       .eps = call.number(7)});
}

/// The same without running statistics: training only. Source: at::_native_batch_norm_legit.no_stats.
[[nodiscard]] inline ErrorCode native_batch_norm_no_stats(KernelCall& call) {
  return detail::run_batch_norm(
      call, {.training = call.boolean(3), .momentum = call.number(4), .eps = call.number(5), .has_running = false});
}

/// The same with the new running statistics as outputs 3 and 4. Source: at::_native_batch_norm_legit_functional.
[[nodiscard]] inline ErrorCode native_batch_norm_functional(KernelCall& call) {
  return detail::run_batch_norm(call, {.training = call.boolean(5),
                                       .running = detail::RunningStatistics::outputs,
                                       .momentum = call.number(6),
                                       .eps = call.number(7)});
}

/// Evaluation only; the saved statistics are empty. Source: at::_native_batch_norm_legit_no_training.
[[nodiscard]] inline ErrorCode native_batch_norm_no_training(KernelCall& call) {
  return detail::run_batch_norm(call, {.momentum = call.number(5), .eps = call.number(6)});
}

/// batch_norm(input, weight?, bias?, running_mean?, running_var?, training, momentum, eps, ...) -> out; in training the
/// running statistics are updated in place. Source: at::batch_norm.
[[nodiscard]] inline ErrorCode batch_norm(KernelCall& call) {
  return detail::run_batch_norm(call, {.training = call.boolean(5),
                                       .saves = false,
                                       .running = detail::RunningStatistics::in_place,
                                       .momentum = call.number(6),
                                       .eps = call.number(7)});
}

inline constexpr auto batch_norm_ops = std::to_array<OpRow>({
    {"aten._native_batch_norm_legit.default", native_batch_norm},
    {"aten._native_batch_norm_legit.no_stats", native_batch_norm_no_stats},
    {"aten._native_batch_norm_legit_functional.default", native_batch_norm_functional},
    {"aten._native_batch_norm_legit_no_training.default", native_batch_norm_no_training},
    {"aten.batch_norm.default", batch_norm},
});

}  // namespace davit::portable_kernels
