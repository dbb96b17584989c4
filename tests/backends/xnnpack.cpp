// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/testing/backend_laws.hpp"
#include "davit/testing/compare.hpp"
#include "support/net.hpp"

using namespace davit;
using support::Net;
using support::Sizes;
using xnnpack_parts::Op;

namespace {

/// What differs between XNNPACK's outputs and portable's, and which laws are broken; empty if all is well.
[[nodiscard]] std::string faults(const ExportedProgram& program, const std::vector<EValue>& sample,
                                 testing::Tolerance tolerance = {1e-4, 1e-5}) {
  std::string text;
  const testing::SampleInputs samples[] = {sample};
  (void)testing::check_backend_laws<xnnpack>(program, {}, samples, [&](std::string_view law, std::string_view what) {
    text += std::string(law) + ": " + std::string(what) + "\n";
  });
  const auto actual = to_backend<xnnpack>(program, {});
  const auto expected = to_backend<portable>(program, {});
  if (!actual || !expected) return text + to_string(actual ? expected.error() : actual.error());
  Session<xnnpack> session(*actual);
  Session<portable> reference(*expected);
  const auto a = session.run(0, sample);
  const auto b = reference.run(0, sample);
  if (!a || !b) return text + to_string(a ? b.error() : a.error());
  for (std::size_t i = 0; i < a->size(); ++i)
    text += testing::compare((*a)[i], (*b)[i], tolerance, testing::Check::close);
  return text;
}

/// The steps a program becomes.
[[nodiscard]] std::vector<Op> steps(const ExportedProgram& program) {
  std::vector<Op> ops;
  const auto lowered = to_backend<xnnpack>(program, {});
  if (!lowered) return ops;
  const auto plan = xnnpack_parts::make_plan(*lowered->methods()[0].processed.body);
  if (plan)
    for (const xnnpack_parts::Step& step : plan->steps) ops.push_back(step.op);
  return ops;
}

/// Why the last node of a program is refused; "" if it is taken.
[[nodiscard]] std::string reason(const ExportedProgram& program) {
  const char* why = xnnpack::refuses(program.view(), static_cast<NodeId>(program.view().nodes.size() - 1));
  return why == nullptr ? "" : why;
}

[[nodiscard]] Argument real(double v) {
  return GraphBuilder::real(v);
}

/// conv, norm, relu, conv, norm, + shortcut, relu.
[[nodiscard]] ExportedProgram residual_block(Net& n) {
  const auto w1 = n.weight("w1", {32, 16, 3, 3}, 0.2);
  const auto w2 = n.weight("w2x", {32, 32, 3, 3}, 0.1);
  const auto w3 = n.weight("w3xx", {32, 16, 1, 1}, 0.3);
  const auto x = n.input("x", {2, 16, 10, 10});
  const auto a = n.relu("a", n.norm("n1", n.conv("c1", x, w1, {2, 32, 5, 5}, 2, 1), {2, 32, 5, 5}), {2, 32, 5, 5});
  const auto b = n.norm("n2", n.conv("c2", a, w2, {2, 32, 5, 5}, 1, 1), {2, 32, 5, 5});
  const auto c = n.norm("n3", n.conv("c3", x, w3, {2, 32, 5, 5}, 2), {2, 32, 5, 5});
  return n.finish({n.relu("out", n.add("sum", b, c, {2, 32, 5, 5}), {2, 32, 5, 5})});
}

/// x through one function of one argument.
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

/// faults() of a program of a net, which is built before its sample is taken.
template <class Build>
[[nodiscard]] std::string faults_of(Build&& build) {
  Net n;
  const ExportedProgram program = build(n);
  return faults(program, n.sample());
}

/// The output of a function of one argument on these numbers.
[[nodiscard]] std::vector<float> outputs_of(std::string_view target, std::vector<float> values) {
  Net n;
  const auto size = static_cast<std::int64_t>(values.size());
  const auto x = n.input("x", {size});
  const auto lowered = to_backend<xnnpack>(n.finish({n.op(target, "y", {size}, {{"self", n.v(x)}})}), {});
  if (!lowered) return {};
  Tensor t = Tensor::zeros(ScalarType::float32, std::array{size});
  std::ranges::copy(values, t.view().as<float>());
  Session<xnnpack> session(*lowered);
  const EValue in[] = {EValue(t.view())};
  const auto out = session.run(0, in);
  if (!out) return {};
  const float* y = (*out)[0].tensor().as<float>();
  return {y, y + size};
}

}  // namespace

