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
  const std::uint32_t from = p.need(x);
  Step step{.op = Op::quantize, .quantization = {Quantization{}, {}, q.quantization}, .low = q.low, .high = q.high};
  step.in[0] = from;
  step.out = p.define(call.output(), p.plan.slots[from].order);
  p.add(step, call.id());
}

[[nodiscard]] constexpr const char* refuses_dequantize(const Call& call) noexcept {
  if (const char* reason = refuses_tensor(call, call.value("input"), ScalarType::int8)) return reason;
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  const std::optional<double> scale = call.number("scale");
  const std::int64_t zero = call.integer("zero_point", INT64_MIN);
  return scale && *scale >= 1e-30 && *scale <= 1e30 && zero >= -128 && zero <= 127
             ? nullptr
             : "a scale or zero point that is not a literal number of int8";
}
/// Makes nothing yet: those who need floats ask for them.
inline void emit_dequantize(Planner& p, const Call& call) {
  const ValueId x = call.value("input");
  const Quantization q{static_cast<float>(*call.number("scale")),
                       static_cast<std::int32_t>(call.integer("zero_point", 0))};
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
  const ValueId x = call.value("input");
  if (const char* reason = refuses_tensor(call, x, ScalarType::int8)) return reason;
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  if (call.axis(call.integer("axis", INT64_MIN), call.rank(x)) < 0) return "an axis that is not a literal number";
  const auto axis = static_cast<std::size_t>(call.axis(call.integer("axis", 0), call.rank(x)));
  const ValueId scales = call.value("scales");
  const ValueId zeros = call.value("zero_points");
  if (const char* reason = refuses_tensor(call, scales)) return reason;
  if (!call.is_tensor(zeros) || call.dtype(zeros) != ScalarType::int64) return "zero points that are not int64";
  for (const ValueId v : {scales, zeros})
    if (call.rank(v) != 1 || call.fixed(v, 0) < 1 || call.fixed(v, 0) != call.fixed(x, axis))
      return "parameters that are not one number per channel";
  return nullptr;
}
/// Constant weights stay int8 for those who can use them so.
inline void emit_dequantize_channels(Planner& p, const Call& call) {
  const ValueId x = call.value("input");
  const auto axis = static_cast<std::size_t>(call.axis(call.integer("axis", 0), p.rank(x)));
  const Tensor* integers = p.constant(x);
  const Tensor* scales = p.constant(call.value("scales"));
  const Tensor* zeros = p.constant(call.value("zero_points"));
  ValueState& state = p.state(call.output());
  if (integers != nullptr && scales != nullptr && zeros != nullptr) {
    state.constant = state.packed = true;
    state.weights = {*integers, {}, {}, axis};
    const Tensor s = padded_copy(*scales);
    const Tensor z = padded_copy(*zeros);
    for (std::int64_t c = 0; c < s.numel(); ++c) {
      state.weights.scales.push_back(s.view().as<float>()[c]);
      const std::int64_t zero = z.view().as<std::int64_t>()[c];
      state.weights.zero_points.push_back(zero < -1024 || zero > 1024 ? 1024 : static_cast<std::int32_t>(zero));
    }
    return;
  }
  const DimOrder order = DimOrder::row_major(p.rank(x));
  const DimOrder vector = DimOrder::row_major(1);
  Step step{.op = Op::dequantize_channels, .axis = static_cast<std::uint32_t>(axis)};
  step.in = {p.need_raw(x, order), p.need(call.value("scales"), vector), p.need(call.value("zero_points"), vector)};
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
