// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "davit/backend/embed_contract.hpp"
#include "davit/backends/portable/int8/conv2d.hpp"
#include "davit/backends/portable/int8/depthwise.hpp"
#include "davit/backends/portable/int8/fold_requantize.hpp"
#include "davit/backends/portable/int8/linear.hpp"

namespace davit::int8_fold {

struct int8_conv2d {
  using Params = int8_kernels::Conv2d;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, std::int32_t* scratch, const T* x,
                                                   const std::int8_t* weights, const float* scales,
                                                   const float* bias) noexcept {
    int8_kernels::conv2d(x, weights, scales, bias, y, scratch, p);
  }
};
struct int8_depthwise3x3 {
  using Params = int8_kernels::Conv2d;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, std::int32_t* scratch, const T* x,
                                                   const std::int8_t* weights, const float* scales,
                                                   const float* bias) noexcept {
    int8_kernels::depthwise3x3(x, weights, scales, bias, y, scratch, p);
  }
};
/// Results are bytes like x's, or float.
struct int8_linear {
  using Params = int8_kernels::Linear;
  template <class Y, class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, Y* y, const T* x, const std::int8_t* weights,
                                                   const float* scales, const float* bias) noexcept {
    int8_kernels::linear(x, weights, scales, bias, y, p);
  }
};

using int8_conv_kernels = kernel_list<int8_conv2d, int8_depthwise3x3, int8_linear>;

namespace detail {

/// Sizes of a convolution of rank 3 or 4 from its node. Groups of 0 mean that it is none this header computes.
[[nodiscard]] constexpr int8_kernels::Conv2dShape shape_of(const EmbedNode& n) noexcept {
  const EmbedGraph& g = n.g;
  const ValueId x = n.value("input");
  const ValueId w = n.value("weight");
  const ValueId y = n.output();
  int8_kernels::Conv2dShape s;
  s.groups = 0;
  if (x == no_id || w == no_id || n.flag("transposed") || (g.rank(x) != 3 && g.rank(x) != 4) || g.rank(w) != g.rank(x))
    return s;
  const auto size = [&](ValueId v, std::int64_t d) { return static_cast<std::int32_t>(g.size(v, d)); };
  const auto last = [&](const char* name, std::int64_t fallback) {
    return static_cast<std::int32_t>(n.integers<2>(name, fallback)[1]);
  };
  const auto first = [&](const char* name, std::int64_t fallback) {
    return static_cast<std::int32_t>(n.integers<2>(name, fallback)[0]);
  };
  if (const StaticArgument* padding = n.argument("padding"); padding != nullptr && padding->kind == ArgumentKind::string)
    return s;
  if (n.integer("groups", 1) < 1) return s;
  s.groups = static_cast<std::int32_t>(n.integer("groups", 1));
  s.batch = size(x, 0);
  s.in_channels = size(w, 1);
  s.out_channels = size(w, 0) / s.groups;
  s.in_w = size(x, -1);
  s.out_w = size(y, -1);
  s.kernel_w = size(w, -1);
  s.stride_w = last("stride", 1);
  s.pad_w = last("padding", 0);
  s.dilation_w = last("dilation", 1);
  if (g.rank(x) == 3) return s;
  s.in_h = size(x, -2);
  s.out_h = size(y, -2);
  s.kernel_h = size(w, -2);
  s.stride_h = first("stride", 1);
  s.pad_h = first("padding", 0);
  s.dilation_h = first("dilation", 1);
  return s;
}

constexpr void add_weights(StepOperands& operands, const Weights& w, const Bias& bias) {
  operands.in(w.value);
  if (w.scales != no_id)
    operands.in(w.scales);
  else
    operands.none(ScalarType::float32);
  if (bias.dequantized.empty())
    operands.in(bias.value);
  else
    operands.table(std::span<const float>(bias.dequantized));
}

}  // namespace detail

