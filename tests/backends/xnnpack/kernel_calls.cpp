// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/kernel_calls.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "backends/xnnpack/check.hpp"
#include "davit/backends/xnnpack.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/quantized_net.hpp"
#include "support/random_quantized_net.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::faults;
using xnnpack_check::real;

namespace {

/// A function of x alone.
[[nodiscard]] ExportedProgram unary(Net& n, std::string_view target, std::initializer_list<Net::Named> more = {}) {
  const auto x = n.input("x", {3, 37});
  std::vector<Argument> in{n.v(x)};
  in[0].name = n.draft.b.text("self");
  for (const auto& [name, argument] : more) {
    in.push_back(argument);
    in.back().name = n.draft.b.text(name);
  }
  const auto y = n.draft.b.tensor("y", ScalarType::float32, {3, 37});
  const Argument out[] = {n.v(y)};
  n.draft.b.node(target, in, out, n.draft.metadata);
  return n.finish({y});
}

/// faults() of a net's program; `build` runs before the sample is taken.
template <class Build>
[[nodiscard]] std::string faults_of(Build&& build) {
  Net n;
  const ExportedProgram program = build(n);
  return faults(program, n.sample());
}

/// The output of a unary function for these numbers.
[[nodiscard]] std::vector<float> outputs_of(std::string_view target, std::vector<float> values) {
  Net n;
  const auto size = static_cast<std::int64_t>(values.size());
  const auto x = n.input("x", {size});
  const ExportedProgram program = n.finish({n.op(target, "y", {size}, {{"self", n.v(x)}})});
  Tensor t = Tensor::zeros(ScalarType::float32, std::array{size});
  std::ranges::copy(values, t.view().as<float>());
  const std::vector<Tensor> out = xnnpack_check::outputs(program, {EValue(t.view())});
  if (out.empty()) return {};
  const float* y = out[0].view().as<float>();
  return {y, y + size};
}
}  // namespace

TEST_CASE("functions of one argument") {
  for (const std::string_view target :
       {"aten.abs.default", "aten.ceil.default", "aten.elu.default", "aten.exp.default", "aten.floor.default",
        "aten.gelu.default", "aten.hardsigmoid.default", "aten.hardswish.default", "aten.hardtanh.default",
        "aten.leaky_relu.default", "aten.neg.default", "aten.reciprocal.default", "aten.relu.default",
        "aten.round.default", "aten.sigmoid.default", "aten.silu.default", "aten.tanh.default", "aten.trunc.default"}) {
    CAPTURE(target);
    CHECK(faults_of([&](Net& n) { return unary(n, target); }) == "");
  }
  CHECK(faults_of([](Net& n) { return unary(n, "aten.pow.Tensor_Scalar", {{"exponent", n.i(2)}}); }) == "");
  CHECK(faults_of([](Net& n) { return unary(n, "aten.clamp.default", {{"min", real(-0.25)}}); }) == "");
  CHECK(faults_of([](Net& n) { return unary(n, "aten.gelu.default", {{"approximate", n.draft.b.string("tanh")}}); }) ==
        "");
}

TEST_CASE("functions of two arguments broadcast in any order of dimensions") {
  for (const std::string_view target : {"aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor",
                                        "aten.maximum.default", "aten.minimum.default"}) {
    CAPTURE(target);
    Net n;
    const auto w = n.weight("w", {6, 2, 1, 1});
    const auto channel = n.weight("channel", {6, 1, 1}, 0.5, 2);
    const auto x = n.input("x", {2, 2, 5, 3});
    const auto row = n.input("row", {5, 1});
    const auto c = n.conv("c", x, w, {2, 6, 5, 3});
    const auto a = n.op(target, "a", {2, 6, 5, 3}, {{"self", n.v(c)}, {"other", n.v(channel)}});
    const auto b = n.op(target, "b", {2, 6, 5, 3}, {{"self", n.v(a)}, {"other", n.v(row)}});
    const auto d = n.op(target, "d", {2, 6, 5, 3}, {{"self", n.v(row)}, {"other", n.v(c)}});
    const auto e = n.op(target, "e", {2, 6, 5, 3}, {{"self", n.v(d)}, {"other", real(1.5)}});
    CHECK(faults(n.finish({b, n.relu("f", e, {2, 6, 5, 3})}), n.sample(), {1e-3, 1e-4}) == "");
  }
}

