// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/backends/onednn/operation.hpp"

namespace davit::onednn_ops {

/// An int8 convolution or product with a matrix, as a convolution of images whose channels are innermost: rows of a matrix are the
/// pixels of an image one pixel high.
struct Int8Product {
  Dims source, weight, destination;
};
[[nodiscard]] inline Int8Product int8_product_of(GraphModuleView graph, const Operation& op) {
  const Dims x = sizes_of(graph, op.inputs[0]), y = sizes_of(graph, op.outputs[0]);
  Dims w = sizes_of(graph, op.inputs[1]);
  if (op.transposed) {
    const std::int64_t rows = count_of(x) / x.back();
    return {{1, w[1], 1, rows}, {w[0], w[1], 1, 1}, {1, w[0], 1, rows}};
  }
  if (op.groups > 1) {
    w[0] /= op.groups;
    w.insert(w.begin(), op.groups);
  }
  return {x, w, y};
}

/// The primitive for it; empty where the library has none that adds products of bytes in 32 bits: without VNNI it adds pairs of
/// them in 16, which may be cut. Version 3 takes scales in another way, which is not made here.
[[nodiscard]] inline dnnl::convolution_forward::primitive_desc describe_int8_product(GraphModuleView graph, const Operation& op) {
#if DNNL_VERSION_MAJOR >= 3
  (void)graph, (void)op;
  return {};
#else
  const auto [source, weight, destination] = int8_product_of(graph, op);
  if (source.size() != 4) return {};
  const Int8Parameters& q = *op.int8;
  std::vector<float> scales;
  for (const float scale : q.weight_scales) scales.push_back(q.source.scale * scale * q.range.inverse);
  primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_output_scales(scales.size() == 1 ? 0 : 2, scales);
  if (q.source.zero_point != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {static_cast<std::int32_t>(q.source.zero_point)});
  if (q.range.zero_point != 0) attributes.set_zero_points(DNNL_ARG_DST, 0, {q.range.zero_point});
  if (q.range.low > -128 || q.range.high < 127) {
    dnnl::post_ops ops;
    append_eltwise(ops, algorithm::eltwise_clip, static_cast<float>(q.range.low - q.range.zero_point), static_cast<float>(q.range.high - q.range.zero_point));
    attributes.set_post_ops(ops);
  }
  const Dims one{1, 1}, zero{0, 0};
  const auto pd = describe<dnnl::convolution_forward>(
      attributes, dnnl::prop_kind::forward_inference, algorithm::convolution_direct, channels_last(source, DataType::s8), any(weight, DataType::s8),
      op.inputs[2] == no_id ? MemoryDesc() : plain({destination[1]}), channels_last(destination, DataType::s8), op.transposed ? one : op.strides,
      op.transposed ? zero : op.dilates, op.transposed ? zero : op.pad_left, op.transposed ? zero : op.pad_right);
  const std::string_view name = pd ? pd.impl_info_str() : "";
  return name.find("vnni") != std::string_view::npos || name.find("amx") != std::string_view::npos ? pd : dnnl::convolution_forward::primitive_desc();
#endif
}

}  // namespace davit::onednn_ops
