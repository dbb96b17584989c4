// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/static/embed_elementwise.hpp"

/// Linear layers, convolutions, pooling, normalisation and softmax in float32, of portable's static face.
namespace davit::embed_float {

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
  if (!n.g.mine(producer)) return no_id;
  const EmbedNode p{n.g, producer};
  if (p.is("aten.t.default")) return p.value("self");
  if (!p.is("aten.permute.default") || p.count("dims") != 2) return no_id;
  const auto dims = p.integers<2>("dims", 0);
  return (dims[0] + 2) % 2 == 1 && (dims[1] + 2) % 2 == 0 ? p.value("self") : no_id;
}

constexpr const char* write_linear(const EmbedNode& n, StepWriter& steps, ValueId x, ValueId weight, ValueId bias) {
  if (n.g.rank(weight) != 2 || n.g.rank(x) < 1) return "its weight is no matrix";
  const std::int64_t out = n.g.size(weight, 0), in = n.g.size(weight, 1);
  if (bias != no_id && (n.g.numel(bias) != out || n.g.dtype(bias) != ScalarType::float32)) return "its bias is not one number per output";
  const sf::Linear p{int32(n.g.numel(x) / in), int32(in), int32(out), layout_of(n, weight), bias != no_id ? 1 : 0};
  StepOperands step = p.layout == sf::Layout::output_inner ? steps.step<linear_tiles>(p) : steps.step<linear_dots>(p);
  step.out(n.output()).in(x).in(weight).in(bias);
  return nullptr;
}
constexpr const char* embed_linear(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("input"), weight = n.value("weight");
  if (weight == no_id) return "an operand is missing";
  if (const char* why = not_float(n, x, weight)) return why;
  return write_linear(n, steps, x, weight, n.value("bias"));
}
constexpr const char* write_product(const EmbedNode& n, StepWriter& steps, ValueId a, ValueId b) {
  const std::uint32_t rank = n.g.rank(a);
  if (rank != n.g.rank(b) || (rank != 2 && rank != 3)) return "its operands are no matrices";
  if (is_output_inner(n, b)) return "its weight is laid out for a linear";
  const auto batch = rank == 3 ? n.g.size(a, 0) : 1;
  steps.step<product>({int32(batch), int32(n.g.size(a, -2)), int32(n.g.size(b, -1)), int32(n.g.size(b, -2)), 0, 0})
      .out(n.output()).in(a).in(b);
  return nullptr;
}
constexpr const char* embed_mm(const EmbedNode& n, StepWriter& steps) {
  const ValueId a = n.value("self"), b = n.value("mat2");
  if (b == no_id) return "an operand is missing";
  if (const char* why = not_float(n, a, b)) return why;
  const ValueId weight = n.g.rank(a) == 2 ? transposed_from(n, b) : no_id;
  return weight != no_id ? write_linear(n, steps, a, weight, no_id) : write_product(n, steps, a, b);
}
/// Of matrices, or of stacks of them with equal batch dimensions; the rows of a stack times one matrix are rows of one.
constexpr const char* embed_matmul(const EmbedNode& n, StepWriter& steps) {
  const ValueId a = n.value("self"), b = n.value("other");
  if (b == no_id) return "an operand is missing";
  if (const char* why = not_float(n, a, b)) return why;
  const std::uint32_t rank = n.g.rank(b);
  if (n.g.rank(a) < 2 || rank < 2 || (rank > 2 && n.g.rank(a) != rank)) return "its operands are no matrices";
  if (is_output_inner(n, b)) return "its weight is laid out for a linear";
  if (const ValueId weight = rank == 2 ? transposed_from(n, b) : no_id; weight != no_id)
    return write_linear(n, steps, a, weight, no_id);
  std::int64_t batch = 1;
  for (std::uint32_t d = 0; d + 2 < rank; ++d) {
    if (n.g.size(a, d) != n.g.size(b, d)) return "its batch dimensions differ";
    batch *= n.g.size(b, d);
  }
  const std::int64_t k = n.g.size(b, -2);
  if (batch == 0 || k == 0) return "a tensor has no elements";
  steps.step<product>({int32(batch), int32(n.g.numel(a) / (batch * k)), int32(n.g.size(b, -1)), int32(k), 0, 0})
      .out(n.output()).in(a).in(b);
  return nullptr;
}
constexpr const char* embed_addmm(const EmbedNode& n, StepWriter& steps) {
  const ValueId added = n.value("self"), a = n.value("mat1"), b = n.value("mat2");
  if (a == no_id || b == no_id) return "an operand is missing";
  if (const char* why = not_float(n, a, b)) return why;
  if (const char* why = not_float(n, added)) return why;
  const double alpha = n.number("alpha", 1), beta = n.number("beta", 1);
  const std::int64_t rows = n.g.size(n.output(), 0), columns = n.g.size(n.output(), 1);
  const ValueId weight = transposed_from(n, b);
  if (weight != no_id && alpha == 1 && beta == 1 && n.g.rank(added) == 1 && n.g.numel(added) == columns)
    return write_linear(n, steps, a, weight, added);
  if (const char* why = write_product(n, steps, a, b)) return why;
  const std::int64_t across = n.g.size(added, -1);
  const std::int64_t down = n.g.rank(added) == 2 ? n.g.size(added, 0) : 1;
  steps.step<add_scaled>({int32(rows), int32(columns), down == 1 ? 0 : int32(across), across == 1 ? 0 : 1,
                          static_cast<float>(alpha), static_cast<float>(beta)})
      .out(n.output()).in(added);
  return nullptr;
}

