// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/bounds.hpp"
#include "davit/program/operators/quantization.hpp"

namespace davit::xnnpack_parts {

/// How a quantize node turns floats to int8.
struct Quantizer {
  Quantization quantization;
  float inverse = 1;  ///< 1 / scale, divided before it is a float, as PyTorch does
  std::int32_t low = -128;
  std::int32_t high = 127;
};

/// Scale and zero point as XNNPACK has them; nothing for what it cannot have.
[[nodiscard]] constexpr std::optional<Quantization> steps_of(const operators::QuantizationView& view) noexcept {
  const bool fits = view.scale >= 1e-30 && view.scale <= 1e30 && view.zero_point >= -128 && view.zero_point <= 127;
  return fits ? std::optional(Quantization{static_cast<float>(view.scale), static_cast<std::int32_t>(view.zero_point)})
              : std::nullopt;
}

/// The quantizer of a quantize_per_tensor node to int8, and bounds before it; nothing for other nodes and what XNNPACK
/// cannot have.
[[nodiscard]] constexpr std::optional<Quantizer> quantizer_of(const Call& call,
                                                              const operators::BoundsView& bounds = {}) noexcept {
  operators::QuantizationView view;
  if (operators::read_quantization(call.arguments(), view) || !view.quantizes || view.scales != no_id)
    return std::nullopt;
  const std::optional<Quantization> steps = steps_of(view);
  if (!steps || view.low < -128 || view.high > 127 || !operators::narrow(view, bounds) || view.low >= view.high)
    return std::nullopt;
  return Quantizer{*steps, static_cast<float>(1.0 / view.scale), static_cast<std::int32_t>(view.low),
                   static_cast<std::int32_t>(view.high)};
}

/// The quantize node that alone uses `value`, perhaps behind a clamp; it and the clamp are taken in with
/// absorb_quantizer.
struct QuantizedResult {
  NodeId clamp = no_id;
  NodeId node = no_id;
  ValueId value = no_id;
  Quantizer quantizer;
};
[[nodiscard]] inline std::optional<QuantizedResult> find_quantizer(const Planner& planner, ValueId value) {
  QuantizedResult out;
  out.node = planner.only_user(value);
  operators::BoundsView bounds;
  if (out.node != no_id && !operators::read_bounds(planner.calls().call(out.node), bounds)) {
    out.clamp = out.node;
    out.node = planner.only_user(Call(planner.graph(), out.clamp).output());
  }
  if (out.node == no_id) return std::nullopt;
  const Call call(planner.graph(), out.node);
  const std::optional<Quantizer> quantizer = quantizer_of(call, bounds);
  if (!quantizer) return std::nullopt;
  out.value = call.output();
  out.quantizer = *quantizer;
  return out;
}
inline void absorb_quantizer(Planner& planner, const QuantizedResult& result) {
  if (result.clamp != no_id) planner.absorb(result.clamp);
  planner.absorb(result.node);
}

namespace detail {

/// int8 in, weights and out: the input was dequantized, and the result is quantized and nothing else.
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
  step.quantization = {p.state(x).quantization, {}, result->quantizer.quantization};
  step.low = result->quantizer.low;
  step.high = result->quantizer.high;
  step.in[0] = p.need_raw(x, order);
  step.weights = p.add_weights(std::move(weights));
  absorb_quantizer(p, *result);
  step.out = p.define(result->value, order);
  p.add(step, call.id());
  return true;
}

}  // namespace detail

}  // namespace davit::xnnpack_parts