/// dequantize -> convolution -> [bounds] -> quantize. False if `n` is no convolution that fits.
[[nodiscard]] constexpr bool fold_convolution(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  if (!n.is("aten.convolution.default") && !n.is("aten.conv2d.default") && !n.is("aten.conv1d.default")) return false;
  const int8_kernels::Conv2dShape s = detail::shape_of(n);
  if (s.groups == 0) return false;
  const Quantized in = source_of(n.g, n.value("input"));
  const Weights w = weights_of(n.g, n.value("weight"), false);
  const std::int64_t channels = std::int64_t{s.groups} * s.out_channels;
  int8_kernels::Conv2d p{
      .shape = s, .weight_scale = static_cast<float>(w.scale), .pointwise = int8_kernels::is_pointwise(s) ? 1 : 0};
  if (!in.found() || !w.found()) return false;
  const Bias bias = bias_of(n.g, n.value("bias"), channels);
  if (!bias.good) return false;
  if (!find_requantize(n.g, in, out, w, bias, channels, std::int64_t{s.in_channels} * s.kernel_h * s.kernel_w, p.q))
    return false;
  const bool depthwise = int8_kernels::is_depthwise3x3(s);
  const std::size_t bytes = depthwise ? int8_kernels::depthwise3x3_scratch(s) : int8_kernels::conv2d_scratch(s);
  const std::uint32_t scratch = steps.temporary(ScalarType::int32, static_cast<std::int64_t>((bytes + 3) / 4));
  StepOperands operands = depthwise ? steps.step<int8_depthwise3x3>(p) : steps.step<int8_conv2d>(p);
  operands.out(out.value).scratch(scratch).in(in.value);
  detail::add_weights(operands, w, bias);
  return true;
}

namespace detail {

/// The operands of addmm, mm and linear by one set of names.
struct LinearNode {
  ValueId x = no_id, weight = no_id, bias = no_id;
  bool transposed = false;
};
[[nodiscard]] constexpr LinearNode linear_node(const EmbedNode& n) noexcept {
  if (n.is("aten.linear.default")) return {n.value("input"), n.value("weight"), n.value("bias"), false};
  if (n.is("aten.mm.default")) return {n.value("self"), n.value("mat2"), no_id, true};
  if (n.is("aten.addmm.default") && n.number("beta", 1) == 1 && n.number("alpha", 1) == 1)
    return {n.value("mat1"), n.value("mat2"), n.value("self"), true};
  return {};
}

}  // namespace detail

/// dequantize -> addmm, mm or linear -> [bounds] -> quantize, or without a quantize (then `out` has no scale).
[[nodiscard]] constexpr bool fold_linear(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  const detail::LinearNode node = detail::linear_node(n);
  if (node.x == no_id || n.g.rank(node.x) == 0) return false;
  const Quantized in = source_of(n.g, node.x);
  const Weights w = weights_of(n.g, node.weight, node.transposed);
  if (!in.found() || !w.found()) return false;
  const std::int64_t outputs = n.g.size(w.value, 0);
  const std::int64_t taps = n.g.size(w.value, 1);
  if (n.g.size(node.x, -1) != taps || taps == 0) return false;
  const Bias bias = bias_of(n.g, node.bias, outputs);
  if (!bias.good) return false;
  int8_kernels::Linear p{.rows = static_cast<std::int32_t>(n.g.numel(node.x) / taps),
                         .in_features = static_cast<std::int32_t>(taps),
                         .out_features = static_cast<std::int32_t>(outputs),
                         .weight_scale = static_cast<float>(w.scale),
                         .input_scale = static_cast<float>(in.scale)};
  p.q.input_zero_point = in.zero_point;
  if (out.scale != 0 && !find_requantize(n.g, in, out, w, bias, outputs, taps, p.q)) return false;
  if (out.scale == 0 && taps > 32768) return false;
  StepOperands operands = steps.step<int8_linear>(p);
  operands.out(out.value).in(in.value);
  detail::add_weights(operands, w, bias);
  return true;
}

}  // namespace davit::int8_fold
