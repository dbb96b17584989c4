// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/xnnpack/quantization.hpp"
#include "davit/backends/xnnpack/rule.hpp"

namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] constexpr const char* refuses_quantize(const Call& call) noexcept {
  if (const char* reason = refuses_tensor(call, call.value("input"))) return reason;
  if (const char* reason = refuses_tensor(call, call.output(), ScalarType::int8)) return reason;
  if (const char* reason = refuses_other_sizes(call, call.value("input"))) return reason;
  return quantizer_of(call) ? nullptr : "a scale, a zero point or limits that are not literal numbers of int8";
}
inline void emit_quantize(Planner& p, const Call& call) {
  const ValueId x = call.value("input");
  const Quantizer q = *quantizer_of(call);
  if (p.state(x).dequantized && p.state(x).quantization == q.quantization && q.low == -128 && q.high == 127) {
    const std::uint32_t any = p.raw(x);
    const std::uint32_t from = p.need_raw(x, p.plan.slots[any].order);
    return p.alias(call.output(), from, p.plan.slots[from].order);
  }
  const std::uint32_t from = p.need_dense(x);
  Step step{.op = Op::quantize,
            .alpha = q.inverse,
            .quantization = {Quantization{}, {}, q.quantization},
            .low = q.low,
            .high = q.high};
  step.in[0] = from;
  step.out = p.define(call.output(), p.plan.slots[from].order);
  p.add(step, call.id());
}

[[nodiscard]] constexpr const char* refuses_dequantize(const Call& call) noexcept {
  if (const char* reason = refuses_tensor(call, call.value("input"), ScalarType::int8)) return reason;
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  if (const char* reason = refuses_other_sizes(call, call.value("input"))) return reason;
  operators::QuantizationView view;
  return !operators::read_quantization(call.arguments(), view) && steps_of(view)
             ? nullptr
             : "a scale or zero point that is not a literal number of int8";
}
/// Makes nothing yet: those who need floats ask for them.
inline void emit_dequantize(Planner& p, const Call& call) {
  operators::QuantizationView view;
  (void)operators::read_quantization(call.arguments(), view);
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

[[nodiscard]] constexpr const char* refuses_dequantize_channels(const Call& call) noexcept {
  operators::QuantizationView view;
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
/// Constant weights stay int8 for those who can use them so.
inline void emit_dequantize_channels(Planner& p, const Call& call) {
  operators::QuantizationView view;
  (void)operators::read_quantization(call.arguments(), view);
  const Tensor* integers = p.constant(view.input);
  const Tensor* scales = p.constant(view.scales);
  const Tensor* zeros = p.constant(view.zero_points);
  ValueState& state = p.state(call.output());
  if (integers != nullptr && scales != nullptr && zeros != nullptr) {
    state.constant = state.packed = true;
    state.weights = {*integers, {}, {}, view.axis};
    const Tensor s = padded_copy(*scales);
    const Tensor z = padded_copy(*zeros);
    for (std::int64_t c = 0; c < s.numel(); ++c) {
      state.weights.scales.push_back(s.view().as<float>()[c]);
      const std::int64_t zero = z.view().as<std::int64_t>()[c];
      state.weights.zero_points.push_back(zero < -1024 || zero > 1024 ? 1024 : static_cast<std::int32_t>(zero));
    }
    return;
  }
  const DimOrder order = DimOrder::row_major(p.rank(view.input));
  const DimOrder vector = DimOrder::row_major(1);
  Step step{.op = Op::dequantize_channels, .axis = static_cast<std::uint32_t>(view.axis)};
  step.in = {p.need_raw(view.input, order), p.need(view.scales, vector), p.need(view.zero_points, vector)};
  step.out = p.define(call.output(), order);
  p.add(step, call.id());
}

}  // namespace detail

inline constexpr auto quantized_rules = std::to_array<Rule>({
    {"quantized_decomposed.dequantize_per_channel.default", detail::refuses_dequantize_channels,
     detail::emit_dequantize_channels},
    {"quantized_decomposed.dequantize_per_tensor.default", detail::refuses_dequantize, detail::emit_dequantize},
    {"quantized_decomposed.quantize_per_tensor.default", detail::refuses_quantize, detail::emit_quantize},
});

}  // namespace davit::xnnpack_parts
