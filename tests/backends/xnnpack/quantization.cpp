// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/quantization.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "backends/xnnpack/check.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::faults;
using xnnpack_check::steps;
using xnnpack_parts::Op;

using support::Sizes;
using xnnpack_check::real;

namespace {

/// conv of int8 numbers with a scale per channel, a float bias and relu, to int8; then a max pool, as PT2E writes it.
template <class BiasOf>
[[nodiscard]] ExportedProgram quantized_block(Net& n, BiasOf&& bias_of) {
  const auto quantized = [&](std::string_view name, ValueId x, Sizes sizes, double scale, std::int64_t zero) {
    const auto arguments = [&](ValueId v) {
      std::vector<Argument> in{n.v(v),    real(scale), n.i(zero),
                               n.i(-128), n.i(127),    GraphBuilder::scalar_type(ScalarType::int8)};
      const std::string_view names[] = {"input", "scale", "zero_point", "quant_min", "quant_max", "dtype"};
      for (std::size_t i = 0; i < in.size(); ++i) in[i].name = n.draft.b.text(names[i]);
      return in;
    };
    const auto q = n.draft.b.tensor(concat(name, "_q"), ScalarType::int8, sizes);
    const Argument q_out[] = {n.v(q)};
    n.draft.b.node("quantized_decomposed.quantize_per_tensor.default", arguments(x), q_out, n.draft.metadata);
    const auto d = n.draft.b.tensor(name, ScalarType::float32, sizes);
    const Argument d_out[] = {n.v(d)};
    n.draft.b.node("quantized_decomposed.dequantize_per_tensor.default", arguments(q), d_out, n.draft.metadata);
    return d;
  };
  const auto held = [&](std::string_view name, const Tensor& tensor) {
    n.draft.program.signature.input_specs.push_back(InputToParameterSpec({Name::own(name)}, Name::own(name)));
    n.draft.program.state_dict.push_back({Name::own(name), tensor});
    const ValueId v = n.draft.b.tensor(name, tensor.dtype, std::span<const std::int64_t>(tensor.sizes));
    n.draft.b.input(n.v(v));
    return v;
  };
  Tensor kernel = Tensor::zeros(ScalarType::int8, std::array<std::int64_t, 4>{8, 3, 3, 3});
  for (std::int64_t i = 0; i < kernel.numel(); ++i)
    kernel.view().as<std::int8_t>()[i] = static_cast<std::int8_t>(i * 37 % 255 - 127);
  Tensor scales = Net::numbers({8}, 0.001, 0.004);
  Tensor zeros = Tensor::zeros(ScalarType::int64, std::array<std::int64_t, 1>{8});
  const auto w8 = held("w8", kernel);
  const auto ws = held("ws", scales);
  const auto wz = held("wz", zeros);
  const auto bias = held("bias", bias_of(scales));
  const auto x = n.input("x", {2, 3, 8, 8});
  const auto w = n.op("quantized_decomposed.dequantize_per_channel.default", "w", {8, 3, 3, 3},
                      {{"input", n.v(w8)},
                       {"scales", n.v(ws)},
                       {"zero_points", n.v(wz)},
                       {"axis", n.i(0)},
                       {"quant_min", n.i(-127)},
                       {"quant_max", n.i(127)},
                       {"dtype", GraphBuilder::scalar_type(ScalarType::int8)}});
  const auto in = quantized("in", x, {2, 3, 8, 8}, 0.01, 3);
  const auto conv = n.op("aten.conv2d.default", "c", {2, 8, 8, 8},
                         {{"input", n.v(in)},
                          {"weight", n.v(w)},
                          {"bias", n.v(bias)},
                          {"stride", n.ints({1, 1})},
                          {"padding", n.ints({1, 1})},
                          {"dilation", n.ints({1, 1})},
                          {"groups", n.i(1)}});
  const auto out = quantized("out", n.relu("r", conv, {2, 8, 8, 8}), {2, 8, 8, 8}, 0.02, -128);
  const auto pool =
      n.op("aten.max_pool2d.default", "p", {2, 8, 4, 4}, {{"self", n.v(out)}, {"kernel_size", n.ints({2, 2})}});
  return n.finish({pool});
}

/// A bias between the numbers that XNNPACK's int8 arithmetic has.
[[nodiscard]] Tensor any_bias(const Tensor&) {
  return Net::numbers({8}, 1, 0, 5);
}
/// A bias of whole products of the input's scale and the weight's.
[[nodiscard]] Tensor whole_bias(const Tensor& scales) {
  Tensor bias = Tensor::zeros(ScalarType::float32, std::array<std::int64_t, 1>{8});
  for (std::int64_t c = 0; c < 8; ++c)
    bias.view().as<float>()[c] = static_cast<float>(c * 37 - 100) * 0.01f * scales.view().as<float>()[c];
  return bias;
}

}  // namespace

TEST_CASE("int8 programs give torch's int8 results; what only moves or is compared stays int8") {
  Net n;
  const ExportedProgram program = quantized_block(n, any_bias);
  CHECK(faults(program, n.sample(), {0, 0}) == "");
  const std::vector<Op> ops = steps(program);
  CHECK(std::ranges::count(ops, Op::quantized_convolution) == 0);
  CHECK(std::ranges::count(ops, Op::convolution) == 1);
  CHECK(std::ranges::count(ops, Op::max_pool_s8) == 1);
}

TEST_CASE("with int8 kernels they are within one step") {
  Net n;
  const ExportedProgram program = quantized_block(n, any_bias);
  CHECK(faults(program, n.sample(), {0, 0.02001}, true) == "");
  const std::vector<Op> ops = steps(program, true);
  CHECK(std::ranges::count(ops, Op::quantized_convolution) == 1);
  CHECK(std::ranges::count(ops, Op::max_pool_s8) == 1);
  CHECK(std::ranges::count(ops, Op::convolution) == 0);
}

TEST_CASE("the bias alone makes the difference") {
  Net n;
  const ExportedProgram program = quantized_block(n, whole_bias);
  CHECK(faults(program, n.sample(), {0, 0}, true) == "");
}