TEST_CASE("XNNPACK runs here") {
  REQUIRE(xnnpack::is_available());
}

TEST_CASE("a residual block: norms and relus are part of the convolutions and of the sum") {
  Net n;
  const ExportedProgram program = residual_block(n);
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program) == std::vector{Op::copy, Op::convolution, Op::convolution, Op::convolution, Op::add, Op::copy});
}

TEST_CASE("groups, depthwise, dilation, padding by hand") {
  Net n;
  const auto w1 = n.weight("w1", {32, 8, 3, 3}, 0.2);
  const auto w2 = n.weight("w22", {32, 1, 3, 3});
  const auto x = n.input("x", {1, 16, 9, 9});
  const auto padded = n.op("aten.constant_pad_nd.default", "p", {1, 16, 12, 10},
                           {{"self", n.v(x)}, {"pad", n.ints({1, 0, 2, 1})}, {"value", n.i(0)}});
  const auto c1 = n.conv("c1", padded, w1, {1, 32, 8, 6}, 1, 0, 2, 2);
  const auto c2 =
      n.op("aten.hardtanh.default", "h", {1, 32, 8, 6},
           {{"self", n.v(n.conv("c2", c1, w2, {1, 32, 8, 6}, 1, 1, 32))}, {"min_val", real(0)}, {"max_val", real(6)}});
  const ExportedProgram program = n.finish({c2});
  CHECK(faults(program, n.sample()) == "");
  CHECK(std::ranges::count(steps(program), Op::pad) == 0);
}

TEST_CASE("padding 'same' puts the odd element at the end") {
  Net n;
  const auto w = n.weight("w", {5, 4, 2, 4}, 0.2);
  const auto x = n.input("x", {1, 4, 8, 6});
  const auto same = n.op("aten.conv2d.padding", "same", {1, 5, 8, 6},
                         {{"input", n.v(x)},
                          {"weight", n.v(w)},
                          {"bias", {}},
                          {"stride", n.ints({1, 1})},
                          {"padding", n.draft.b.string("same")},
                          {"dilation", n.ints({1, 1})},
                          {"groups", n.i(1)}});
  const auto padded =
      n.op("aten.constant_pad_nd.default", "p", {1, 4, 9, 9}, {{"self", n.v(x)}, {"pad", n.ints({1, 2, 0, 1})}});
  const auto lowered = to_backend<xnnpack>(n.finish({same, n.conv("c", padded, w, {1, 5, 8, 6})}), {});
  REQUIRE(lowered);
  Session<xnnpack> session(*lowered);
  const auto out = session.run(0, n.sample());
  REQUIRE(out);
  CHECK(testing::compare((*out)[0], (*out)[1], {}, testing::Check::close) == "");
}

TEST_CASE("a padding that others use too stays") {
  Net n;
  const auto w = n.weight("w", {16, 16, 3, 3});
  const auto x = n.input("x", {1, 16, 5, 5});
  const auto padded =
      n.op("aten.constant_pad_nd.default", "p", {1, 16, 7, 7}, {{"self", n.v(x)}, {"pad", n.ints({1, 1, 1, 1})}});
  const ExportedProgram program = n.finish({n.conv("c", padded, w, {1, 16, 5, 5}), padded});
  CHECK(faults(program, n.sample()) == "");
  CHECK(std::ranges::count(steps(program), Op::pad) == 1);
}

