// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "davit/backends/xnnpack/kernel_calls.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/bounds.hpp"
#include "davit/program/operators/quantization.hpp"

/// Conversions of floats to int8 and back, and products of int8 by XNNPACK.
namespace davit::xnnpack_parts {

/// The float to int8 conversion of a quantize node.
struct Quantizer {
  Quantization quantization;
  float inverse = 1;  ///< 1 / scale, rounded to float after the division, as in PyTorch
  std::int32_t low = -128;
  std::int32_t high = 127;
};

/// The scale and zero point for XNNPACK; nothing outside its range.
[[nodiscard]] constexpr std::optional<Quantization> steps_of(const operators::QuantizationView& view) noexcept {
  const bool fits = view.scale >= 1e-30 && view.scale <= 1e30 && view.zero_point >= -128 && view.zero_point <= 127;
  return fits ? std::optional(Quantization{static_cast<float>(view.scale), static_cast<std::int32_t>(view.zero_point)})
              : std::nullopt;
}

/// The quantizer of a quantize_per_tensor node to int8 and of clamps before it; nothing for other nodes and for numbers
/// outside XNNPACK's range.
[[nodiscard]] constexpr std::optional<Quantizer> quantizer_of(operators::QuantizationView view,
                                                              const operators::ClampView& bounds = {}) noexcept {
  if (!view.quantizes || view.scales != no_id) return std::nullopt;
  const std::optional<Quantization> steps = steps_of(view);
  if (!steps || view.low < -128 || view.high > 127 || !operators::narrow(view, bounds) || view.low >= view.high)
    return std::nullopt;
  return Quantizer{*steps, static_cast<float>(1.0 / view.scale), static_cast<std::int32_t>(view.low),
                   static_cast<std::int32_t>(view.high)};
}

/// The quantize node that is the only user of `value`, possibly behind a clamp; absorb_quantizer fuses both.
struct QuantizedResult {
  NodeId clamp = no_id;
  NodeId node = no_id;
  ValueId value = no_id;
  Quantizer quantizer;
};
[[nodiscard]] inline std::optional<QuantizedResult> find_quantizer(const Planner& planner, ValueId value) {
  QuantizedResult out;
  out.node = planner.only_user(value);
  operators::ClampView bounds;
  if (out.node != no_id && !operators::read_clamp(planner.calls().call(out.node), bounds)) {
    out.clamp = out.node;
    out.node = planner.only_user(Call(planner.graph(), out.clamp).output());
  }
  if (out.node == no_id) return std::nullopt;
  operators::QuantizationView view;
  if (operators::read_quantization(planner.calls().call(out.node), view)) return std::nullopt;
  const std::optional<Quantizer> quantizer = quantizer_of(view, bounds);
  if (!quantizer) return std::nullopt;
  out.value = planner.calls().call(out.node).output();
  out.quantizer = *quantizer;
  return out;
}
inline void absorb_quantizer(Planner& planner, const QuantizedResult& result) {
  if (result.clamp != no_id) planner.absorb(result.clamp);
  planner.absorb(result.node);
}

namespace detail {

/// Emits a product of int8 with int8 weights to int8: its input is dequantized, and its result is only quantized.
[[nodiscard]] inline bool emit_quantized_weights(Planner& p, const Call& call, ValueId x, ValueId w, ValueId bias,
                                                 Step step, const DimOrder& order, bool transposed) {
  if (!p.int8_kernels() || !p.state(x).dequantized || !p.state(w).constant || !p.state(w).packed) return false;
  const QuantizedTensor& q = p.state(w).weights;
  const std::size_t out_dim = transposed ? 1 : 0;
  if (q.scales.size() != 1 && q.axis != out_dim) return false;
  for (const std::int32_t zero : q.zero_points)
    if (zero != 0) return false;
  const Tensor* b = bias == no_id ? nullptr : p.constant(bias);
  if (bias != no_id && b == nullptr) return false;
  const std::optional<QuantizedResult> result = find_quantizer(p, call.output());
  if (!result) return false;
  const float si = p.state(x).quantization.scale;
  const float so = result->quantizer.quantization.scale;
  for (const float sw : q.scales)
    if (!(sw > 1e-30f && si * sw / so > 1e-9f && si * sw / so < 256.0f)) return false;
  Weights weights{
      .kernel = q.integers, .transposed = transposed, .bias = b == nullptr ? Tensor{} : *b, .kernel_scales = q.scales};
  step.op = Op::quantized_convolution;
  step.quantization = {p.state(x).quantization, result->quantizer.quantization};
  step.low = result->quantizer.low;
  step.high = result->quantizer.high;
  step.in = p.need_raw(x, order);
  step.weights = p.add_weights(std::move(weights));
  absorb_quantizer(p, *result);
  step.out = p.define(result->value, order);
  p.add(step, call.id());
  return true;
}

[[nodiscard]] constexpr const char* read_quantize(const Call& call, operators::QuantizationView& view) {
  if (const operators::Refusal wrong = operators::read_quantization(call.arguments(), view)) return wrong.what;
  if (const char* reason = refuses_tensor(call, view.input)) return reason;
  if (const char* reason = refuses_tensor(call, call.output(), ScalarType::int8)) return reason;
  if (const char* reason = refuses_other_sizes(call, view.input)) return reason;
  return quantizer_of(view) ? nullptr : "a scale, a zero point or limits that are not literal numbers of int8";
}
inline void emit_quantize(Planner& p, const Call& call, const operators::QuantizationView& view) {
  const ValueId x = view.input;
  const Quantizer q = *quantizer_of(view);
  if (p.state(x).dequantized && p.state(x).quantization == q.quantization && q.low == -128 && q.high == 127) {
    const std::uint32_t any = p.raw(x);
    const std::uint32_t from = p.need_raw(x, p.plan.slots[any].order);
    return p.alias(call.output(), from, p.plan.slots[from].order);
  }
  emit_kernel(p, call, KernelOrder::elementwise);
}

[[nodiscard]] constexpr const char* read_dequantize(const Call& call, operators::QuantizationView& view) {
  if (const operators::Refusal wrong = operators::read_quantization(call.arguments(), view)) return wrong.what;
  if (const char* reason = refuses_tensor(call, view.input, ScalarType::int8)) return reason;
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  if (const char* reason = refuses_other_sizes(call, view.input)) return reason;
  return steps_of(view) ? nullptr : "a scale or zero point that is not a literal number of int8";
}
/// Emits nothing: users of the floats request them.
inline void emit_dequantize(Planner& p, const Call& call, const operators::QuantizationView& view) {
  const ValueId x = view.input;
  const Quantization q = *steps_of(view);
  ValueState& state = p.state(call.output());
  if (const Tensor* t = p.constant(x)) {
    state.constant = state.packed = true;
    state.weights = {*t, {q.scale}, {q.zero_point}, 0};
    return;
  }
  const std::uint32_t any = p.raw(x);
  const std::uint32_t from = p.need_raw(x, p.plan.slots[any].order, true);
  state.dequantized = true;
  state.quantization = q;
  p.alias(call.output(), from, p.plan.slots[from].order);
}

[[nodiscard]] constexpr const char* read_dequantize_channels(const Call& call, operators::QuantizationView& view) {
  if (const operators::Refusal wrong = operators::read_quantization(call.arguments(), view)) return wrong.what;
  if (const char* reason = refuses_tensor(call, view.input, ScalarType::int8)) return reason;
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  if (const char* reason = refuses_other_sizes(call, view.input)) return reason;
  if (const char* reason = refuses_tensor(call, view.scales)) return reason;
  if (!call.is_tensor(view.zero_points) || call.dtype(view.zero_points) != ScalarType::int64)
    return "zero points that are not int64";
  for (const ValueId v : {view.scales, view.zero_points})
    if (call.rank(v) != 1 || call.fixed(v, 0) < 1 || call.fixed(v, 0) != call.fixed(view.input, view.axis))
      return "parameters that are not one number per channel";
  return nullptr;
}
/// Keeps constant weights int8 for users that take int8.
inline void emit_dequantize_channels(Planner& p, const Call& call, const operators::QuantizationView& view) {
  const Tensor* integers = p.constant(view.input);
  const Tensor* scales = p.constant(view.scales);
  const Tensor* zeros = p.constant(view.zero_points);
  if (integers == nullptr || scales == nullptr || zeros == nullptr) return emit_kernel(p, call, KernelOrder::rows);
  const Tensor s = padded_copy(*scales);
  const Tensor z = padded_copy(*zeros);
  const std::span<const std::int64_t> points(z.view().as<std::int64_t>(), static_cast<std::size_t>(z.numel()));
  // others are not of int8; float32 has all differences of these and bytes
  if (std::ranges::any_of(points, [](std::int64_t zero) { return zero < -1024 || zero > 1024; }))
    return emit_kernel(p, call, KernelOrder::rows);
  ValueState& state = p.state(call.output());
  state.constant = state.packed = true;
  state.weights = {*integers, {}, {}, view.axis};
  for (std::size_t c = 0; c < points.size(); ++c) {
    state.weights.scales.push_back(s.view().as<float>()[c]);
    state.weights.zero_points.push_back(static_cast<std::int32_t>(points[c]));
  }
}

}  // namespace detail

inline constexpr auto quantized_rules = std::to_array<Rule>({
    rule<operators::QuantizationView, detail::read_dequantize_channels, detail::emit_dequantize_channels>(
        "quantized_decomposed.dequantize_per_channel.default"),
    rule<operators::QuantizationView, detail::read_dequantize, detail::emit_dequantize>(
        "quantized_decomposed.dequantize_per_tensor.default"),
    rule<operators::QuantizationView, detail::read_quantize, detail::emit_quantize>(
        "quantized_decomposed.quantize_per_tensor.default"),
});

}  // namespace davit::xnnpack_parts
