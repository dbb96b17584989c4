// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "davit/backends/onednn/describe_int8.hpp"
#include "davit/backends/onednn/emit_kernel.hpp"
#include "davit/backends/portable/run_time/products/byte_products.hpp"
#include "davit/kernels/byte_convolution.hpp"

/// Steps on bytes. A tensor of bytes lies as floats would: kernels that go element by element keep a layout without
/// blocks.
namespace davit::onednn_ops {

namespace detail {

/// The place, if its elements lie without gaps and blocks; else a copy with the channels innermost.
[[nodiscard]] inline Place dense(Builder& b, const Place& from) {
  const bool as_is =
      blocking_of(from.md).is_plain() && from.md.get_size() == plain(dims_of(from.md), type_of(from.md)).get_size();
  return as_is ? from : b.reordered(from, channels_last(dims_of(from.md), type_of(from.md)));
}
[[nodiscard]] inline MemoryDesc in_layout_of(const Place& place, DataType type) {
  return strided(dims_of(place.md), blocking_of(place.md).strides, type);
}

/// A constant of a code's own: numbers that a primitive takes at each execution.
[[nodiscard]] inline Place numbers_argument(Builder& b, const NumbersArgument& numbers) {
  const Place made = b.add_constant(plain({numbers.count}, numbers.type));
  std::memcpy(b.constant_data(made), numbers.data, made.md.get_size());
  return made;
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
  const KernelTensor bytes{{count_of(dims_of(first.md))}, b.graph().values[op.outputs[0]].dtype};
  const auto numbers =
      portable_kernels::byte_sum_numbers(q.source, q.other, q.range, portable_kernels::ByteLayout::row_major);
  b.add_kernel(own_kernel_step(portable_kernels::byte_sum, std::array{bytes, bytes}, numbers, bytes),
               std::array{first, second}, {&to, 1});
  b.place(op.outputs[0], to);
}

/// A product by davit's own kernel.
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

/// A convolution or a product with a matrix; the bias, in units of the products, is added before they are scaled, or in
/// those of the result.
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
