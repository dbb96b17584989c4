// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/backends/portable/run_time/node_kernel.hpp"
#include "davit/backends/xnnpack/batch_norm_rules.hpp"
#include "davit/backends/xnnpack/quantization.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/folds.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/normalization.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// The window of a convolution over one or two dimensions; nothing if XNNPACK has no numbers as large.
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

/// True for a convolution that XNNPACK carries out as a product of matrices per group, of few channels each: it has
/// kernels of groups of one channel for 3, 4, 9 and 25 taps. Where the sizes are known, portable's kernel computes it
/// in place, 3 to 20 times as fast.
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

[[nodiscard]] constexpr const char* refuses_convolution(const Call& call) noexcept {
  operators::ConvolutionView view;
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

/// One of portable's kernels, by the node, on tensors of float32 in row-major order. False, and nothing is done, if its
/// arguments do not fit.
[[nodiscard]] inline bool emit_by_kernel(Planner& p, const Call& call, const operators::ConvolutionView& view) {
  std::vector<std::uint32_t> number_of_value(p.graph().values.size());
  Step step{.op = Op::kernel, .weights = static_cast<std::uint32_t>(p.plan.kernels.size())};
  const std::array operands{view.input, view.weight, view.bias};
  for (std::uint32_t i = 0; i < operands.size(); ++i)
    if (operands[i] != no_id) number_of_value[operands[i]] = i;
  portable_kernels::KernelStep kernel;
  if (!portable_kernels::bind_node(p.graph(), call.id(), call.target(), number_of_value, kernel).empty()) return false;
  const auto add = [&](ValueId v) {
    std::vector<std::int64_t> sizes;
    for (const Dim& d : p.dims(v)) sizes.push_back(d.value);
    add_tensor(kernel, sizes);
  };
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i] != no_id) {
      step.in[i] = p.need(operands[i], DimOrder::row_major(p.rank(operands[i])));
      add(operands[i]);
    }
  add(call.output());
  p.plan.kernels.push_back(std::move(kernel));
  step.out = p.define(call.output(), DimOrder::row_major(p.rank(call.output())));
  p.add(step, call.id());
  return true;
}

inline void emit_convolution(Planner& p, const Call& call) {
  operators::ConvolutionView view;
  if (operators::read_convolution(call.arguments(), view)) return;  // which refuses_convolution has asked
  const ValueId w = view.weight;
  const ValueId bias = view.bias;
  ValueId x = view.input;
  const std::size_t rank = p.rank(w);
  const DimOrder order = DimOrder::channels_last(rank);
  Step step{.op = view.transposed ? Op::transposed_convolution : Op::convolution, .window = *window_of(view)};
  Window& window = step.window;
  const bool by_kernel = is_by_kernel(call, view);
  if (operators::PadView pad; !view.transposed && !by_kernel && operators::read_inner_padding(p.calls(), x, pad)) {
    x = pad.input;
    for (std::size_t d = 2; d < rank; ++d) {
      const bool is_width = d + 1 == rank;
      window.padding[is_width ? 3 : 0] += static_cast<std::uint32_t>(pad.before[d]);
      window.padding[is_width ? 1 : 2] += static_cast<std::uint32_t>(pad.after[d]);
    }
  }
  if (!view.transposed && emit_quantized_weights(p, call, x, w, bias, step, order, false)) return;
  if (by_kernel && emit_by_kernel(p, call, view)) return;
  const Tensor* kernel_tensor = p.constant(w);
  const Tensor* bias_tensor = bias == no_id ? nullptr : p.constant(bias);
  ValueId result = call.output();
  if (kernel_tensor == nullptr || (bias != no_id && bias_tensor == nullptr)) {
    const Clamped out = take_clamp(p, result);
    step.op = Op::dynamic_convolution;
    step.transposed = view.transposed;
    step.min = out.bounds.low;
    step.max = out.bounds.high;
    const DimOrder packed =
        view.transposed ? DimOrder::row_major(rank) : order;  // of other weights: [out, height, width, in]
    step.in = {p.need(x, order), p.need(w, packed), bias == no_id ? no_id : p.need(bias, DimOrder::row_major(1))};
    step.out = p.define(out.value, order);
    p.add(step, call.id());
    return;
  }
  Weights weights{.kernel = *kernel_tensor,
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
  step.in[0] = p.need(x, order, true);
  step.out = p.define(out.value, order, true);
  p.add(step, call.id());
}

}  // namespace detail

inline constexpr auto convolution_rules = std::to_array<Rule>({
    {"aten.conv1d.default", detail::refuses_convolution, detail::emit_convolution},
    {"aten.conv1d.padding", detail::refuses_convolution, detail::emit_convolution},
    {"aten.conv2d.default", detail::refuses_convolution, detail::emit_convolution},
    {"aten.conv2d.padding", detail::refuses_convolution, detail::emit_convolution},
    {"aten.convolution.default", detail::refuses_convolution, detail::emit_convolution},
});

}  // namespace davit::xnnpack_parts
