// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "davit/backends/xnnpack/kernel_calls.hpp"
#include "davit/backends/xnnpack/quantized_rules.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/folds.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/normalization.hpp"

/// Convolutions, with the paddings before and the batch norms behind them.
namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] constexpr const char* read_batch_norm(const Call& call, operators::BatchNormView& view) {
  if (const operators::Refusal wrong = operators::read_batch_norm(call.arguments(), view)) return wrong.what;
  if (view.training) return "training";
  for (const ValueId v : {view.input, call.output(), view.mean, view.variance})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  if (call.rank(call.output()) != call.rank(view.input)) return "no channel dimension";
  const std::int64_t channels = call.fixed(view.input, 1);
  if (channels < 0) return "a symbolic number of channels";
  for (const ValueId v : {view.weight, view.bias, view.mean, view.variance}) {
    if (v == no_id) continue;
    if (const char* reason = refuses_tensor(call, v)) return reason;
    if (call.fixed(v, 0) != channels) return "parameters that are not one number per channel";
  }
  return call.arguments().uses_first_output_only() ? nullptr : "its saved statistics are used";
}

/// Folds a batch norm into weights; false if one of its parameters is not constant.
[[nodiscard]] inline bool set_norm(Planner& p, const operators::BatchNormView& norm, Weights& weights) {
  const auto get = [&](ValueId v, Tensor& to) {
    if (v == no_id) return true;
    const Tensor* t = p.constant(v);
    if (t != nullptr) to = *t;
    return t != nullptr;
  };
  weights.eps = norm.eps;
  weights.has_norm = get(norm.weight, weights.scale) && get(norm.bias, weights.shift) && get(norm.mean, weights.mean) &&
                     get(norm.variance, weights.variance);
  return weights.has_norm;
}

/// A batch norm by itself: a depthwise convolution with a kernel of one element.
inline void emit_batch_norm(Planner& p, const Call& call, const operators::BatchNormView& view) {
  const ValueId x = view.input;
  const std::int64_t channels = call.fixed(x, 1);
  const DimOrder order = DimOrder::channels_last(p.rank(x));
  Weights weights;
  if (!set_norm(p, view, weights)) return emit_kernel(p, call, KernelOrder::rows);
  weights.kernel = Tensor::zeros(ScalarType::float32, std::array<std::int64_t, 4>{channels, 1, 1, 1});
  if (!weights.kernel.storage.empty()) std::fill_n(weights.kernel.view().as<float>(), channels, 1.0f);
  const Clamped out = take_clamp(p, call.output());
  Step step{.op = Op::convolution,
            .min = out.bounds.low,
            .max = out.bounds.high,
            .window = {.groups = static_cast<std::uint32_t>(channels)}};
  step.weights = p.add_weights(std::move(weights));
  step.in = p.need(x, order, true);
  step.out = p.define(out.value, order, true);
  p.add(step, call.id());
}

/// The window of a convolution over one or two dimensions; nothing if a number exceeds XNNPACK's types.
[[nodiscard]] constexpr std::optional<Window> window_of(const operators::ConvolutionView& view) noexcept {
  constexpr std::int64_t most = 65535;
  Window w;
  if (view.groups > INT32_MAX) return std::nullopt;
  w.groups = static_cast<std::uint32_t>(view.groups);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t numbers[]{view.kernel[d + 1],  view.stride[d + 1],      view.dilation[d + 1],
                                 view.padding[d + 1], view.padding_end[d + 1], view.output_padding[d + 1]};
    for (const std::int64_t n : numbers)
      if (n < 0 || n > most) return std::nullopt;
    w.kernel[d] = static_cast<std::uint32_t>(view.kernel[d + 1]);
    w.stride[d] = static_cast<std::uint32_t>(view.stride[d + 1]);
    w.dilation[d] = static_cast<std::uint32_t>(view.dilation[d + 1]);
    w.output_padding[d] = static_cast<std::uint32_t>(view.output_padding[d + 1]);
    w.padding[d == 0 ? 0 : 3] = static_cast<std::uint32_t>(view.padding[d + 1]);
    w.padding[d == 0 ? 2 : 1] = static_cast<std::uint32_t>(view.padding_end[d + 1]);
  }
  return w;
}