TEST_CASE("weights that are not constant, and norms that cannot be folded") {
  Net n;
  const auto x = n.input("x", {1, 16, 6, 6});
  const auto w = n.input("w", {24, 16, 3, 3});
  const auto gamma = n.input("gamma", {24});
  const auto beta = n.weight("beta", {24});
  const auto mean = n.weight("mean", {24});
  const auto variance = n.weight("variance", {24}, 0.4, 1);
  const auto c = n.conv("c", x, w, {1, 24, 4, 4});
  CHECK(faults(n.finish({n.relu("r", n.norm("bn", c, gamma, beta, mean, variance, {1, 24, 4, 4}), {1, 24, 4, 4})}),
               n.sample()) == "");
}

TEST_CASE("a norm without a convolution") {
  Net n;
  const auto x = n.input("x", {2, 5, 3, 3});
  const ExportedProgram program = n.finish({n.relu("r", n.norm("bn", x, {2, 5, 3, 3}), {2, 5, 3, 3})});
  CHECK(faults(program, n.sample()) == "");
  CHECK(std::ranges::count(steps(program), Op::convolution) == 1);
}

TEST_CASE("weights beyond the cache are cut into parts") {
  Net n;
  const auto w = n.weight("w", {304, 128, 3, 3}, 0.05);
  const auto m = n.weight("mm", {700, 1216}, 0.05);
  const auto bias = n.weight("bias", {700});
  const auto x = n.input("x", {9, 128, 2, 2});
  const auto c = n.relu("r", n.conv("c", x, w, {9, 304, 2, 2}, 1, 1), {9, 304, 2, 2});
  const auto flat = n.op("aten.view.default", "flat", {9, 1216}, {{"self", n.v(c)}, {"size", n.ints({9, 1216})}});
  CHECK(faults(n.finish({n.op("aten.linear.default", "l", {9, 700},
                              {{"input", n.v(flat)}, {"weight", n.v(m)}, {"bias", n.v(bias)}})}),
               n.sample()) == "");
}

TEST_CASE("parts of a concatenation are made in their places") {
  Net n;
  const auto w1 = n.weight("w1", {16, 16, 1, 1});
  const auto w2 = n.weight("w22", {32, 16, 3, 3}, 0.2);
  const auto x = n.input("x", {2, 16, 6, 6});
  const auto a = n.relu("a", n.conv("c1", x, w1, {2, 16, 6, 6}), {2, 16, 6, 6});
  const auto b = n.relu("b", n.conv("c2", x, w2, {2, 32, 6, 6}, 1, 1), {2, 32, 6, 6});
  const auto cat =
      n.op("aten.cat.default", "cat", {2, 48, 6, 6}, {{"tensors", n.draft.b.tensors({a, b})}, {"dim", n.i(1)}});
  const auto pool = n.op(
      "aten.max_pool2d.default", "pool", {2, 48, 3, 3},
      {{"self", n.v(cat)}, {"kernel_size", n.ints({3, 3})}, {"stride", n.ints({2, 2})}, {"padding", n.ints({1, 1})}});
  const ExportedProgram program = n.finish({pool, n.op("aten.neg.default", "neg", {2, 16, 6, 6}, {{"self", n.v(a)}})});
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program) ==
        std::vector{Op::copy, Op::convolution, Op::convolution, Op::max_pool, Op::negate, Op::copy, Op::copy});
}

