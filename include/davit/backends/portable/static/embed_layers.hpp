// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/static/embed_elementwise.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/normalization.hpp"
#include "davit/program/operators/pooling.hpp"
#include "davit/program/operators/softmax.hpp"

/// Linear layers, convolutions, pooling, normalisation and softmax in float32, of portable's static face.
namespace davit::static_lowering {

[[nodiscard]] constexpr bool is_output_inner(const EmbedNode& n, ValueId weight) noexcept {
  const StaticInput* constant = n.g.constant(weight);
  return constant != nullptr && constant->layout == WeightLayout::output_inner;
}
[[nodiscard]] constexpr sf::Layout layout_of(const EmbedNode& n, ValueId weight) noexcept {
  return is_output_inner(n, weight) ? sf::Layout::output_inner : sf::Layout::contiguous;
}

/// The matrix of which `v` is the transpose, if the backend may look through the node that transposes it; else no_id.
[[nodiscard]] constexpr ValueId transposed_from(const EmbedNode& n, ValueId v) noexcept {
  const NodeId producer = n.g.producer(v);
  if (!n.g.is_assigned(producer)) return no_id;
  const EmbedNode p{n.g, producer};
  operators::PermutationView order;
  if (p.is("aten.transpose.int") || operators::read_permutation(p, order))
    return no_id;  // sums of a product with it keep their order
  return order.rank == 2 && order.from[0] == 1 ? order.input : no_id;
}

constexpr const char* write_linear(const EmbedNode& n, StepWriter& steps, ValueId x, ValueId weight, ValueId bias) {
  if (n.g.rank(weight) != 2 || n.g.rank(x) < 1) return "its weight is no matrix";
  const std::int64_t out = n.g.size(weight, 0), in = n.g.size(weight, 1);
  if (bias != no_id && (n.g.numel(bias) != out || n.g.dtype(bias) != ScalarType::float32))
    return "its bias is not one number per output";
  const sf::Linear p{int32(n.g.numel(x) / in), int32(in), int32(out), layout_of(n, weight), bias != no_id ? 1 : 0};
  StepOperands step = p.layout == sf::Layout::output_inner ? steps.step<linear_tiles>(p) : steps.step<linear_dots>(p);
  step.out(n.output()).in(x).in(weight).in(bias);
  return nullptr;
}
constexpr const char* write_product(const EmbedNode& n, StepWriter& steps, ValueId a, ValueId b) {
  const std::uint32_t rank = n.g.rank(a);
  if (rank != n.g.rank(b) || (rank != 2 && rank != 3)) return "its operands are no matrices";
  if (is_output_inner(n, b)) return "its weight is laid out for a linear";
  const auto batch = rank == 3 ? n.g.size(a, 0) : 1;
  steps.step<product>({int32(batch), int32(n.g.size(a, -2)), int32(n.g.size(b, -1)), int32(n.g.size(b, -2)), 0, 0})
      .out(n.output())
      .in(a)
      .in(b);
  return nullptr;
}
/// Of stacks of matrices with equal batch dimensions; the rows of a stack times one matrix are rows of one.
constexpr const char* write_stacks(const EmbedNode& n, StepWriter& steps, ValueId a, ValueId b) {
  const std::uint32_t rank = n.g.rank(b);
  if (n.g.rank(a) < 2 || rank < 2 || (rank > 2 && n.g.rank(a) != rank)) return "its operands are no matrices";
  if (is_output_inner(n, b)) return "its weight is laid out for a linear";
  std::int64_t batch = 1;
  for (std::uint32_t d = 0; d + 2 < rank; ++d) {
    if (n.g.size(a, d) != n.g.size(b, d)) return "its batch dimensions differ";
    batch *= n.g.size(b, d);
  }
  const std::int64_t k = n.g.size(b, -2);
  if (batch == 0 || k == 0) return "a tensor has no elements";
  steps.step<product>({int32(batch), int32(n.g.numel(a) / (batch * k)), int32(n.g.size(b, -1)), int32(k), 0, 0})
      .out(n.output())
      .in(a)
      .in(b);
  return nullptr;
}
constexpr const char* embed_matmul(const EmbedNode& n, StepWriter& steps) {
  operators::MatmulView v;
  if (const operators::Refusal wrong = operators::read_matmul(n, v)) return wrong.what;
  if (const char* why = not_float(n, v.left, v.right)) return why;
  if (v.transposed) return write_linear(n, steps, v.left, v.right, v.addend);
  const ValueId weight = n.g.rank(v.right) == 2 ? transposed_from(n, v.right) : no_id;
  if (v.addend == no_id) {
    if (weight != no_id && v.is_plain()) return write_linear(n, steps, v.left, weight, no_id);
    return v.rank == 0 ? write_stacks(n, steps, v.left, v.right) : write_product(n, steps, v.left, v.right);
  }
  if (const char* why = not_float(n, v.addend)) return why;
  const std::int64_t rows = n.g.size(n.output(), 0), columns = n.g.size(n.output(), 1);
  if (weight != no_id && v.is_plain() && n.g.rank(v.addend) == 1 && n.g.numel(v.addend) == columns)
    return write_linear(n, steps, v.left, weight, v.addend);
  if (const char* why = write_product(n, steps, v.left, v.right)) return why;
  const std::int64_t across = n.g.size(v.addend, -1);
  const std::int64_t down = n.g.rank(v.addend) == 2 ? n.g.size(v.addend, 0) : 1;
  steps
      .step<add_scaled>({int32(rows), int32(columns), down == 1 ? 0 : int32(across), across == 1 ? 0 : 1,
                         static_cast<float>(v.alpha), static_cast<float>(v.beta)})
      .out(n.output())
      .in(v.addend);
  return nullptr;
}

constexpr const char* embed_convolution(const EmbedNode& n, StepWriter& steps) {
  operators::ConvolutionView v;
  if (const operators::Refusal wrong = operators::read_convolution(n, v)) return wrong.what;
  if (const char* why = not_float(n, v.input, v.weight)) return why;
  if (v.bias != no_id && n.g.dtype(v.bias) != ScalarType::float32) return "not all of it is float32";
  if (v.transposed) return "it is transposed";
  if (v.dims > 2) return "it is over other than one or two dimensions";
  if (v.padding[1] != v.padding_end[1] || v.padding[2] != v.padding_end[2])
    return "its padding differs at the two ends";
  sf::Conv2d c;
  c.batch = v.batched ? int32(n.g.size(v.input, 0)) : 1;
  c.channels = int32(n.g.size(v.input, v.batched ? 1 : 0));
  c.filters = int32(n.g.size(v.weight, 0));
  c.groups = int32(v.groups);
  c.in_w = int32(n.g.size(v.input, -1));
  c.out_w = int32(n.g.size(n.output(), -1));
  if (v.dims == 2) {
    c.in_h = int32(n.g.size(v.input, -2));
    c.out_h = int32(n.g.size(n.output(), -2));
  }
  c.kernel_h = int32(v.kernel[1]);
  c.kernel_w = int32(v.kernel[2]);
  c.stride_h = int32(v.stride[1]);
  c.stride_w = int32(v.stride[2]);
  c.pad_h = int32(v.padding[1]);
  c.pad_w = int32(v.padding[2]);
  c.dilation_h = int32(v.dilation[1]);
  c.dilation_w = int32(v.dilation[2]);
  c.layout = layout_of(n, v.weight);
  c.bias = v.bias != no_id ? 1 : 0;
  StepOperands step = c.has_tiles() ? steps.step<conv2d_tiles>(c) : steps.step<conv2d_filters>(c);
  step.out(n.output()).in(v.input).in(v.weight).in(v.bias);
  return nullptr;
}

constexpr const char* embed_pool(const EmbedNode& n, StepWriter& steps) {
  operators::PoolView v;
  if (const operators::Refusal wrong = operators::read_pool(n, v)) return wrong.what;
  if (const char* why = not_float(n, v.input)) return why;
  if (v.dims != 2) return "it is over other than two dimensions";
  if (n.uses_output(1)) return "its indices are used";
  sf::Pool2d p;
  p.in_h = int32(n.g.size(v.input, -2));
  p.in_w = int32(n.g.size(v.input, -1));
  p.planes = int32(n.g.numel(v.input)) / (p.in_h * p.in_w);
  p.out_h = int32(n.g.size(n.output(), -2));
  p.out_w = int32(n.g.size(n.output(), -1));
  p.kernel_h = int32(v.kernel[1]);
  p.kernel_w = int32(v.kernel[2]);
  p.stride_h = int32(v.stride[1]);
  p.stride_w = int32(v.stride[2]);
  p.pad_h = int32(v.padding[1]);
  p.pad_w = int32(v.padding[2]);
  p.dilation_h = int32(v.dilation[1]);
  p.dilation_w = int32(v.dilation[2]);
  p.count_include_pad = v.count_include_pad ? 1 : 0;
  p.divisor = int32(v.divisor);
  (v.maximum ? steps.step<max_pool2d>(p) : steps.step<avg_pool2d>(p)).out(n.output()).in(v.input);
  return nullptr;
}
constexpr const char* embed_adaptive_pool(const EmbedNode& n, StepWriter& steps) {
  operators::AdaptivePoolView v;
  if (const operators::Refusal wrong = operators::read_adaptive_pool(n, v)) return wrong.what;
  if (const char* why = not_float(n, v.input)) return why;
  if (v.dims != 2) return "it is over other than two dimensions";
  const std::int32_t h = int32(n.g.size(v.input, -2)), w = int32(n.g.size(v.input, -1));
  steps.step<adaptive_avg_pool2d>({int32(n.g.numel(v.input)) / (h * w), h, w, int32(v.out[1]), int32(v.out[2])})
      .out(n.output())
      .in(v.input);
  return nullptr;
}

constexpr const char* embed_batch_norm(const EmbedNode& n, StepWriter& steps) {
  operators::BatchNormView v;
  if (const operators::Refusal wrong = operators::read_batch_norm(n, v)) return wrong.what;
  if (v.training) return "it trains";
  if (const char* why = not_float(n, v.input, v.mean)) return why;
  if (n.uses_output(1) || n.uses_output(2)) return "its batch statistics are used";
  const std::int32_t batch = int32(n.g.size(v.input, 0)), channels = int32(n.g.size(v.input, 1));
  steps.step<batch_norm>({batch, channels, int32(n.g.numel(v.input)) / (batch * channels), v.eps})
      .out(n.output())
      .in(v.input)
      .in(v.weight)
      .in(v.bias)
      .in(v.mean)
      .in(v.variance)
      .overwrites(v.input);
  return nullptr;
}
constexpr const char* embed_layer_norm(const EmbedNode& n, StepWriter& steps) {
  operators::LayerNormView v;
  if (const operators::Refusal wrong = operators::read_layer_norm(n, v)) return wrong.what;
  if (const char* why = not_float(n, v.input)) return why;
  if (n.uses_output(1) || n.uses_output(2)) return "its statistics are used";
  std::int64_t length = 1;
  for (std::size_t d = n.g.rank(v.input) - v.dims; d < n.g.rank(v.input); ++d) length *= n.size(v.input, d);
  steps.step<layer_norm>({int32(n.g.numel(v.input) / length), int32(length), v.eps})
      .out(n.output())
      .in(v.input)
      .in(v.weight)
      .in(v.bias)
      .overwrites(v.input);
  return nullptr;
}
constexpr const char* embed_softmax(const EmbedNode& n, StepWriter& steps) {
  operators::SoftmaxView v;
  if (const operators::Refusal wrong = operators::read_softmax(n, v)) return wrong.what;
  if (const char* why = not_float(n, v.input)) return why;
  const std::uint32_t rank = n.g.rank(v.input);
  if (rank == 0) return "it has no dimension";
  sf::Softmax p;
  for (std::uint32_t d = 0; d < rank; ++d)
    (d < v.dim ? p.outer : d == v.dim ? p.count : p.inner) *= int32(n.size(v.input, d));
  (v.logarithm ? steps.step<log_softmax>(p) : steps.step<softmax>(p)).out(n.output()).in(v.input).overwrites(v.input);
  return nullptr;
}

using layer_kernels =
    kernel_list<linear_tiles, linear_dots, product, add_scaled, conv2d_tiles, conv2d_filters, max_pool2d, avg_pool2d,
                adaptive_avg_pool2d, layer_norm, batch_norm, softmax, log_softmax>;

inline constexpr std::array layer_rows{
    EmbedRow{"aten.linear.default", embed_matmul},
    EmbedRow{"aten.mm.default", embed_matmul},
    EmbedRow{"aten.bmm.default", embed_matmul},
    EmbedRow{"aten.matmul.default", embed_matmul},
    EmbedRow{"aten.addmm.default", embed_matmul},
    EmbedRow{"aten.convolution.default", embed_convolution},
    EmbedRow{"aten.conv2d.default", embed_convolution},
    EmbedRow{"aten.conv1d.default", embed_convolution},
    EmbedRow{"aten.max_pool2d.default", embed_pool},
    EmbedRow{"aten.max_pool2d_with_indices.default", embed_pool},
    EmbedRow{"aten.avg_pool2d.default", embed_pool},
    EmbedRow{"aten._adaptive_avg_pool2d.default", embed_adaptive_pool},
    EmbedRow{"aten.adaptive_avg_pool2d.default", embed_adaptive_pool},
    EmbedRow{"aten._native_batch_norm_legit_no_training.default", embed_batch_norm},
    EmbedRow{"aten.batch_norm.default", embed_batch_norm},
    EmbedRow{"aten.native_layer_norm.default", embed_layer_norm},
    EmbedRow{"aten.layer_norm.default", embed_layer_norm},
    EmbedRow{"aten._softmax.default", embed_softmax},
    EmbedRow{"aten.softmax.int", embed_softmax},
    EmbedRow{"aten._log_softmax.default", embed_softmax},
    EmbedRow{"aten.log_softmax.int", embed_softmax},
};

}  // namespace davit::static_lowering