constexpr const char* embed_convolution(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("input"), weight = n.value("weight"), bias = n.value("bias");
  if (weight == no_id) return "an operand is missing";
  if (const char* why = not_float(n, x, weight)) return why;
  if (bias != no_id && n.g.dtype(bias) != ScalarType::float32) return "not all of it is float32";
  const std::uint32_t rank = n.g.rank(weight);
  if (n.flag("transposed")) return "it is transposed";
  const bool batched = n.g.rank(x) == rank;
  if ((rank != 3 && rank != 4) || (!batched && n.g.rank(x) + 1 != rank)) return "it is over other than one or two dimensions";
  const std::uint32_t spatial = rank - 2;
  sf::Conv2d c;
  c.batch = batched ? int32(n.g.size(x, 0)) : 1;
  c.channels = int32(n.g.size(x, batched ? 1 : 0));
  c.filters = int32(n.g.size(weight, 0));
  c.groups = int32(n.integer("groups", 1));
  c.in_w = int32(n.g.size(x, -1));
  c.out_w = int32(n.g.size(n.output(), -1));
  c.kernel_w = int32(n.g.size(weight, -1));
  const auto pair = [&](const char* name, std::int64_t fallback, std::int32_t& h, std::int32_t& w) {
    const auto list = n.integers<2>(name, fallback);
    w = int32(spatial == 2 ? list[1] : list[0]);
    if (spatial == 2) h = int32(list[0]);
  };
  if (const StaticArgument* padding = n.argument("padding"); padding != nullptr && padding->kind == ArgumentKind::string)
    return "its padding is a word";
  pair("stride", 1, c.stride_h, c.stride_w);
  pair("padding", 0, c.pad_h, c.pad_w);
  pair("dilation", 1, c.dilation_h, c.dilation_w);
  if (spatial == 2) {
    c.in_h = int32(n.g.size(x, -2));
    c.out_h = int32(n.g.size(n.output(), -2));
    c.kernel_h = int32(n.g.size(weight, -2));
  }
  c.layout = layout_of(n, weight);
  c.bias = bias != no_id ? 1 : 0;
  StepOperands step = c.has_tiles() ? steps.step<conv2d_tiles>(c) : steps.step<conv2d_filters>(c);
  step.out(n.output()).in(x).in(weight).in(bias);
  return nullptr;
}

[[nodiscard]] constexpr sf::Pool2d pool_of(const EmbedNode& n, ValueId x) noexcept {
  sf::Pool2d p;
  p.in_h = int32(n.g.size(x, -2));
  p.in_w = int32(n.g.size(x, -1));
  p.planes = int32(n.g.numel(x)) / (p.in_h * p.in_w);
  p.out_h = int32(n.g.size(n.output(), -2));
  p.out_w = int32(n.g.size(n.output(), -1));
  const auto kernel = n.integers<2>("kernel_size", 1);
  auto stride = n.integers<2>("stride", 1);
  if (n.count("stride") == 0) stride = kernel;
  const auto padding = n.integers<2>("padding", 0);
  const auto dilation = n.integers<2>("dilation", 1);
  p.kernel_h = int32(kernel[0]);
  p.kernel_w = int32(kernel[1]);
  p.stride_h = int32(stride[0]);
  p.stride_w = int32(stride[1]);
  p.pad_h = int32(padding[0]);
  p.pad_w = int32(padding[1]);
  p.dilation_h = int32(dilation[0]);
  p.dilation_w = int32(dilation[1]);
  p.count_include_pad = n.flag("count_include_pad", true) ? 1 : 0;
  p.divisor = int32(n.integer("divisor_override", 0));
  return p;
}
constexpr const char* embed_max_pool(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("self");
  if (const char* why = not_float(n, x)) return why;
  if (n.uses_output(1)) return "its indices are used";
  steps.step<max_pool2d>(pool_of(n, x)).out(n.output()).in(x);
  return nullptr;
}
constexpr const char* embed_avg_pool(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("self");
  if (const char* why = not_float(n, x)) return why;
  steps.step<avg_pool2d>(pool_of(n, x)).out(n.output()).in(x);
  return nullptr;
}
constexpr const char* embed_adaptive_pool(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("self");
  if (const char* why = not_float(n, x)) return why;
  const std::int32_t h = int32(n.g.size(x, -2)), w = int32(n.g.size(x, -1));
  steps.step<adaptive_avg_pool2d>({int32(n.g.numel(x)) / (h * w), h, w, int32(n.g.size(n.output(), -2)), int32(n.g.size(n.output(), -1))})
      .out(n.output()).in(x);
  return nullptr;
}

