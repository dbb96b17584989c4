// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/quantized_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "backends/xnnpack/check.hpp"
#include "support/quantized_net.hpp"

using namespace davit;
using support::Net;
using support::QuantizedNet;
using xnnpack_check::faults;
using xnnpack_check::steps;
using xnnpack_parts::Op;

namespace {

/// conv of int8 numbers with a scale per channel, a float bias and relu, to int8; then a max pool, as PT2E writes it.
template <class BiasOf>
[[nodiscard]] ExportedProgram quantized_block(QuantizedNet& n, BiasOf&& bias_of) {
  const auto weights = n.weights("w", {8, 3, 3, 3});
  const auto bias = n.draft.parameter("bias", bias_of(weights.scale_numbers));
  const auto x = n.input("x", {2, 3, 8, 8});
  const auto w = n.dequantize("w", weights, {8, 3, 3, 3});
  const auto in = n.through_bytes("in", x, {2, 3, 8, 8}, {0.01, 3});
  const auto conv = n.conv("c", in, w, bias, {2, 8, 8, 8}, 1, 1, 1);
  const auto out = n.through_bytes("out", n.relu("r", conv, {2, 8, 8, 8}), {2, 8, 8, 8}, {0.02, -128});
  const auto pool =
      n.op("aten.max_pool2d.default", "p", {2, 8, 4, 4}, {{"self", n.v(out)}, {"kernel_size", n.ints({2, 2})}});
  return n.finish({pool});
}

/// A bias between the steps of XNNPACK's int8 arithmetic.
[[nodiscard]] Tensor any_bias(const Tensor&) { return Net::numbers({8}, 1, 0, 5); }
/// A bias of whole multiples of the input's scale times the weight's.
[[nodiscard]] Tensor whole_bias(const Tensor& scales) {
  Tensor bias = Tensor::zeros(ScalarType::float32, std::array<std::int64_t, 1>{8});
  for (std::int64_t c = 0; c < 8; ++c)
    bias.view().as<float>()[c] = static_cast<float>(c * 37 - 100) * 0.01f * scales.view().as<float>()[c];
  return bias;
}

}  // namespace

TEST_CASE("int8 programs give torch's int8 results; moves and comparisons stay int8") {
  QuantizedNet n;
  const ExportedProgram program = quantized_block(n, any_bias);
  CHECK(faults(program, n.sample(), {0, 0}) == "");
  const std::vector<Op> ops = steps(program);
  CHECK(std::ranges::count(ops, Op::quantized_convolution) == 0);
  CHECK(std::ranges::count(ops, Op::convolution) == (kernels::can_convolve_bytes() ? 0 : 1));
  CHECK(std::ranges::count(ops, Op::max_pool_s8) == 1);
}

TEST_CASE("with int8 kernels they are within one step") {
  QuantizedNet n;
  const ExportedProgram program = quantized_block(n, any_bias);
  CHECK(faults(program, n.sample(), {0, 0.02001}, true) == "");
  const std::vector<Op> ops = steps(program, true);
  CHECK(std::ranges::count(ops, Op::quantized_convolution) == 1);
  CHECK(std::ranges::count(ops, Op::max_pool_s8) == 1);
  CHECK(std::ranges::count(ops, Op::convolution) == 0);
}

TEST_CASE("the bias alone makes the difference") {
  QuantizedNet n;
  const ExportedProgram program = quantized_block(n, whole_bias);
  CHECK(faults(program, n.sample(), {0, 0}, true) == "");
}

TEST_CASE("a bound is rounded to its byte as the float that it is") {
  QuantizedNet n;  // 0.3f is 12.500001 steps of 0.024, where 0.3f / 0.024f is a tie
  const auto a = n.through_bytes("a", n.input("x", {1, 8}), {1, 8}, {0.1, 0});
  const auto b = n.through_bytes("b", n.input("y", {1, 8}), {1, 8}, {0.1, 0});
  const auto bounded = n.op("aten.hardtanh.default", "r", {1, 8},
                            {{"self", n.v(n.add("s", a, b, {1, 8}))},
                             {"min_val", xnnpack_check::real(-0.3)},
                             {"max_val", xnnpack_check::real(0.3)}});
  const ExportedProgram program = n.finish({n.quantize("out", bounded, {1, 8}, {0.024, 0})});
  CHECK(std::ranges::count(steps(program, true), Op::kernel) == 3);
  const Tensor ones = Net::numbers({1, 8}, 0, 1);
  const std::vector<Tensor> out = xnnpack_check::outputs(program, {ones.view(), ones.view()}, true);
  REQUIRE(out.size() == 1);
  CHECK(out[0].view().as<std::int8_t>()[0] == 13);
}

