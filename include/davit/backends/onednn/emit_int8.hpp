// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "davit/backends/onednn/describe_int8.hpp"
#include "davit/backends/onednn/emit_kernel.hpp"
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

/// A sum of two tensors of bytes. Arguments 2 to 9: scale and zero point of both, 1 / scale, zero point and bounds of the result.
template <class Byte>
[[nodiscard]] ErrorCode int8_sum(portable_kernels::KernelCall& call) {
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = call.make(0, x.dtype, x.sizes()); code != ErrorCode::ok) return code;
  const auto number = [&](std::size_t i) { return static_cast<float>(call.number(i)); };
  const auto integer = [&](std::size_t i) { return static_cast<std::int32_t>(call.integer(i)); };
  const kernels::ByteScale first{number(2), number(3)}, second{number(4), number(5)};
  const kernels::ByteRange range{number(6), integer(7), integer(8), integer(9)};
  kernels::run_widest<kernels::AddQuantized>(x.as<Byte>(), call.tensor(1).as<Byte>(), call.output(0).as<Byte>(), x.numel(), &first,
                                             &second, &range);
  return ErrorCode::ok;
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
  KernelStep step{.parameters = 10, .arguments = {}, .dims = {}, .ranks = {}, .dtypes = {}};
  step.kernel = type == ScalarType::int8 ? detail::int8_sum<std::int8_t> : detail::int8_sum<std::uint8_t>;
  const auto number = [](float x) { return EValue(static_cast<double>(x)); };
  const auto integer = [](std::int32_t x) { return EValue(static_cast<std::int64_t>(x)); };
  step.arguments.arguments = {EValue(), EValue(), number(q.source.scale), number(q.source.zero_point), number(q.other.scale), number(q.other.zero_point),
                              number(q.range.inverse), integer(q.range.zero_point), integer(q.range.low), integer(q.range.high)};
  const Dims count{count_of(dims_of(first.md))};
  for (std::uint32_t i = 0; i < 2; ++i) step.arguments.slots.push_back({i, i & 0x3fffffffu, 1, 0});
  for (int i = 0; i < 3; ++i) add_tensor(step, count, type);
  b.add_kernel(std::move(step), std::array{first, second}, {&to, 1});
  b.place(op.outputs[0], to);
}

/// A convolution or a product with a matrix; the bias, in units of the products, is added before they are scaled.
inline void emit_int8_product(Builder& b, const Operation& op) {
  const auto pd = describe_int8_product(b.graph(), op);
  if (!pd) throw dnnl::error(dnnl_unimplemented, "no int8 primitive for this operation");
  const Int8Product p = int8_product_of(b.graph(), op);
  const Dims channels{p.destination[1]};
  const Int8Parameters& q = *op.int8;
  std::vector<Builder::Role> roles;
  if (op.inputs[2] != no_id) {
    const Place bias = b.parameter(op.inputs[2], channels);
    const auto fill = [&](std::byte* to) {
      const auto* const from = reinterpret_cast<const float*>(b.constant_data(bias));
      for (std::size_t c = 0; c < static_cast<std::size_t>(channels[0]); ++c)
        reinterpret_cast<float*>(to)[c] = from[c] / (q.source.scale * q.weight_scales[q.weight_scales.size() == 1 ? 0 : c]);
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