TEST_CASE("concatenations of anything else: constants, inputs, the same value twice, other dimensions") {
  Net n;
  const auto k = n.weight("k", {2, 1, 4, 4});
  const auto w = n.weight("w", {3, 2, 1, 1});
  const auto x = n.input("x", {2, 2, 4, 4});
  const auto c = n.conv("c", x, w, {2, 3, 4, 4});
  const auto channels =
      n.op("aten.cat.default", "cat", {2, 9, 4, 4}, {{"tensors", n.draft.b.tensors({c, k, x, c})}, {"dim", n.i(1)}});
  const auto rows =
      n.op("aten.cat.default", "rows", {2, 3, 8, 4}, {{"tensors", n.draft.b.tensors({c, c})}, {"dim", n.i(-2)}});
  CHECK(faults(n.finish({channels, rows}), n.sample()) == "");
}

TEST_CASE("pools: rounding up, averages, adaptive, global, and means over any dimensions") {
  Net n;
  const auto x = n.input("x", {2, 7, 12, 10});
  const auto pool = n.op("aten.max_pool2d.default", "m", {2, 7, 6, 5},
                         {{"self", n.v(x)},
                          {"kernel_size", n.ints({3, 2})},
                          {"stride", n.ints({2, 2})},
                          {"padding", n.ints({0, 0})},
                          {"dilation", n.ints({1, 1})},
                          {"ceil_mode", GraphBuilder::boolean(true)}});
  const auto average = n.op("aten.avg_pool2d.default", "a", {2, 7, 4, 3},
                            {{"self", n.v(x)}, {"kernel_size", n.ints({3, 4})}, {"stride", n.ints({3, 3})}});
  const auto uneven = n.op("aten.avg_pool2d.default", "u", {2, 7, 6, 5},
                           {{"self", n.v(x)},
                            {"kernel_size", n.ints({3, 3})},
                            {"stride", n.ints({2, 2})},
                            {"padding", n.ints({1, 1})},
                            {"ceil_mode", GraphBuilder::boolean(false)},
                            {"count_include_pad", GraphBuilder::boolean(false)}});
  const auto adaptive =
      n.op("aten._adaptive_avg_pool2d.default", "d", {2, 7, 3, 5}, {{"self", n.v(x)}, {"output_size", n.ints({3, 5})}});
  const auto global =
      n.op("aten._adaptive_avg_pool2d.default", "g", {2, 7, 1, 1}, {{"self", n.v(x)}, {"output_size", n.ints({1, 1})}});
  const auto spatial = n.op("aten.mean.dim", "s", {2, 7}, {{"self", n.v(x)}, {"dim", n.ints({-1, -2})}});
  const auto last = n.op("aten.mean.dim", "l", {2, 7, 12, 1},
                         {{"self", n.v(x)}, {"dim", n.ints({3})}, {"keepdim", GraphBuilder::boolean(true)}});
  const auto outer = n.op("aten.mean.dim", "o", {7, 10}, {{"self", n.v(x)}, {"dim", n.ints({0, 2})}});
  const auto all = n.op("aten.mean.default", "all", {}, {{"self", n.v(x)}});
  CHECK(faults(n.finish({pool, average, uneven, adaptive, global, spatial, last, outer, all}), n.sample()) == "");
}

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

TEST_CASE("products: linear, addmm, mm, bmm, constant or not, biases of any shape") {
  Net n;
  const auto w = n.weight("w", {5, 7});
  const auto m = n.weight("mm", {7, 5});
  const auto bias = n.weight("bias", {5});
  const auto column = n.weight("column", {4, 1});
  const auto x = n.input("x", {4, 7});
  const auto y = n.input("y", {7, 5});
  const auto p = n.input("p", {3, 4, 7});
  const auto q = n.input("q", {3, 5, 7});
  const auto swapped =
      n.op("aten.permute.default", "swapped", {3, 7, 5}, {{"self", n.v(q)}, {"dims", n.ints({0, 2, 1})}});
  const auto linear =
      n.op("aten.linear.default", "l", {3, 4, 5}, {{"input", n.v(p)}, {"weight", n.v(w)}, {"bias", n.v(bias)}});
  const auto addmm =
      n.op("aten.addmm.default", "a", {4, 5}, {{"self", n.v(column)}, {"mat1", n.v(x)}, {"mat2", n.v(m)}});
  const auto mm = n.op("aten.mm.default", "b", {4, 5}, {{"self", n.v(x)}, {"mat2", n.v(y)}});
  const auto bmm = n.op("aten.bmm.default", "c", {3, 4, 5}, {{"self", n.v(p)}, {"mat2", n.v(swapped)}});
  CHECK(faults(n.finish({linear, n.relu("r", addmm, {4, 5}), mm, bmm}), n.sample()) == "");
}

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