/// True for a convolution that XNNPACK computes as a matrix product per group, with few channels each: its kernels for
/// groups of one channel have 3, 4, 9 or 25 taps. For known sizes portable's kernel replaces it, 3 to 20 times as fast.
[[nodiscard]] constexpr bool has_small_groups(const Call& call, const operators::ConvolutionView& view) noexcept {
  if (view.transposed || view.groups == 1) return false;
  const std::int64_t channels = call.fixed(view.input, 1), filters = call.fixed(view.weight, 0),
                     taps = view.kernel[1] * view.kernel[2];
  if (view.groups == channels && view.groups == filters) return taps != 3 && taps != 4 && taps != 9 && taps != 25;
  return channels < 16 * view.groups || filters < 16 * view.groups;
}
[[nodiscard]] constexpr bool is_by_kernel(const Call& call, const operators::ConvolutionView& view) noexcept {
  return has_small_groups(call, view) && call.all_fixed(view.input) && call.all_fixed(call.output());
}

[[nodiscard]] constexpr const char* read_convolution(const Call& call, operators::ConvolutionView& view) {
  if (const operators::Refusal wrong = operators::read_convolution(call.arguments(), view)) return wrong.what;
  for (const ValueId v : {view.input, view.weight, call.output()})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  if (view.dims > 2) return "neither a 1-d nor a 2-d convolution";
  if (!view.batched || call.rank(call.output()) != view.dims + 2) return "input without a batch dimension";
  if (!call.all_fixed(view.weight)) return "weights of symbolic size";
  if (!window_of(view)) return "a kernel, stride, padding, dilation or groups beyond 2^16";
  const std::int64_t out = view.transposed ? call.fixed(view.weight, 1) * view.groups : call.fixed(view.weight, 0);
  if (view.transposed) {
    if (view.groups == out && view.groups > 1)
      return "a transposed convolution of each channel by itself, which XNNPACK carries out as a product of matrices "
             "per channel";
    for (std::size_t d = 1; d < 3; ++d)
      if (view.output_padding[d] >= view.stride[d]) return "an output padding that is not smaller than the stride";
  } else if (has_small_groups(call, view) && !is_by_kernel(call, view)) {
    return "groups of few channels and images of symbolic sizes: XNNPACK carries out each group as a product of "
           "matrices";
  }
  if (call.fixed(view.input, 1) < 0 || call.fixed(call.output(), 1) != out)
    return "channels that are symbolic or do not fit the groups";
  if (view.bias == no_id) return nullptr;
  if (const char* reason = refuses_tensor(call, view.bias)) return reason;
  return call.fixed(view.bias, 0) == out ? nullptr : "a bias that is not one number per channel";
}

/// True if XNNPACK computes the convolution: its weights are constants, which it packs.
[[nodiscard]] inline bool takes_weights(Planner& p, const Call& call, const operators::ConvolutionView& view) {
  return !is_by_kernel(call, view) && p.state(view.weight).constant &&
         (view.bias == no_id || p.state(view.bias).constant);
}