TEST_CASE(
    "with int8 kernels functions of two give torch's bytes, one operand broadcast to the other and bounds between") {
  for (const std::string_view target : {"aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor"}) {
    CAPTURE(target);
    QuantizedNet n;
    const auto x = n.through_bytes("x", n.input("x0", {2, 5, 3, 37}), {2, 5, 3, 37}, {0.02, 3});
    const auto gate = n.through_bytes("gate", n.input("x1", {2, 5, 1, 1}), {2, 5, 1, 1}, {0.01, -7});
    const auto other = n.through_bytes("other", n.input("x2", {2, 5, 3, 37}), {2, 5, 3, 37}, {0.03, 0});
    const auto sum =
        n.relu("r", n.op(target, "s", {2, 5, 3, 37}, {{"self", n.v(x)}, {"other", n.v(gate)}}), {2, 5, 3, 37});
    const auto more = n.op(target, "t", {2, 5, 3, 37}, {{"self", n.v(x)}, {"other", n.v(other)}});
    const ExportedProgram program =
        n.finish({n.quantize("q", sum, {2, 5, 3, 37}, {0.015, -20}), n.quantize("p", more, {2, 5, 3, 37}, {0.04, 5})});
    CHECK(faults(program, n.sample(), {0, 0}, true) == "");
  }
}

TEST_CASE("a quantized value may be in a concatenation") {
  QuantizedNet n;
  const auto w = n.weight("w", {3, 2, 1, 1});
  const auto c = n.relu("r", n.Net::conv("c", n.input("x", {2, 2, 4, 4}), w, {2, 3, 4, 4}), {2, 3, 4, 4});
  const auto cat =
      n.op("aten.cat.default", "cat", {2, 6, 4, 4}, {{"tensors", n.draft.b.tensors({c, c})}, {"dim", n.i(1)}});
  const ExportedProgram program = n.finish({cat, n.through_bytes("q", c, {2, 3, 4, 4}, {0.05, 3})});
  for (const bool int8_kernels : {false, true}) CHECK(faults(program, n.sample(), {1e-5, 1e-5}, int8_kernels) == "");
}

TEST_CASE("near the middle of two bytes it is PyTorch's that is made: the reciprocal of 0.03, not of 0.03f") {
  QuantizedNet n;
  const auto x = n.input("x", {250});
  const ExportedProgram program = n.finish({n.through_bytes("q", x, {250}, {0.03, 2})});
  CHECK(std::ranges::count(steps(program), Op::kernel) == 2);
  std::vector<float> numbers;
  for (int i = -125; i < 125; ++i) numbers.push_back(0.03f * (static_cast<float>(i) + 0.5f));
  const Tensor input = *tensor(numbers, {250});
  CHECK(faults(program, {EValue(input.view())}, {0, 0}) == "");
}

TEST_CASE("zero points far from bytes are used as they are") {
  QuantizedNet n;
  auto weights = n.weights("w", {8, 3, 3, 3});
  Tensor zeros = Tensor::zeros(ScalarType::int64, std::array<std::int64_t, 1>{8});
  zeros.view().as<std::int64_t>()[2] = -100000;
  zeros.view().as<std::int64_t>()[5] = 2000;
  weights.zero_points = n.draft.parameter("far_zeros", zeros);
  const auto bias = n.draft.parameter("bias", Net::numbers({8}, 1, 0, 5));
  const auto conv =
      n.conv("c", n.input("x", {2, 3, 8, 8}), n.dequantize("w", weights, {8, 3, 3, 3}), bias, {2, 8, 8, 8}, 1, 1, 1);
  const ExportedProgram program = n.finish({conv});
  for (const bool int8_kernels : {false, true}) CHECK(faults(program, n.sample(), {1e-4, 1e-3}, int8_kernels) == "");
}

TEST_CASE("a NaN becomes PyTorch's byte") {
  QuantizedNet n;
  const auto x = n.input("x", {2, 8});
  const ExportedProgram program = n.finish({n.through_bytes("q", x, {2, 8}, {0.05, 3})});
  std::vector<float> numbers(16, 0.5f);
  numbers[5] = std::numeric_limits<float>::quiet_NaN();
  const Tensor input = *tensor(numbers, {2, 8});
  for (const bool int8_kernels : {false, true})
    CHECK(faults(program, {EValue(input.view())}, {0, 0}, int8_kernels) == "");
}
