// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/kernel_call.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/backends/onednn/operation.hpp"
#include "davit/backends/onednn/sound_convolution.hpp"
#include "davit/backends/portable/run_time/products/byte_products.hpp"
#include "davit/kernels/byte_convolution.hpp"
#include "davit/program/operators/quantization.hpp"

/// Steps on bytes. A tensor of bytes has the layout that its floats would have: elementwise kernels keep a layout
/// without blocks.
namespace davit::onednn_ops {

/// quantize and dequantize, with one scale or one per channel: portable's kernels, unless a primitive of the library
/// takes them in.
[[nodiscard]] inline const char* describe_quantization(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::QuantizationView view;
  if (const Refusal wrong = operators::read_quantization(in, view)) return wrong.what;
  const auto& values = in.graph().values;
  const ValueId floats = view.quantizes ? view.input : in.output(), bytes = view.quantizes ? in.output() : view.input;
  if (values[floats].dtype != ScalarType::float32) return "a tensor is not float32";
  if (data_type_of(values[bytes].dtype) == DataType::undef || values[bytes].dtype == ScalarType::float32)
    return "a tensor is neither int8 nor uint8";
  op.kind = view.scales == no_id ? OpKind::convert : OpKind::kernel;
  for (const ValueId v : {view.input, view.scales, view.zero_points})
    if (v != no_id) op.inputs.push_back(v);
  return sizes_of(in.graph(), view.input) == sizes_of(in.graph(), in.output()) ? nullptr
                                                                               : "the sizes of input and output differ";
}

/// A convolution of bytes, or a product with a matrix, as a convolution of channels_last images: rows of a matrix, and
/// 1d signals, are images one pixel high.
struct Int8Product {
  Dims source, weight, destination, strides, dilates, pad_left, pad_right;
};
[[nodiscard]] inline Int8Product int8_product_of(GraphModuleView graph, const Operation& op) {
  Int8Product p{sizes_of(graph, op.inputs[0]),
                sizes_of(graph, op.inputs[1]),
                sizes_of(graph, op.outputs[0]),
                op.strides,
                op.dilates,
                op.pad_left,
                op.pad_right};
  if (op.transposed) {
    const std::int64_t rows = count_of(p.source) / p.source.back();
    const Dims w = p.weight;
    return {{1, w[1], 1, rows}, {w[0], w[1], 1, 1}, {1, w[0], 1, rows}, {1, 1}, {0, 0}, {0, 0}, {0, 0}};
  }
  if (p.source.size() == 3) {
    for (Dims* dims : {&p.source, &p.weight, &p.destination}) dims->insert(dims->begin() + 2, 1);
    p.strides.insert(p.strides.begin(), 1);
    for (Dims* dims : {&p.dilates, &p.pad_left, &p.pad_right}) dims->insert(dims->begin(), 0);
  }
  if (op.groups > 1) {
    p.weight[0] /= op.groups;
    p.weight.insert(p.weight.begin(), op.groups);
  }
  return p;
}
/// The layout of its source and result, in the graph's sizes.
[[nodiscard]] inline MemoryDesc int8_layout(GraphModuleView graph, const Operation& op, ValueId v) {
  const DataType type = data_type_of(graph.values[v].dtype);
  return op.transposed ? plain(sizes_of(graph, v), type) : channels_last(sizes_of(graph, v), type);
}

/// True for a primitive that adds products of bytes in 32 bits: without VNNI the library adds pairs in 16 bits, which
/// may saturate.
[[nodiscard]] inline bool adds_exactly(const dnnl::convolution_forward::primitive_desc& pd) {
  const std::string_view name = pd ? pd.impl_info_str() : "";
  return name.find("vnni") != std::string_view::npos || name.find("amx") != std::string_view::npos;
}
/// True if the library has exact int8 primitives on this CPU.
[[nodiscard]] inline bool has_int8_primitives() {
  static const bool has = adds_exactly(make_descriptor<dnnl::convolution_forward>(
      primitive_attr(), dnnl::prop_kind::forward_inference, algorithm::convolution_direct,
      channels_last({1, 16, 8, 8}, DataType::s8), any({16, 16, 1, 1}, DataType::s8), MemoryDesc(),
      channels_last({1, 16, 8, 8}, DataType::s8), Dims{1, 1}, Dims{0, 0}, Dims{0, 0}, Dims{0, 0}));
  return has;
}
/// The scales and zero points that turn its sums into bytes.
[[nodiscard]] inline ByteScales byte_scales_of(const Operation& op) {
  const Int8Parameters& q = *op.int8;
  ByteScales made{{}, static_cast<std::int32_t>(q.source.zero_point), q.range.zero_point};
  for (const float scale : q.weight_scales) made.factors.push_back(q.source.scale * scale * q.range.inverse);
  return made;
}
/// The primitive; empty if the library has none that adds exactly.
[[nodiscard]] inline dnnl::convolution_forward::primitive_desc int8_product_descriptor(GraphModuleView graph,
                                                                                       const Operation& op) {
  const Int8Product p = int8_product_of(graph, op);
  const DataType from = data_type_of(graph.values[op.inputs[0]].dtype),
                 to = data_type_of(graph.values[op.outputs[0]].dtype);
  const Int8Parameters& q = *op.int8;
  primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  set_byte_scales(attributes, byte_scales_of(op), p.weight.size() > p.source.size());
  const std::int32_t least = to == DataType::s8 ? -128 : 0;
  if (q.range.low > least || q.range.high < least + 255) {
    dnnl::post_ops ops;
    append_eltwise(ops, algorithm::eltwise_clip, static_cast<float>(q.range.low - q.range.zero_point),
                   static_cast<float>(q.range.high - q.range.zero_point));
    attributes.set_post_ops(ops);
  }
  const auto pd = sound_convolution_descriptor(
      algorithm::convolution_direct, attributes, q.source.zero_point != 0, channels_last(p.source, from),
      any(p.weight, DataType::s8), op.inputs[2] == no_id ? MemoryDesc() : plain({p.destination[1]}, DataType::f32),
      channels_last(p.destination, to), p.strides, p.dilates, p.pad_left, p.pad_right);
  return adds_exactly(pd) ? pd : dnnl::convolution_forward::primitive_desc();
}

/// The arguments of davit's own kernel, which runs where there is no such primitive; nothing if it cannot take the
/// product.
[[nodiscard]] inline std::optional<kernels::ByteConvolution> byte_convolution_of(GraphModuleView graph,
                                                                                 const Operation& op) {
  const Int8Product p = int8_product_of(graph, op);
  if (!kernels::can_convolve_bytes() || p.source.size() != 4 ||
      (op.groups != 1 && (op.groups != p.source[1] || op.groups != p.destination[1])))
    return {};
  const std::size_t w = p.weight.size() - 2;
  const kernels::ByteConvolution c{p.source[0],      p.source[2],      p.source[3],      p.source[1],
                                   p.destination[2], p.destination[3], p.destination[1], p.weight[w],
                                   p.weight[w + 1],  p.strides[0],     p.strides[1],     p.dilates[0] + 1,
                                   p.dilates[1] + 1, p.pad_left[0],    p.pad_left[1],    op.groups > 1};
  constexpr std::int64_t most = 1 << 24;
  const auto fits = [&](std::int64_t size, std::int64_t before, std::int64_t behind, std::int64_t window,
                        std::int64_t dilation, std::int64_t stride, std::int64_t out) {
    return behind >= 0 && behind <= most && (size + before + behind - (window - 1) * dilation - 1) / stride + 1 == out;
  };
  const bool sound =
      kernels::is_countable(c) && p.destination[0] == c.images && count_of(p.weight) == c.out_channels * c.terms() &&
      fits(c.height, c.top, p.pad_right[0], c.kernel_height, c.dilation_height, c.stride_height, c.out_height) &&
      fits(c.width, c.left, p.pad_right[1], c.kernel_width, c.dilation_width, c.stride_width, c.out_width);
  return sound ? std::optional(c) : std::nullopt;
}

namespace detail {

/// Returns the place if it has neither gaps nor blocks; else a channels_last copy.
[[nodiscard]] inline Place dense(Builder& b, const Place& from) {
  const bool as_is =
      blocking_of(from.md).is_plain() && from.md.get_size() == plain(dims_of(from.md), type_of(from.md)).get_size();
  return as_is ? from : b.reordered(from, channels_last(dims_of(from.md), type_of(from.md)));
}
[[nodiscard]] inline MemoryDesc in_layout_of(const Place& place, DataType type) {
  return strided(dims_of(place.md), blocking_of(place.md).strides, type);
}

/// Makes a constant of the code's own: numbers that a primitive takes at each execution.
[[nodiscard]] inline Place numbers_argument(Builder& b, const NumbersArgument& numbers) {
  const Place made = b.add_constant(plain({numbers.count}, numbers.type));
  std::memcpy(b.constant_data(made), numbers.data, made.md.get_size());
  return made;
}

}  // namespace detail

/// Emits an elementwise conversion, in the operand's layout.
inline void emit_convert(Builder& b, const Operation& op) {
  const Place from = detail::dense(b, b.place_of(op.inputs[0]));
  const Place to = b.add_scratch(detail::in_layout_of(from, data_type_of(b.graph().values[op.outputs[0]].dtype)));
  const Dims count{count_of(dims_of(from.md))};
  b.add_kernel(kernel_step(b, op, &count), {&from, 1}, {&to, 1});
  b.place(op.outputs[0], to);
}

inline void emit_int8_sum(Builder& b, const Operation& op) {
  const Place first = detail::dense(b, b.place_of(op.inputs[0]));
  const Place second = b.reordered(b.place_of(op.inputs[1]), first.md);
  const Place to = b.add_scratch(first.md);
  const Int8Parameters& q = *op.int8;
  const KernelTensor bytes{{count_of(dims_of(first.md))}, b.graph().values[op.outputs[0]].dtype};
  const auto numbers =
      portable_kernels::byte_sum_numbers(q.source, q.other, q.range, portable_kernels::ByteLayout::row_major);
  b.add_kernel(own_kernel_step(portable_kernels::byte_sum, std::array{bytes, bytes}, numbers, bytes),
               std::array{first, second}, {&to, 1});
  b.place(op.outputs[0], to);
}

/// Emits a product on davit's own kernel.
inline void emit_byte_convolution(Builder& b, const Operation& op, const kernels::ByteConvolution& c) {
  const Int8Parameters& q = *op.int8;
  const Place weight = b.row_major(b.place_of(op.inputs[1]));
  std::vector<Place> constants{weight};
  if (op.inputs[2] != no_id) constants.push_back(b.parameter(op.inputs[2], {c.out_channels}));
  const auto pack = [&](std::byte* to) {
    portable_kernels::pack_weights(c, reinterpret_cast<const std::int8_t*>(b.constant_data(weight)),
                                   reinterpret_cast<std::int16_t*>(to));
  };
  const Place packed =
      b.node_constant({&weight, 1}, plain({2 * kernels::packed_bytes_size(c)}, DataType::s8), op.node, pack);
  const auto fill = [&](std::byte* to) {
    fill_channels(c, q, constants.size() > 1 ? reinterpret_cast<const float*>(b.constant_data(constants[1])) : nullptr,
                  reinterpret_cast<float*>(to));
  };
  const Place channels =
      b.node_constant(constants, plain({2 * kernels::padded_channels(c)}, DataType::f32), op.node, fill);
  const Place source = b.reordered(b.place_of(op.inputs[0]), int8_layout(b.graph(), op, op.inputs[0]));
  const Place to = b.add_scratch(int8_layout(b.graph(), op, op.outputs[0]));
  const bool of_rows = op.transposed;
  const Dims behind = int8_product_of(b.graph(), op).pad_right;
  const portable_kernels::ByteProduct product{.convolution = c,
                                              .bottom = behind[0],
                                              .right = behind[1],
                                              .of_rows = of_rows,
                                              .made = b.graph().values[op.outputs[0]].dtype};
  const auto layout = of_rows ? portable_kernels::ByteLayout::row_major : portable_kernels::ByteLayout::channels_last;
  const auto numbers =
      portable_kernels::byte_product_numbers(product, static_cast<std::int32_t>(q.source.zero_point), q.range, layout);
  const auto tensor = [&](const Place& place, ValueId v) {
    return KernelTensor{dims_of(place.md), b.graph().values[v].dtype, !of_rows};
  };
  const std::array<KernelTensor, 3> operands{
      {tensor(source, op.inputs[0]), {{kernels::packed_bytes_size(c)}, ScalarType::int16}, {dims_of(channels.md)}}};
  KernelStep step = own_kernel_step(portable_kernels::byte_product, operands, numbers, tensor(to, op.outputs[0]));
  b.add_kernel(std::move(step), std::array{source, packed, channels}, {&to, 1});
  b.place(op.outputs[0], to);
}

/// Emits a convolution or a product with a matrix. The bias is added to the sums in units of the products, or after
/// scaling in units of the result.
inline void emit_int8_product(Builder& b, const Operation& op) {
  const auto pd = int8_product_descriptor(b.graph(), op);
  if (!pd) {
    if (const auto own = byte_convolution_of(b.graph(), op)) return emit_byte_convolution(b, op, *own);
    throw dnnl::error(dnnl_unimplemented, "no int8 kernel for this operation");
  }
  const Int8Product p = int8_product_of(b.graph(), op);
  const Dims channels{p.destination[1]};
  const Int8Parameters& q = *op.int8;
  std::vector<Builder::Role> roles;
  if (op.inputs[2] != no_id) {
    const Place bias = b.parameter(op.inputs[2], channels);
    const auto fill = [&](std::byte* to) {
      const auto* const from = reinterpret_cast<const float*>(b.constant_data(bias));
      for (std::size_t c = 0; c < static_cast<std::size_t>(channels[0]); ++c)
        reinterpret_cast<float*>(to)[c] = bias_follows_scales ? from[c] * q.range.inverse : from[c] / q.unit(c);
    };
    roles.push_back({DNNL_ARG_BIAS, b.node_constant({&bias, 1}, plain(channels, DataType::f32), op.node, fill)});
  }
  const ByteScales scales = byte_scales_of(op);
  for (const NumbersArgument& numbers : byte_scale_arguments(scales))
    roles.push_back({numbers.role, detail::numbers_argument(b, numbers)});
  const Place weight = b.reordered(b.viewed(b.row_major(b.place_of(op.inputs[1])), p.weight), pd.weights_desc());
  Place source = b.reordered(b.place_of(op.inputs[0]), int8_layout(b.graph(), op, op.inputs[0]));
  source.md = pd.src_desc();
  Place to = b.add_scratch(pd.dst_desc());
  b.add_step<dnnl::convolution_forward>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, to}},
                                        roles);
  to.md = int8_layout(b.graph(), op, op.outputs[0]);
  b.place(op.outputs[0], to);
}

}  // namespace davit::onednn_ops
