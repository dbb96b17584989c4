// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "davit/backends/onednn/describe_int8.hpp"
#include "davit/backends/onednn/emit_kernel.hpp"
#include "davit/kernels/byte_convolution.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/quantize.hpp"

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
[[nodiscard]] inline kernels::ByteRange range_at(const portable_kernels::KernelCall& call, std::size_t first) {
  const auto integer = [&](std::size_t i) { return static_cast<std::int32_t>(call.integer(first + i)); };
  return {static_cast<float>(call.number(first)), integer(1), integer(2), integer(3)};
}
inline void add_range(std::vector<EValue>& arguments, const kernels::ByteRange& range) {
  arguments.push_back(argument(range.inverse));
  for (const std::int64_t x : {range.zero_point, range.low, range.high}) arguments.push_back(argument(x));
}

/// A sum of two tensors of bytes. Arguments 2 to 9: scale and zero point of both, 1 / scale, zero point and bounds of the result.
template <class Byte>
[[nodiscard]] ErrorCode int8_sum(portable_kernels::KernelCall& call) {
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = call.make(0, x.dtype, x.sizes()); code != ErrorCode::ok) return code;
  const auto number = [&](std::size_t i) { return static_cast<float>(call.number(i)); };
  const kernels::ByteScale first{number(2), number(3)}, second{number(4), number(5)};
  const kernels::ByteRange range = range_at(call, 6);
  kernels::run_widest<kernels::AddQuantized>(x.as<Byte>(), call.tensor(1).as<Byte>(), call.output(0).as<Byte>(), x.numel(), &first,
                                             &second, &range);
  return ErrorCode::ok;
}

/// A product of bytes. Arguments: bytes, packed weights, scales and biases of the channels; the convolution's sizes; the zero point; the
/// result's range and dtype.
[[nodiscard]] inline std::vector<EValue> arguments_of(const kernels::ByteConvolution& c) {
  std::vector<EValue> sizes;
  for (const std::int64_t x : {c.images, c.height, c.width, c.channels, c.out_height, c.out_width, c.out_channels, c.kernel_height, c.kernel_width, c.stride_height,
                               c.stride_width, c.dilation_height, c.dilation_width, c.top, c.left, std::int64_t{c.depthwise}})
    sizes.push_back(argument(x));
  return sizes;
}
#if DAVIT_BYTE_CONVOLUTION
template <class From>
[[nodiscard]] ErrorCode int8_product(portable_kernels::KernelCall& call) {
  std::int64_t s[16];
  for (std::size_t i = 0; i < 16; ++i) s[i] = call.integer(3 + i);
  const kernels::ByteConvolution c{s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12], s[13], s[14], s[15] != 0};
  const std::int64_t made = c.images * c.out_height * c.out_width * c.out_channels;
  if (const ErrorCode code = call.make(0, call.dtype(24, ScalarType::int8), {&made, 1}); code != ErrorCode::ok) return code;
  const auto* const channels = call.tensor(2).as<float>();
  const kernels::ByteResult result{channels, channels + kernels::padded_channels(c), range_at(call, 20)};
  auto* const work = call.temporary<std::byte>(static_cast<std::size_t>(kernels::convolve_bytes_work(c)));
  if (work == nullptr) return ErrorCode::out_of_memory;
  kernels::convolve_bytes(c, call.tensor(0).as<From>(), static_cast<std::int32_t>(call.integer(19)), call.tensor(1).as<std::int16_t>(), result, work, call.output(0).as<std::uint8_t>());
  return ErrorCode::ok;
}
#endif

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
  const portable_kernels::Kernel kernel = type == ScalarType::int8 ? detail::int8_sum<std::int8_t> : detail::int8_sum<std::uint8_t>;
  b.add_kernel(own_kernel_step(kernel, std::array{bytes, bytes}, numbers, bytes), std::array{first, second}, {&to, 1});
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
  const portable_kernels::Kernel kernel = from == ScalarType::int8 ? detail::int8_product<std::int8_t> : detail::int8_product<std::uint8_t>;
  KernelStep step = own_kernel_step(kernel, operands, numbers, {{count_of(dims_of(to.md))}, made});
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
