// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backend/embed_contract.hpp"
#include "davit/backends/portable/int8/convert.hpp"
#include "davit/backends/portable/int8/fold_conv.hpp"
#include "davit/backends/portable/int8/fold_elementwise.hpp"
#include "davit/backends/portable/int8/fold_pool.hpp"
#include "davit/backends/portable/int8/softmax.hpp"
#include "davit/program/operators/folds.hpp"
#include "davit/program/operators/quantization.hpp"
#include "davit/program/operators/softmax.hpp"

/// Portable's int8 part for static programs: a quantize node matches the pattern that it ends, and writes one integer
/// step for all of it. Nodes outside patterns are computed in float, as in the graph.
namespace davit::int8_fold {

struct int8_softmax {
  using Params = int8_kernels::Softmax;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, const T* x) noexcept {
    int8_kernels::softmax(x, y, p);
  }
};
struct int8_quantize {
  using Params = int8_kernels::Quantize;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, const float* x) noexcept {
    int8_kernels::quantize(x, y, p);
  }
};
struct int8_dequantize {
  using Params = int8_kernels::Dequantize;
  template <class T, class Z>
  [[gnu::always_inline]] static constexpr void run(const Params& p, float* y, const T* x, const float* scales,
                                                   const Z* zero_points) noexcept {
    int8_kernels::dequantize(x, scales, zero_points, y, p);
  }
};

/// dequantize -> softmax over the last dimension -> quantize.
[[nodiscard]] constexpr bool fold_softmax(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  operators::SoftmaxView v;
  if (operators::read_softmax(n, v) || v.logarithm) return false;
  const EmbedGraph& g = n.g;
  const ValueId x = v.input;
  const Quantized in = source_of(g, x);
  if (!in.found() || in.dtype != out.dtype || g.rank(x) == 0 || g.numel(x) == 0 || out.low != -128 || out.high != 127)
    return false;
  const std::int64_t count = g.size(x, -1);
  const double inverse = 256 / out.scale;
  if (v.dim + 1 != g.rank(x) || count > 1 << 16 || !(in.scale > 0) || in.scale > 4 || !(inverse > 0) ||
      inverse >= 2147483648.0)
    return false;
  int8_kernels::Softmax p{.rows = static_cast<std::int32_t>(g.numel(x) / count),
                          .count = static_cast<std::int32_t>(count)};
  for (int bit = 0; bit < 8; ++bit)
    p.powers[bit] = static_cast<std::int32_t>(int8_kernels::exponential(-in.scale * (1 << bit)) * 2147483647.0);
  p.start = 1 << 30;
  for (std::int64_t room = 1; room < count; room *= 2) p.start >>= 1;
  p.inverse_scale = static_cast<std::int32_t>(int8_kernels::nearest_even(inverse));
  p.output_zero_point = out.zero_point;
  steps.step<int8_softmax>(p).out(out.value).in(in.value);
  return true;
}

