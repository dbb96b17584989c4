// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "davit/backends/xnnpack/quantizer.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// int8 in, weights and out: the input was dequantized, and the result is quantized and nothing else.
[[nodiscard]] inline bool emit_quantized_weights(Planner& p, const Call& call, ValueId x, ValueId w, ValueId bias,
                                                 Step step, const Order& order, bool transposed) {
  if (!p.int8_kernels() || !p.known(x).dequantized || !p.known(w).constant || !p.known(w).packed) return false;
  const QuantizedTensor& q = p.known(w).weights;
  const std::size_t out_dim = transposed ? 1 : 0;
  if (q.scales.size() != 1 && q.axis != out_dim) return false;
  for (const std::int32_t zero : q.zero_points)
    if (zero != 0) return false;
  const Tensor* b = bias == no_id ? nullptr : p.constant(bias);
  if (bias != no_id && b == nullptr) return false;
  const std::optional<QuantizedResult> result = find_quantizer(p, call.output());
  if (!result) return false;
  const float si = p.known(x).quantization.scale;
  const float so = result->quantizer.quantization.scale;
  for (const float sw : q.scales)
    if (!(sw > 1e-30f && si * sw / so > 1e-9f && si * sw / so < 256.0f)) return false;
  Weights weights{
      .kernel = q.integers, .transposed = transposed, .bias = b == nullptr ? Tensor{} : *b, .kernel_scales = q.scales};
  step.op = Op::quantized_convolution;
  step.quantization = {p.known(x).quantization, {}, result->quantizer.quantization};
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