TEST_CASE("NaN stays NaN through functions of one and two arguments") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string_view target : {"aten.relu.default", "aten.sigmoid.default", "aten.tanh.default",
                                        "aten.gelu.default", "aten.exp.default", "aten.hardtanh.default"}) {
    CAPTURE(target);
    const std::vector<float> y = outputs_of(target, {1, nan, 2});
    REQUIRE(y.size() == 3);
    CHECK(std::isnan(y[1]));
    CHECK_FALSE(std::isnan(y[0]));
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(outputs_of("aten.exp.default", {infinity, -infinity, 100, -200}) ==
        std::vector<float>{infinity, 0, infinity, 0});
  CHECK(outputs_of("aten.sigmoid.default", {infinity, -infinity, 3e38f, -3e38f}) == std::vector<float>{1, 0, 1, 0});
}

TEST_CASE("the clamped sum of a residual block keeps NaN, in vectors and in their remainder") {
  for (const std::int64_t size : {1, 5, 40}) {
    CAPTURE(size);
    Net n;
    const auto x = n.input("x", {size}), y = n.input("y", {size});
    const ExportedProgram program =
        n.finish({n.op("aten.hardtanh.default", "h", {size},
                       {{"self", n.v(n.add("s", x, y, {size}))}, {"min_val", real(-1)}, {"max_val", real(6)}})});
    CHECK(xnnpack_check::steps(program) ==
          std::vector{xnnpack_parts::Op::copy, xnnpack_parts::Op::copy, xnnpack_parts::Op::kernel});
    Tensor numbers = Net::numbers({size}, 1, -3);
    numbers.view().as<float>()[size - 1] = std::numeric_limits<float>::quiet_NaN();
    const Tensor ones = Net::numbers({size}, 0, 1);
    const std::vector<Tensor> out = xnnpack_check::outputs(program, {EValue(numbers.view()), EValue(ones.view())});
    REQUIRE(out.size() == 1);
    for (std::int64_t i = 0; i + 1 < size; ++i)
      CHECK(out[0].view().as<float>()[i] == std::clamp(numbers.view().as<float>()[i] + 1, -1.0f, 6.0f));
    CHECK(std::isnan(out[0].view().as<float>()[size - 1]));
  }
}

TEST_CASE("a clamped sum of 16-bit floats is computed in their dtype") {
  Net n;
  const auto x = n.input("x", {5}), y = n.input("y", {5});
  ExportedProgram program = n.finish({n.op(
      "aten.clamp.default", "c", {5}, {{"self", n.v(n.add("s", x, y, {5}))}, {"min", real(-1)}, {"max", real(6)}})});
  for (Value& value : program.graph_module.values) value.dtype = ScalarType::bfloat16;
  Tensor numbers = Tensor::zeros(ScalarType::bfloat16, std::vector<std::int64_t>{5});
  for (int i = 0; i < 5; ++i) numbers.view().as<BFloat16>()[i] = BFloat16(static_cast<float>(2 * i - 3));
  CHECK(xnnpack_check::faults(program, {EValue(numbers.view()), EValue(numbers.view())}) == "");
}

TEST_CASE("a tensor without dimensions does not promote the other operand") {
  Net n;
  Tensor number = Tensor::zeros(ScalarType::int8, {});
  number.view().as<std::int8_t>()[0] = -29;
  const auto x = n.input("x", {2, 2, 1}), b = n.draft.parameter("b", number);
  const auto y = n.op("aten.gt.Tensor", "y", {2, 2, 1}, {{"self", n.v(x)}, {"other", n.v(b)}});
  ExportedProgram program = n.finish({y});
  program.graph_module.values[x].dtype = ScalarType::uint8;
  program.graph_module.values[y].dtype = ScalarType::bool_;
  Tensor bytes = Tensor::zeros(ScalarType::uint8, std::vector<std::int64_t>{2, 2, 1});
  for (int i = 0; i < 4; ++i) bytes.view().as<std::uint8_t>()[i] = static_cast<std::uint8_t>(80 * i);
  CHECK(xnnpack_check::faults(program, {EValue(bytes.view())}) == "");
  const std::vector<Tensor> out = xnnpack_check::outputs(program, {EValue(bytes.view())});
  REQUIRE(out.size() == 1);
  CHECK(out[0].view().as<bool>()[3]);  // 240 > 227
  CHECK_FALSE(out[0].view().as<bool>()[2]);
}