namespace detail {

/// quantize_per_tensor: the end of a pattern, or a conversion from float.
[[nodiscard]] constexpr const char* embed_quantize(const EmbedNode& n, StepWriter& steps) {
  const EmbedGraph& g = n.g;
  operators::QuantizationView v;
  if (const operators::Refusal wrong = operators::read_quantization(n, v)) return wrong.what;
  const ValueId x = v.input;
  if (g.dtype(x) != ScalarType::float32) return "the quantized tensor is not float32";
  if (!is_byte(g.dtype(n.output()))) return "the result is neither int8 nor uint8";
  if (!(v.scale > 0)) return "the scale is not positive";
  const Quantized whole = quantized(g, n.output(), v);
  const ValueId inner = operators::through_bounds(g, x, v, no_id);
  const Quantized out = quantized(g, n.output(), v);
  if (out.low <= out.high) {
    if (fold_copy(g, inner, out, steps)) return nullptr;
    if (const NodeId producer = operators::inner_producer(g, inner); producer != no_id) {
      const EmbedNode op{g, producer};
      if (fold_convolution(op, out, steps) || fold_linear(op, out, steps) || fold_pool(op, out, steps) ||
          fold_binary(op, out, steps) || fold_unary(op, out, steps) || fold_softmax(op, out, steps) ||
          fold_cat(op, out, steps) || fold_permute(op, out, steps))
        return nullptr;
    }
  }
  int8_kernels::Quantize p = quantize_to(whole);
  p.count = static_cast<std::int32_t>(g.numel(x));
  steps.step<int8_quantize>(p).out(n.output()).in(x).overwrites(x);
  return nullptr;
}

/// dequantize_per_tensor and dequantize_per_channel with float users.
[[nodiscard]] constexpr const char* embed_dequantize(const EmbedNode& n, StepWriter& steps) {
  const EmbedGraph& g = n.g;
  operators::QuantizationView v;
  if (const operators::Refusal wrong = operators::read_quantization(n, v)) return wrong.what;
  const ValueId x = v.input;
  if (!is_byte(g.dtype(x)) && g.dtype(x) != ScalarType::int16 && g.dtype(x) != ScalarType::int32)
    return "the input is neither int8, uint8, int16 nor int32";
  if (g.dtype(n.output()) != ScalarType::float32) return "the result is not float32";
  int8_kernels::Dequantize p{.inner = static_cast<std::int32_t>(g.numel(x)),
                             .scale = static_cast<float>(v.scale),
                             .zero_point = static_cast<float>(v.zero_point)};
  const ValueId scales = v.scales;
  const ValueId zero_points = is_zero(g, v.zero_points) ? no_id : v.zero_points;
  if (scales != no_id) {
    if (g.dtype(scales) != ScalarType::float32) return "the scales are not a float32 tensor";
    if (zero_points != no_id && g.dtype(zero_points) != ScalarType::int64)
      return "the zero points are not an int64 tensor";
    for (std::uint32_t d = 0; d < v.axis; ++d) p.outer *= static_cast<std::int32_t>(g.size(x, d));
    p.channels = static_cast<std::int32_t>(g.size(x, static_cast<std::int64_t>(v.axis)));
    if (p.outer * p.channels != 0) p.inner /= p.outer * p.channels;
  }
  StepOperands operands = steps.step<int8_dequantize>(p);
  operands.out(n.output()).in(x).in(scales);
  if (zero_points != no_id)
    operands.in(zero_points);
  else
    operands.none(ScalarType::int64);
  return nullptr;
}

/// addmm, mm, linear and linear_packed on dequantized operands with a float result. It precedes the rows of float
/// kernels.
[[nodiscard]] constexpr const char* embed_linear(const EmbedNode& n, StepWriter& steps) {
  if (n.g.dtype(n.output()) != ScalarType::float32) return "the result is not float32";
  return fold_linear(n, {.value = n.output()}, steps) ? nullptr : "the operands are not dequantized";
}

}  // namespace detail

using int8_kernels_list = joined_kernels<int8_conv_kernels, int8_pool_kernels, int8_elementwise_kernels,
                                         kernel_list<int8_softmax, int8_quantize, int8_dequantize>>;

inline constexpr std::array int8_rows{
    EmbedRow{"quantized_decomposed.quantize_per_tensor.default", detail::embed_quantize},
    EmbedRow{"quantized_decomposed.dequantize_per_tensor.default", detail::embed_dequantize},
    EmbedRow{"quantized_decomposed.dequantize_per_channel.default", detail::embed_dequantize},
    EmbedRow{"aten.addmm.default", detail::embed_linear},
    EmbedRow{"aten.linear.default", detail::embed_linear},
    EmbedRow{"aten.mm.default", detail::embed_linear},
    EmbedRow{"davit.linear_packed.rows", detail::embed_linear},
};

}  // namespace davit::int8_fold