TEST_CASE("views of images: no copy where the elements already lie so") {
  Net n;
  const auto w = n.weight("w", {8, 3, 2, 2});
  const auto x = n.input("x", {1, 3, 4, 4});
  const auto c = n.conv("c", x, w, {1, 8, 2, 2}, 2);
  const auto flat = n.op("aten.view.default", "flat", {1, 8, 4}, {{"self", n.v(c)}, {"size", n.ints({1, 8, 4})}});
  const auto tokens =
      n.op("aten.permute.default", "tokens", {1, 4, 8}, {{"self", n.v(flat)}, {"dims", n.ints({0, 2, 1})}});
  const ExportedProgram program = n.finish({tokens});
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program) == std::vector{Op::copy, Op::convolution});
}

TEST_CASE("slices, selections, splits and repetitions") {
  Net n;
  const auto x = n.input("x", {4, 6, 5});
  const auto slice = n.op("aten.slice.Tensor", "a", {4, 2, 5},
                          {{"self", n.v(x)}, {"dim", n.i(1)}, {"start", n.i(1)}, {"end", n.i(5)}, {"step", n.i(2)}});
  const auto select = n.op("aten.select.int", "b", {4, 5}, {{"self", n.v(x)}, {"dim", n.i(1)}, {"index", n.i(-1)}});
  const auto one = n.op("aten.slice.Tensor", "c", {1, 6, 5}, {{"self", n.v(x)}, {"dim", n.i(0)}, {"start", n.i(-1)}});
  const auto expand = n.op("aten.expand.default", "d", {3, 6, 5}, {{"self", n.v(one)}, {"size", n.ints({3, -1, -1})}});
  CHECK(faults(n.finish({slice, select, expand}), n.sample()) == "");
}

TEST_CASE("NaN stays NaN through functions of one and two arguments") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string_view target : {"aten.relu.default", "aten.sigmoid.default", "aten.tanh.default",
                                        "aten.gelu.default", "aten.exp.default", "aten.hardtanh.default"}) {
    CAPTURE(target);
    const std::vector<float> y = outputs_of(target, {1, nan, 2});
    REQUIRE(y.size() == 3);
    CHECK(y[1] != y[1]);
    CHECK(y[0] == y[0]);
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(outputs_of("aten.exp.default", {infinity, -infinity, 100, -200}) ==
        std::vector<float>{infinity, 0, infinity, 0});
  CHECK(outputs_of("aten.sigmoid.default", {infinity, -infinity, 3e38f, -3e38f}) == std::vector<float>{1, 0, 1, 0});
}

TEST_CASE("a program that quantizes runs on int8, within one step of float arithmetic") {
  Net n;
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
  const auto bias = n.weight("bias", {8});
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
  const ExportedProgram program = n.finish({pool});
  CHECK(faults(program, n.sample(), {0, 0.02001}) == "");
  const std::vector<Op> ops = steps(program);
  CHECK(std::ranges::count(ops, Op::quantized_convolution) == 1);
  CHECK(std::ranges::count(ops, Op::max_pool_s8) == 1);
  CHECK(std::ranges::count(ops, Op::convolution) == 0);
}

