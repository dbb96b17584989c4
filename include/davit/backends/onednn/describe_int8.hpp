// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/backends/onednn/operation.hpp"
#include "davit/backends/onednn/sound_convolution.hpp"
#include "davit/kernels/byte_convolution.hpp"

namespace davit::onednn_ops {

/// A convolution of bytes, or a product with a matrix, as a convolution of images whose channels are innermost: rows of
/// a matrix, and lines, are images one pixel high.
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
/// How bytes lie that it takes and makes, in the sizes that the graph says.
[[nodiscard]] inline MemoryDesc int8_layout(GraphModuleView graph, const Operation& op, ValueId v) {
  const DataType type = data_type_of(graph.values[v].dtype);
  return op.transposed ? plain(sizes_of(graph, v), type) : channels_last(sizes_of(graph, v), type);
}

/// True for a primitive that adds products of bytes in 32 bits: without VNNI the library adds pairs of them in 16,
/// which may be cut.
[[nodiscard]] inline bool adds_exactly(const dnnl::convolution_forward::primitive_desc& pd) {
  const std::string_view name = pd ? pd.impl_info_str() : "";
  return name.find("vnni") != std::string_view::npos || name.find("amx") != std::string_view::npos;
}
/// True if the library has such primitives on this CPU.
[[nodiscard]] inline bool has_int8_primitives() {
  static const bool has = adds_exactly(describe<dnnl::convolution_forward>(
      primitive_attr(), dnnl::prop_kind::forward_inference, algorithm::convolution_direct,
      channels_last({1, 16, 8, 8}, DataType::s8), any({16, 16, 1, 1}, DataType::s8), MemoryDesc(),
      channels_last({1, 16, 8, 8}, DataType::s8), Dims{1, 1}, Dims{0, 0}, Dims{0, 0}, Dims{0, 0}));
  return has;
}
/// How its sums of products become bytes.
[[nodiscard]] inline ByteScales byte_scales_of(const Operation& op) {
  const Int8Parameters& q = *op.int8;
  ByteScales made{{}, static_cast<std::int32_t>(q.source.zero_point), q.range.zero_point};
  for (const float scale : q.weight_scales) made.factors.push_back(q.source.scale * scale * q.range.inverse);
  return made;
}
/// The primitive for it; empty where the library has none that adds exactly.
[[nodiscard]] inline dnnl::convolution_forward::primitive_desc describe_int8_product(GraphModuleView graph,
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
  const auto pd = describe_sound_convolution(
      algorithm::convolution_direct, attributes, q.source.zero_point != 0, channels_last(p.source, from),
      any(p.weight, DataType::s8), op.inputs[2] == no_id ? MemoryDesc() : plain({p.destination[1]}, DataType::f32),
      channels_last(p.destination, to), p.strides, p.dilates, p.pad_left, p.pad_right);
  return adds_exactly(pd) ? pd : dnnl::convolution_forward::primitive_desc();
}

/// The same for davit's own kernel, which runs where there is no such primitive; nothing if it cannot take it.
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

}  // namespace davit::onednn_ops