constexpr const char* embed_batch_norm(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("input"), mean_of = n.value("running_mean"), var = n.value("running_var");
  if (mean_of == no_id || var == no_id) return "it has no running statistics";
  if (const char* why = not_float(n, x, mean_of)) return why;
  if (n.flag("training")) return "it trains";
  if (n.uses_output(1) || n.uses_output(2)) return "its batch statistics are used";
  if (n.g.rank(x) < 2) return "its input has no channels";
  const std::int32_t batch = int32(n.g.size(x, 0)), channels = int32(n.g.size(x, 1));
  steps.step<batch_norm>({batch, channels, int32(n.g.numel(x)) / (batch * channels), n.number("eps", 1e-5)})
      .out(n.output()).in(x).in(n.value("weight")).in(n.value("bias")).in(mean_of).in(var).overwrites(x);
  return nullptr;
}
constexpr const char* embed_layer_norm(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("input");
  if (const char* why = not_float(n, x)) return why;
  if (n.uses_output(1) || n.uses_output(2)) return "its statistics are used";
  std::int64_t length = 1;
  const std::uint32_t normalized = n.count("normalized_shape");
  if (normalized == 0 || normalized > n.g.rank(x)) return "it has no shape to normalise";
  for (std::uint32_t d = n.g.rank(x) - normalized; d < n.g.rank(x); ++d) length *= n.g.size(x, d);
  steps.step<layer_norm>({int32(n.g.numel(x) / length), int32(length), n.number("eps", 1e-5)})
      .out(n.output()).in(x).in(n.value("weight")).in(n.value("bias")).overwrites(x);
  return nullptr;
}
template <class Kernel>
constexpr const char* embed_softmax(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("self");
  if (const char* why = not_float(n, x)) return why;
  const auto rank = static_cast<std::int64_t>(n.g.rank(x));
  if (rank == 0) return "it has no dimension";
  const std::int64_t dim = (n.integer("dim") + rank) % rank;
  sf::Softmax p;
  for (std::int64_t d = 0; d < rank; ++d) (d < dim ? p.outer : d == dim ? p.count : p.inner) *= int32(n.g.size(x, d));
  steps.step<Kernel>(p).out(n.output()).in(x).overwrites(x);
  return nullptr;
}

using layer_kernels = kernel_list<linear_tiles, linear_dots, product, add_scaled, conv2d_tiles, conv2d_filters, max_pool2d, avg_pool2d, adaptive_avg_pool2d, layer_norm,
                                  batch_norm, softmax, log_softmax>;

inline constexpr std::array layer_rows{
    EmbedRow{"aten.linear.default", embed_linear},
    EmbedRow{"aten.mm.default", embed_mm},
    EmbedRow{"aten.bmm.default", embed_mm},
    EmbedRow{"aten.matmul.default", embed_matmul},
    EmbedRow{"aten.addmm.default", embed_addmm},
    EmbedRow{"aten.convolution.default", embed_convolution},
    EmbedRow{"aten.conv2d.default", embed_convolution},
    EmbedRow{"aten.conv1d.default", embed_convolution},
    EmbedRow{"aten.max_pool2d.default", embed_max_pool},
    EmbedRow{"aten.max_pool2d_with_indices.default", embed_max_pool},
    EmbedRow{"aten.avg_pool2d.default", embed_avg_pool},
    EmbedRow{"aten._adaptive_avg_pool2d.default", embed_adaptive_pool},
    EmbedRow{"aten.adaptive_avg_pool2d.default", embed_adaptive_pool},
    EmbedRow{"aten._native_batch_norm_legit_no_training.default", embed_batch_norm},
    EmbedRow{"aten.batch_norm.default", embed_batch_norm},
    EmbedRow{"aten.native_layer_norm.default", embed_layer_norm},
    EmbedRow{"aten.layer_norm.default", embed_layer_norm},
    EmbedRow{"aten._softmax.default", embed_softmax<softmax>},
    EmbedRow{"aten.softmax.int", embed_softmax<softmax>},
    EmbedRow{"aten._log_softmax.default", embed_softmax<log_softmax>},
    EmbedRow{"aten.log_softmax.int", embed_softmax<log_softmax>},
};

}  // namespace davit::embed_float
