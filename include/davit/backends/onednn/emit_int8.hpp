// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "davit/backends/onednn/describe_int8.hpp"
#include "davit/backends/onednn/emit_kernel.hpp"
#include "davit/backends/onednn/kernels.hpp"
#include "davit/kernels/byte_convolution.hpp"

/// Steps on bytes. A tensor of bytes lies as floats would: kernels that go element by element keep a layout without blocks.
namespace davit::onednn_ops {

namespace detail {

/// The place, if its elements lie without gaps and blocks; else a copy with the channels innermost.
[[nodiscard]] inline Place dense(Builder& b, const Place& from) {
  const bool as_is = blocking_of(from.md).is_plain() && from.md.get_size() == plain(dims_of(from.md), type_of(from.md)).get_size();
  return as_is ? from : b.reordered(from, channels_last(dims_of(from.md), type_of(from.md)));
}
[[nodiscard]] inline MemoryDesc in_layout_of(const Place& place, DataType type) {
  return strided(dims_of(place.md), blocking_of(place.md).strides, type);
}

[[nodiscard]] inline EValue argument(float x) { return EValue(static_cast<double>(x)); }
[[nodiscard]] inline EValue argument(std::int64_t x) { return EValue(x); }
inline void add_range(std::vector<EValue>& arguments, const kernels::ByteRange& range) {
  arguments.push_back(argument(range.inverse));
  for (const std::int64_t x : {range.zero_point, range.low, range.high}) arguments.push_back(argument(x));
}

/// The sizes of a convolution as int8_product_kernel takes them.
[[nodiscard]] inline std::vector<EValue> arguments_of(const kernels::ByteConvolution& c) {
  std::vector<EValue> sizes;
  for (const std::int64_t x : {c.images, c.height, c.width, c.channels, c.out_height, c.out_width, c.out_channels, c.kernel_height, c.kernel_width, c.stride_height,
                               c.stride_width, c.dilation_height, c.dilation_width, c.top, c.left, std::int64_t{c.depthwise}})
    sizes.push_back(argument(x));
  return sizes;
}

}  // namespace detail

/// Element by element, in the layout that the operand has.
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
  const ScalarType type = b.graph().values[op.outputs[0]].dtype;
  std::vector<EValue> numbers;
  for (const float x : {q.source.scale, q.source.zero_point, q.other.scale, q.other.zero_point}) numbers.push_back(detail::argument(x));
  detail::add_range(numbers, q.range);
  const KernelTensor bytes{{count_of(dims_of(first.md))}, type};
  b.add_kernel(own_kernel_step(int8_sum_kernel(type), std::array{bytes, bytes}, numbers, bytes), std::array{first, second}, {&to, 1});
  b.place(op.outputs[0], to);
}

/// A product by davit's own kernel.
inline void emit_byte_convolution(Builder& b, const Operation& op, const kernels::ByteConvolution& c) {
#if DAVIT_BYTE_CONVOLUTION
  const Int8Parameters& q = *op.int8;
  const Place weight = b.row_major(b.place_of(op.inputs[1]));
  std::vector<Place> constants{weight};
  if (op.inputs[2] != no_id) constants.push_back(b.parameter(op.inputs[2], {c.out_channels}));
  const auto pack = [&](std::byte* to) { kernels::pack_bytes(c, reinterpret_cast<const std::int8_t*>(b.constant_data(weight)), reinterpret_cast<std::int16_t*>(to)); };
  const Place packed = b.node_constant({&weight, 1}, plain({2 * kernels::packed_bytes_size(c)}, DataType::s8), op.node, pack);
  const auto padded = static_cast<std::size_t>(kernels::padded_channels(c));
  const auto fill = [&](std::byte* to) {
    auto* const scales = reinterpret_cast<float*>(to);
    std::fill_n(scales, 2 * padded, 0.0f);
    for (std::size_t o = 0; o < static_cast<std::size_t>(c.out_channels); ++o) {
      scales[o] = int8_unit(q, o);
      if (constants.size() > 1) scales[padded + o] = reinterpret_cast<const float*>(b.constant_data(constants[1]))[o];
    }
  };
  const Place channels = b.node_constant(constants, plain({static_cast<std::int64_t>(2 * padded)}, DataType::f32), op.node, fill);
  const Place source = b.reordered(b.place_of(op.inputs[0]), int8_layout(b.graph(), op, op.inputs[0]));
  const Place to = b.add_scratch(int8_layout(b.graph(), op, op.outputs[0]));
  const ScalarType from = b.graph().values[op.inputs[0]].dtype, made = b.graph().values[op.outputs[0]].dtype;
  std::vector<EValue> numbers = detail::arguments_of(c);
  numbers.push_back(detail::argument(static_cast<std::int64_t>(q.source.zero_point)));
  detail::add_range(numbers, q.range);
  numbers.push_back(detail::argument(static_cast<std::int64_t>(made)));
  const std::array<KernelTensor, 3> operands{{{{count_of(dims_of(source.md))}, from}, {{kernels::packed_bytes_size(c)}, ScalarType::int16}, {dims_of(channels.md)}}};
  KernelStep step = own_kernel_step(int8_product_kernel(from), operands, numbers, {{count_of(dims_of(to.md))}, made});
  b.add_kernel(std::move(step), std::array{source, packed, channels}, {&to, 1});
  b.place(op.outputs[0], to);
#else
  (void)b, (void)op, (void)c;
#endif
}

/// A convolution or a product with a matrix; the bias, in units of the products, is added before they are scaled.
inline void emit_int8_product(Builder& b, const Operation& op) {
  const auto pd = describe_int8_product(b.graph(), op);
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
        reinterpret_cast<float*>(to)[c] = from[c] / int8_unit(q, c);
    };
    roles.push_back({DNNL_ARG_BIAS, b.node_constant({&bias, 1}, plain(channels, DataType::f32), op.node, fill)});
  }
  const Place weight = b.reordered(b.viewed(b.row_major(b.place_of(op.inputs[1])), p.weight), pd.weights_desc());
  Place source = b.reordered(b.place_of(op.inputs[0]), int8_layout(b.graph(), op, op.inputs[0]));
  source.md = pd.src_desc();
  Place to = b.add_scratch(pd.dst_desc());
  b.add_step<dnnl::convolution_forward>(pd, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, to}}, roles);
  to.md = int8_layout(b.graph(), op, op.outputs[0]);
  b.place(op.outputs[0], to);
}

}  // namespace davit::onednn_ops