using xnnpack_check::steps;
using xnnpack_parts::Op;

namespace {

/// A group norm of the input; parameters are left out if they are no_id.
ValueId group_norm(Net& n, ValueId x, ValueId weight, ValueId bias, support::Sizes sizes, std::int64_t groups) {
  const std::int64_t batch = sizes.begin()[0], channels = sizes.begin()[1];
  std::int64_t plane = 1;
  for (std::size_t d = 2; d < sizes.size(); ++d) plane *= sizes.begin()[d];
  const auto given = [&](ValueId v) { return v == no_id ? Argument{} : n.v(v); };
  return n.many("aten.native_group_norm.default", {{"g", sizes}, {"g1", {batch, groups}}, {"g2", {batch, groups}}},
                {{"input", n.v(x)},
                 {"weight", given(weight)},
                 {"bias", given(bias)},
                 {"N", n.i(batch)},
                 {"C", n.i(channels)},
                 {"HxW", n.i(plane)},
                 {"group", n.i(groups)},
                 {"eps", real(1e-5)}})[0];
}

}  // namespace

TEST_CASE("softmax, log_softmax and layer_norm") {
  Net n;
  const auto gamma = n.weight("gamma", {3, 19});
  const auto beta = n.weight("beta", {3, 19});
  const auto x = n.input("x", {4, 3, 19});
  const auto soft = n.op("aten._softmax.default", "s", {4, 3, 19},
                         {{"self", n.v(x)}, {"dim", n.i(1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const auto log = n.op("aten._log_softmax.default", "l", {4, 3, 19},
                        {{"self", n.v(x)}, {"dim", n.i(-1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const auto norm = n.many("aten.native_layer_norm.default", {{"n", {4, 3, 19}}, {"n1", {4, 1, 1}}, {"n2", {4, 1, 1}}},
                           {{"input", n.v(x)},
                            {"normalized_shape", n.ints({3, 19})},
                            {"weight", n.v(gamma)},
                            {"bias", n.v(beta)},
                            {"eps", real(1e-5)}})[0];
  CHECK(faults(n.finish({soft, log, norm}), n.sample()) == "");
}

TEST_CASE("group norms: of few and many channels, images, lines, volumes and vectors, with and without parameters") {
  for (const std::int64_t groups : {1, 2, 5, 40}) {
    CAPTURE(groups);
    Net n;
    const auto x = n.input("x", {2, 40, 5, 3});
    CHECK(faults(n.finish({group_norm(n, x, n.weight("gamma", {40}), n.weight("beta", {40}), {2, 40, 5, 3}, groups)}),
                 n.sample()) == "");
    Net plain;
    const auto y = plain.input("x", {2, 40, 7});
    CHECK(faults(plain.finish({group_norm(plain, y, no_id, no_id, {2, 40, 7}, groups)}), plain.sample()) == "");
  }
  Net volume;
  const auto x = volume.input("x", {2, 6, 2, 3, 4});
  CHECK(faults(volume.finish({group_norm(volume, x, volume.weight("gamma", {6}), no_id, {2, 6, 2, 3, 4}, 3)}),
               volume.sample()) == "");
  Net vector;
  const auto y = vector.input("x", {3, 6});
  CHECK(faults(vector.finish({group_norm(vector, y, no_id, vector.weight("beta", {6}), {3, 6}, 2)}), vector.sample()) ==
        "");
}

TEST_CASE("a group norm between convolutions reads planes of their images") {
  Net n;
  const auto x = n.input("x", {1, 8, 6, 6});
  const auto first = n.conv("c1", x, n.weight("w1", {16, 8, 3, 3}, 0.2), {1, 16, 6, 6}, 1, 1);
  const auto norm = n.relu("r", group_norm(n, first, n.weight("gamma", {16}), n.weight("beta", {16}), {1, 16, 6, 6}, 4),
                           {1, 16, 6, 6});
  const ExportedProgram program =
      n.finish({n.conv("c2", norm, n.weight("w22", {8, 16, 3, 3}, 0.2), {1, 8, 6, 6}, 1, 1)});
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program) ==
        std::vector{Op::copy, Op::convolution, Op::copy, Op::kernel, Op::kernel, Op::copy, Op::convolution, Op::copy});
}

using support::QuantizedNet;
using support::Sizes;

TEST_CASE("random nets of bytes are portable's to the last bit") {
  std::size_t joined = 0, ran = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    QuantizedNet n;
    std::size_t layer = 0;
    const ExportedProgram program = support::random_quantized_net(n, seed, layer);
    const std::vector<Op> ops = steps(program);  // no step on uint8, which is refused
    INFO("seed " << seed);
    joined += static_cast<std::size_t>(std::ranges::count(ops, Op::kernel));
    if (ops.empty()) continue;
    ++ran;
    CHECK(faults(program, n.sample(), {0, 0}) == "");
  }
  CHECK(ran > 10);
  if (kernels::can_convolve_bytes()) CHECK(joined > ran);
}

TEST_CASE("rows, lines and sums of bytes stay bytes") {
  QuantizedNet n;
  const auto weights = n.weights("w", {12, 8});
  const auto taps = n.weights("t", {12, 12, 3});
  const auto a = n.through_bytes("a", n.input("x", {3, 6, 8}), {3, 6, 8}, {0.01, 3});
  const auto b = n.through_bytes("b", n.input("y", {3, 6, 8}), {3, 6, 8}, {0.02, -128});
  const auto sum = n.through_bytes("sum", n.add("s", a, b, {3, 6, 8}), {3, 6, 8}, {0.013, -5});
  const auto rows = n.op("aten.linear.default", "l", {3, 6, 12},
                         {{"input", n.v(sum)}, {"weight", n.v(n.dequantize("wf", weights, {12, 8}))}});
  const auto made = n.through_bytes("rows", rows, {3, 6, 12}, {0.03, 11});
  const auto turned =
      n.op("aten.permute.default", "turned", {3, 12, 6}, {{"self", n.v(made)}, {"dims", n.ints({0, 2, 1})}});
  const auto again = n.through_bytes("again", turned, {3, 12, 6}, {0.03, 11});
  const auto line =
      n.op("aten.conv1d.default", "c", {3, 12, 6},
           {{"input", n.v(again)}, {"weight", n.v(n.dequantize("tf", taps, {12, 12, 3}))}, {"padding", n.ints({1})}});
  const ExportedProgram program = n.finish({n.quantize("out", line, {3, 12, 6}, {0.2, 0}), sum});
  const std::vector<Op> ops = steps(program);
  if (kernels::can_convolve_bytes())
    CHECK(std::ranges::count(ops, Op::kernel) == 6);  // two inputs become bytes, and one result becomes floats
  CHECK(faults(program, n.sample(), {0, 0}) == "");
}

TEST_CASE("kernels on bytes give the same on the pool's threads, in several sessions") {
  const auto outputs = [](std::uint32_t threads) {
    QuantizedNet n;
    const Sizes sizes{1, 64, 40, 40};
    const auto weights = n.weights("w", {64, 64, 3, 3});
    const auto in = n.through_bytes("in", n.input("x", sizes), sizes, {0.01, 3});
    const ExportedProgram program = n.finish({n.quantize(
        "out", n.conv("c", in, n.dequantize("wf", weights, {64, 64, 3, 3}), no_id, sizes, 1, 1, 1), sizes, {0.5, 7})});
    const auto lowered = to_backend<xnnpack>(program, {.threads = threads});
    REQUIRE(lowered);
    std::vector<std::vector<std::int8_t>> all;
    for (int session = 0; session < 2; ++session) {
      auto made = Session::make(*lowered);
      REQUIRE(made);
      const auto out = made->run(0, n.sample());
      REQUIRE(out);
      const TensorView t = out->all()[0].tensor();
      all.emplace_back(t.as<std::int8_t>(), t.as<std::int8_t>() + t.numel());
    }
    return all;
  };
  const auto one = outputs(1);
  CHECK(one[0] == one[1]);
  CHECK(std::ranges::any_of(one[0], [&](std::int8_t x) { return x != one[0][0]; }));
  CHECK(outputs(2) == one);
}
