// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "davit/backend/embed_contract.hpp"
#include "davit/backends/portable/int8/conv2d.hpp"
#include "davit/backends/portable/int8/depthwise.hpp"
#include "davit/backends/portable/int8/fold_requantize.hpp"
#include "davit/backends/portable/int8/group_linear.hpp"
#include "davit/backends/portable/int8/linear.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/matmul.hpp"

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
/// The result's type: bytes like x's, or float.
struct int8_linear {
  using Params = int8_kernels::Linear;
  template <class Y, class T, class W>
  [[gnu::always_inline]] static constexpr void run(const Params& p, Y* y, const T* x, const W* weights,
                                                   const float* scales, const float* bias) noexcept {
    int8_kernels::linear(x, weights, scales, bias, y, p);
  }
};
/// The result's type: bytes, or float.
struct int8_group_linear {
  using Params = int8_kernels::GroupLinear;
  template <class Y, class T, class W>
  [[gnu::always_inline]] static constexpr void run(const Params& p, Y* y, const T* x, const W* weights,
                                                   const float* scales, const float* bias) noexcept {
    int8_kernels::group_linear(x, weights, scales, bias, y, p);
  }
};

using int8_conv_kernels = kernel_list<int8_conv2d, int8_depthwise3x3, int8_linear, int8_group_linear>;

namespace detail {

/// Sizes of a convolution with a batch dimension; groups = 0 for one that this header cannot compute.
[[nodiscard]] constexpr int8_kernels::Conv2dShape shape_of(const EmbedNode& n,
                                                           const operators::ConvolutionView& v) noexcept {
  int8_kernels::Conv2dShape s;
  s.groups = 0;
  if (v.transposed || !v.batched || v.dims > 2 || v.padding != v.padding_end) return s;
  const auto size = [&](ValueId t, std::int64_t d) { return static_cast<std::int32_t>(n.g.size(t, d)); };
  s.groups = static_cast<std::int32_t>(v.groups);
  s.batch = size(v.input, 0);
  s.in_channels = size(v.weight, 1);
  s.out_channels = size(v.weight, 0) / s.groups;
  s.in_w = size(v.input, -1);
  s.out_w = size(n.output(), -1);
  s.kernel_w = static_cast<std::int32_t>(v.kernel[2]);
  s.stride_w = static_cast<std::int32_t>(v.stride[2]);
  s.pad_w = static_cast<std::int32_t>(v.padding[2]);
  s.dilation_w = static_cast<std::int32_t>(v.dilation[2]);
  if (v.dims == 1) return s;
  s.in_h = size(v.input, -2);
  s.out_h = size(n.output(), -2);
  s.kernel_h = static_cast<std::int32_t>(v.kernel[1]);
  s.stride_h = static_cast<std::int32_t>(v.stride[1]);
  s.pad_h = static_cast<std::int32_t>(v.padding[1]);
  s.dilation_h = static_cast<std::int32_t>(v.dilation[1]);
  return s;
}

constexpr void add_weights(StepOperands& operands, const Weights& w, const Bias& bias) {
  operands.in(w.value).in(w.scales);
  if (bias.dequantized.empty())
    operands.in(bias.value);
  else
    operands.table(std::span<const float>(bias.dequantized));
}

}  // namespace detail

/// dequantize -> convolution -> [bounds] -> quantize. False if `n` is no such convolution.
[[nodiscard]] constexpr bool fold_convolution(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  operators::ConvolutionView v;
  if (operators::read_convolution(n, v)) return false;
  const int8_kernels::Conv2dShape s = detail::shape_of(n, v);
  if (s.groups == 0) return false;
  const Quantized in = source_of(n.g, v.input);
  const Weights w = weights_of(n.g, v.weight, false);
  const std::int64_t channels = std::int64_t{s.groups} * s.out_channels;
  int8_kernels::Conv2d p{
      .shape = s, .weight_scale = static_cast<float>(w.scale), .pointwise = int8_kernels::is_pointwise(s) ? 1 : 0};
  if (!in.found() || !w.found()) return false;
  const Bias bias = bias_of(n.g, v.bias, channels);
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

/// A linear layer of dequantized bytes: (rows, taps) times (outputs, taps), and a bias or none.
struct LinearView {
  ValueId input = no_id, bias = no_id;
  Weights weights{};
  std::int64_t outputs = 0, taps = 0;
  bool packed = false;  ///< its weights are PackedRows
};
[[nodiscard]] constexpr bool read_linear(const EmbedNode& n, LinearView& v) noexcept {
  if (n.is("davit.linear_packed.rows")) {
    PackedRows of;
    if (read_packed_rows(n, of) != nullptr || of.offsets != no_id || n.g.constant(of.weight) == nullptr) return false;
    v = {of.input, of.bias, {of.weight, of.scales, 0, of.groups}, of.outputs, of.depth, true};
    return true;
  }
  operators::MatmulView of;
  if (operators::read_matmul(n, of) || !of.is_plain() || !(of.transposed || of.rank == 2)) return false;
  v = {.input = of.left, .bias = of.addend, .weights = weights_of(n.g, of.right, !of.transposed)};
  if (!v.weights.found()) return false;
  v.outputs = n.g.size(v.weights.value, 0);
  v.taps = n.g.size(v.weights.value, 1);
  return v.taps != 0;
}

}  // namespace detail

/// dequantize -> addmm, mm, linear or linear_packed -> [bounds] -> quantize, or without a quantize (then `out` has no
/// scale). Packed weights that have groups, or whose scales are too many for constant evaluation, are scaled in float.
[[nodiscard]] constexpr bool fold_linear(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  detail::LinearView v;
  if (!detail::read_linear(n, v)) return false;
  const Quantized in = source_of(n.g, v.input);
  if (!in.found()) return false;
  const Weights& w = v.weights;
  const Bias bias = bias_of(n.g, v.bias, v.outputs);
  if (!bias.good) return false;
  const auto rows = static_cast<std::int32_t>(n.g.numel(v.input) / v.taps), taps = static_cast<std::int32_t>(v.taps),
             outputs = static_cast<std::int32_t>(v.outputs);
  int8_kernels::Linear p{.rows = rows,
                         .in_features = taps,
                         .out_features = outputs,
                         .weight_scale = static_cast<float>(w.scale),
                         .input_scale = static_cast<float>(in.scale)};
  p.q.input_zero_point = in.zero_point;
  const auto is_exact = [](std::int64_t count) { return count <= 32768; };
  if (w.groups == 1 &&
      (out.scale != 0 ? find_requantize(n.g, in, out, w, bias, v.outputs, v.taps, p.q) : is_exact(v.taps))) {
    StepOperands operands = steps.step<int8_linear>(p);
    operands.out(out.value).in(in.value);
    detail::add_weights(operands, w, bias);
    return true;
  }
  if (!v.packed || !is_exact(v.taps / w.groups)) return false;
  int8_kernels::GroupLinear grouped{.rows = rows,
                                    .in_features = taps,
                                    .out_features = outputs,
                                    .groups = static_cast<std::int32_t>(w.groups),
                                    .input_zero_point = in.zero_point,
                                    .input_scale = static_cast<float>(in.scale)};
  if (out.scale != 0) grouped.to = quantize_to(out);
  StepOperands operands = steps.step<int8_group_linear>(grouped);
  operands.out(out.value).in(in.value);
  detail::add_weights(operands, w, bias);
  return true;
}

}  // namespace davit::int8_fold