inline void emit_convolution(Planner& p, const Call& call, const operators::ConvolutionView& view) {
  const ValueId w = view.weight;
  const ValueId bias = view.bias;
  ValueId x = view.input;
  const std::size_t rank = p.rank(w);
  const DimOrder order = DimOrder::channels_last(rank);
  Step step{.op = view.transposed ? Op::transposed_convolution : Op::convolution, .window = *window_of(view)};
  Window& window = step.window;
  if (!takes_weights(p, call, view)) return emit_kernel(p, call, KernelOrder::rows);
  const Tensor* bias_tensor = bias == no_id ? nullptr : p.constant(bias);
  if (operators::PadView pad; !view.transposed && operators::read_inner_padding(p.calls(), x, pad)) {
    x = pad.input;
    for (std::size_t d = 2; d < rank; ++d) {
      const bool is_width = d + 1 == rank;
      window.padding[is_width ? 3 : 0] += static_cast<std::uint32_t>(pad.before[d]);
      window.padding[is_width ? 1 : 2] += static_cast<std::uint32_t>(pad.after[d]);
    }
  }
  if (!view.transposed && emit_quantized_weights(p, call, x, w, bias, step, order, false)) return;
  ValueId result = call.output();
  Weights weights{.kernel = *p.constant(w),
                  .transposed = view.transposed,
                  .bias = bias_tensor == nullptr ? Tensor{} : *bias_tensor};
  operators::BatchNormView norm;
  if (const NodeId user = p.only_user(result); user != no_id && !p.is_checked(result) &&
                                               !operators::read_batch_norm(p.calls().call(user), norm) &&
                                               norm.input == result && set_norm(p, norm, weights)) {
    p.absorb(user);
    result = p.calls().call(user).output();
  }
  const Clamped out = take_clamp(p, result);
  step.min = out.bounds.low;
  step.max = out.bounds.high;
  step.weights = p.add_weights(std::move(weights));
  step.in = p.need(x, order, true);
  step.out = p.define(out.value, order, true);
  p.add(step, call.id());
}

/// Reads a zero padding that is folded into a convolution; other paddings are portable's.
[[nodiscard]] constexpr const char* read_pad(const Call& call, operators::PadView& view) {
  if (const operators::Refusal wrong = operators::read_pad(call.arguments(), view)) return wrong.what;
  for (const ValueId v : {view.input, call.output()})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  if (view.rank > max_dims || call.rank(call.output()) != view.rank) return "a result of another rank";
  for (std::size_t d = 0; d < view.rank; ++d) {
    if (view.before[d] < 0 || view.before[d] > 65535 || view.after[d] < 0 || view.after[d] > 65535)
      return "padding that is negative or beyond 2^16";
    const Dim &from = call.dims(view.input)[d], &to = call.dims(call.output())[d];
    const std::int64_t more = view.before[d] + view.after[d];
    if (more == 0 ? !same_dim(from, to) : from.is_static() && to.is_static() && from.value + more != to.value)
      return "sizes that do not fit";
  }
  return nullptr;
}
inline void emit_pad(Planner& p, const Call& call, const operators::PadView&) {
  const ValueId y = call.output();
  operators::ConvolutionView convolution;
  operators::PadView inner;
  if (const NodeId user = p.only_user(y);
      user != no_id && !operators::read_convolution(p.calls().call(user), convolution) && convolution.input == y &&
      !convolution.transposed && takes_weights(p, Call(p.graph(), user), convolution) &&
      operators::read_inner_padding(p.calls(), y, inner))
    return;  // the convolution pads
  emit_kernel(p, call, KernelOrder::rows);
}

}  // namespace detail

inline constexpr auto convolution_rules = std::to_array<Rule>({
    rule<operators::BatchNormView, detail::read_batch_norm, detail::emit_batch_norm>(
        "aten._native_batch_norm_legit_no_training.default"),
    rule<operators::BatchNormView, detail::read_batch_norm, detail::emit_batch_norm>("aten.batch_norm.default"),
    rule<operators::PadView, detail::read_pad, detail::emit_pad>("aten.constant_pad_nd.default"),
    rule<operators::ConvolutionView, detail::read_convolution, detail::emit_convolution>("aten.conv1d.default"),
    rule<operators::ConvolutionView, detail::read_convolution, detail::emit_convolution>("aten.conv1d.padding"),
    rule<operators::ConvolutionView, detail::read_convolution, detail::emit_convolution>("aten.conv2d.default"),
    rule<operators::ConvolutionView, detail::read_convolution, detail::emit_convolution>("aten.conv2d.padding"),
    rule<operators::ConvolutionView, detail::read_convolution, detail::emit_convolution>("aten.convolution.default"),
});

}  // namespace davit::xnnpack_parts