TEST_CASE("what is refused, and why") {
  {
    Net n;
    const auto x = n.input("x", {1, 2, 3, 3, 3});
    const auto w = n.weight("w", {2, 2, 1, 1, 1});
    CHECK(reason(n.finish({n.op("aten.convolution.default", "c", {1, 2, 3, 3, 3},
                                {{"input", n.v(x)}, {"weight", n.v(w)}})})) == "neither a 1-d nor a 2-d convolution");
  }
  {
    Net n;
    const auto x = n.input("x", {1, 2, 3, 3});
    const auto w = n.weight("w", {2, 2, 1, 1});
    CHECK(reason(
              n.finish({n.op("aten.convolution.default", "c", {1, 2, 3, 3},
                             {{"input", n.v(x)}, {"weight", n.v(w)}, {"transposed", GraphBuilder::boolean(true)}})})) ==
          "a transposed convolution");
  }
  {
    Net n;
    const auto x = n.input("x", {2});
    CHECK(reason(n.finish(
              {n.op("aten.add.Tensor", "y", {2}, {{"self", n.v(x)}, {"other", n.v(x)}, {"alpha", n.i(2)}})})) ==
          "an alpha other than 1");
  }
  {
    Net n;
    const auto x = n.input("x", {2});
    CHECK(reason(n.finish({n.op("aten.sin.default", "y", {2}, {{"self", n.v(x)}})})) == "no XNNPACK operator for this");
  }
  {
    Net n;
    const auto x = n.input("x", {1, 2, 4, 4});
    const auto pooled = n.many("aten.max_pool2d_with_indices.default", {{"p", {1, 2, 2, 2}}, {"i", {1, 2, 2, 2}}},
                               {{"self", n.v(x)}, {"kernel_size", n.ints({2, 2})}});
    CHECK(reason(n.finish({pooled[0], pooled[1]})) == "the indices of the maxima are used");
  }
}

TEST_CASE("a graph that contradicts its sizes is an error before anything runs") {
  Net n;
  const auto w = n.weight("w", {4, 2, 3, 3});
  const auto x = n.input("x", {1, 2, 8, 8});
  const ExportedProgram program = n.finish({n.conv("c", x, w, {1, 4, 9, 9})});
  const auto lowered = to_backend<xnnpack>(program, {});
  REQUIRE(lowered);
  Session<xnnpack> session(*lowered);
  const auto out = session.run(0, n.sample());
  REQUIRE(!out);
  CHECK(out.error().code == ErrorCode::invalid_shape);
}

TEST_CASE("sessions of one module run at the same time, with fewer and with more engines than sessions") {
  Net n;
  const ExportedProgram program = residual_block(n);
  const std::vector<EValue> sample = n.sample();
  for (const std::uint32_t engines : {1u, 2u, 8u}) {
    const auto lowered = to_backend<xnnpack>(program, {.threads = 1, .concurrent_runs = engines});
    REQUIRE(lowered);
    Session<xnnpack> first(*lowered);
    const auto reference = first.run(0, sample);
    REQUIRE(reference);
    const testing::Snapshot expected(*reference);
    std::vector<int> wrong(4, 0);
    std::vector<std::thread> threads;
    for (int& count : wrong)
      threads.emplace_back([&] {
        Session<xnnpack> session(*lowered);
        for (int i = 0; i < 20; ++i) {
          const auto out = session.run(0, sample);
          if (!out || testing::Snapshot(*out) != expected) ++count;
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector(4, 0));
  }
}

TEST_CASE("several threads give what one gives") {
  Net n;
  const ExportedProgram program = residual_block(n);
  const auto one = to_backend<xnnpack>(program, {.threads = 1});
  const auto three = to_backend<xnnpack>(program, {.threads = 3});
  REQUIRE(one);
  REQUIRE(three);
  Session<xnnpack> a(*one);
  Session<xnnpack> b(*three);
  const auto x = a.run(0, n.sample());
  const auto y = b.run(0, n.sample());
  REQUIRE(x);
  REQUIRE(y);
  CHECK(testing::Snapshot(*x) == testing::Snapshot(*y));
}
