// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/int8_fusion.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "backends/onednn/check.hpp"
#include "davit/backends/onednn.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/quantized_net.hpp"
#include "support/quantized_outputs.hpp"
#include "support/random_quantized_net.hpp"

using namespace davit;
using onednn_ops::Operation;
using onednn_ops::OpKind;
using support::QuantizedNet;
using support::Sizes;
using Steps = QuantizedNet::Steps;
using support::After;
using support::clamp;
using support::quantized_convolution;

namespace {

using onednn_ops::has_int8_primitives;
/// True if oneDNN or davit's own kernels compute products of bytes on this CPU.
[[nodiscard]] bool has_int8_products() { return has_int8_primitives() || kernels::can_convolve_bytes(); }

/// The kinds of a program's fused operations: c(onvert), k(ernel), P(roduct), S(um), p(ool), v(iew), e(ltwise),
/// o(ther).
[[nodiscard]] std::string joined(const ExportedProgram& program) {
  std::vector<Operation> operations = onednn_check::operations(program.view());
  REQUIRE(!operations.empty());
  const GraphModuleView g = program.view();
  std::vector<const Tensor*> constants(g.values.size(), nullptr);
  const auto inputs = g.args(g.root().inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto name = target(program.signature.input_specs[i]))
      constants[inputs[i].value()] = program.tensor_named(*name);
  const auto constant_of = [&](ValueId v) { return constants[v]; };
  onednn_ops::Int8Fusion(g, operations, constant_of, {}).run();
  std::string text;
  for (const Operation& op : operations)
    text += op.kind == OpKind::convert        ? 'c'
            : op.kind == OpKind::kernel       ? 'k'
            : op.kind == OpKind::int8_product ? 'P'
            : op.kind == OpKind::int8_sum     ? 'S'
            : op.kind == OpKind::pool         ? 'p'
            : op.kind == OpKind::view         ? 'v'
            : op.kind == OpKind::eltwise      ? 'e'
                                              : 'o';
  return text;
}

/// The outputs of a run with the net's inputs.
[[nodiscard]] support::Outputs outputs(const ExportedProgram& program, const std::vector<EValue>& inputs) {
  return support::outputs_of(program, CapabilityPartitioner<BackendList<onednn>>(), inputs);
}
void check_close(const ExportedProgram& program, const std::vector<EValue>& inputs, float most = 1) {
  support::check_bytes(outputs(program, inputs), support::outputs_node_by_node(program, inputs), most);
}

}  // namespace

TEST_CASE("a convolution between bytes is one operation, with the activation after it") {
  if (!has_int8_products()) return;
  for (const After& after : support::after::joined) {
    QuantizedNet n;
    const ExportedProgram program = quantized_convolution(n, after);
    CHECK(joined(program) == "cP");
    check_close(program, n.sample());
  }
  for (const After& after : {After(), support::after::relu, support::after::relu6}) {  // to uint8
    QuantizedNet n;
    const ExportedProgram program = quantized_convolution(n, after, {0.05, 130, ScalarType::uint8});
    CHECK(joined(program) == "cP");
    check_close(program, n.sample());
  }
  // other scales behind than before
  QuantizedNet n;
  const ExportedProgram program = quantized_convolution(n, support::after::clamped_bytes({0.04, 7}));
  CHECK(joined(program) == "cPcec");
  check_close(program, n.sample());
}

TEST_CASE("operators that would give another result stay in float") {
  for (const auto& [after, to] :
       {std::pair(support::after::tanh, Steps{0.01, 0}), std::pair(support::after::twice, Steps{0.05, 7}),
        std::pair(After(), Steps{1e-35, 0})}) {
    QuantizedNet n;
    const ExportedProgram program = quantized_convolution(n, after, to);
    CHECK(joined(program).find('P') == std::string::npos);
    if (to.scale > 1e-30) check_close(program, n.sample());
  }
}

TEST_CASE("without int8 kernels a program of bytes is computed in float, as portable does it") {
  QuantizedNet n;
  const ExportedProgram program = quantized_convolution(n, {});
  const auto lowered = to_backend<onednn>(program, {.int8_kernels = false});
  REQUIRE(lowered);
  auto session = Session::make(*lowered);
  REQUIRE(session);
  const auto made = session->run(0, n.sample());
  REQUIRE(made);
  const auto expected = support::outputs_node_by_node(program, n.sample());
  for (std::size_t i = 0; i < expected[0].size(); ++i)
    CHECK(std::abs(made->all()[0].tensor().as<std::int8_t>()[i] - static_cast<int>(expected[0][i])) <= 1);
  CHECK_FALSE(onednn::load_spec(onednn::save_spec({.int8_kernels = false}))->int8_kernels);
  CHECK(onednn::load_spec(onednn::save_spec({.fast_math = true}))->int8_kernels);
}

TEST_CASE("products of bytes that portable computes by the same kernels are left to it") {
  const auto is_profitable = [](const ExportedProgram& program) {
    std::vector<NodeId> nodes(program.view().nodes.size());
    std::iota(nodes.begin(), nodes.end(), NodeId{0});
    return onednn::is_profitable(program.view(), nodes);
  };
  const bool own = has_int8_primitives() || !kernels::can_convolve_bytes();
  QuantizedNet n;
  CHECK(is_profitable(quantized_convolution(n, {})) == own);
  QuantizedNet m;
  CHECK(is_profitable(quantized_convolution(m, support::after::tanh)) == own);
}

TEST_CASE("sums, maxima, views and products of matrices keep their bytes") {
  QuantizedNet n;
  const auto weights = n.weights("w", {12, 24});
  const auto bias = n.weight("bias", {12});
  const auto x = n.input("x", {3, 6, 8});
  const auto y = n.input("y", {3, 6, 8});
  const Steps same{0.013, -5};
  const auto a = n.through_bytes("a", x, {3, 6, 8}, {0.01, 3});
  const auto b = n.through_bytes("b", y, {3, 6, 8}, {0.02, -128});
  const auto sum = n.through_bytes("sum", n.relu("r", n.add("s", a, b, {3, 6, 8}), {3, 6, 8}), {3, 6, 8}, same);
  const auto view = n.through_bytes(
      "view", n.op("aten.view.default", "v", {3, 1, 6, 8}, {{"self", n.v(sum)}, {"size", n.ints({3, 1, 6, 8})}}),
      {3, 1, 6, 8}, same);
  const auto pool =
      n.op("aten.max_pool2d.default", "p", {3, 1, 3, 4}, {{"self", n.v(view)}, {"kernel_size", n.ints({2, 2})}});
  const auto pooled = n.through_bytes("pooled", pool, {3, 1, 3, 4}, same);
  const auto wide = n.op("aten.cat.default", "two", {3, 2, 3, 4},
                         {{"tensors", n.draft.b.tensors({pooled, pooled})}, {"dim", n.i(1)}});
  const auto rows = n.op("aten.view.default", "rows", {3, 24}, {{"self", n.v(wide)}, {"size", n.ints({3, 24})}});
  const auto in = n.through_bytes("in", rows, {3, 24}, same);
  const auto out =
      n.op("aten.linear.default", "l", {3, 12},
           {{"input", n.v(in)}, {"weight", n.v(n.dequantize("wf", weights, {12, 24}))}, {"bias", n.v(bias)}});
  const ExportedProgram program = n.finish({n.quantize("out", out, {3, 12}, {0.03, 11}), pooled});
  if (has_int8_products()) CHECK(joined(program) == "ccSvpcovcP");
  check_close(program, n.sample());
}

TEST_CASE("an activation between a move of bytes and the next bytes is not lost") {
  QuantizedNet n;
  const Steps same{0.013, -5};
  const auto in = n.through_bytes("in", n.input("x", {1, 4, 6, 6}), {1, 4, 6, 6}, same);
  const auto pool =
      n.op("aten.max_pool2d.default", "p", {1, 4, 3, 3}, {{"self", n.v(in)}, {"kernel_size", n.ints({2, 2})}});
  const auto view = n.op("aten.view.default", "v", {4, 36}, {{"self", n.v(in)}, {"size", n.ints({4, 36})}});
  const ExportedProgram program = n.finish({n.quantize("a", n.relu("r", pool, {1, 4, 3, 3}), {1, 4, 3, 3}, same),
                                            n.quantize("b", clamp(n, "c", view, {4, 36}, -0.2, 0.3), {4, 36}, same)});
  check_close(program, n.sample());
}

TEST_CASE("random chains of bytes without products are portable's to the last byte") {
  std::size_t joined_ones = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    QuantizedNet n;
    const Steps usual{0.013, static_cast<std::int64_t>(random() % 256) - 128};
    const auto steps = [&]() -> Steps {
      if (random() % 3 != 0) return usual;
      if (random() % 3 == 0) return {0.02, static_cast<std::int64_t>(random() % 256), ScalarType::uint8};
      return {0.004 * static_cast<double>(1 + random() % 5), static_cast<std::int64_t>(random() % 256) - 128};
    };
    constexpr std::int64_t channels = 8;
    std::int64_t size = 8;
    ValueId v = n.input("x", {1, channels, size, size});
    std::vector<ValueId> seen{v}, outputs_too;
    for (int k = 0; k < 7; ++k) {
      const auto name = [&](std::string_view what) { return concat(what, k); };
      const Sizes sizes{1, channels, size, size};
      if (random() % 4 != 0) {
        const Steps q = steps();
        const ValueId bytes = n.quantize(name("q"), v, sizes, q);
        v = n.dequantize(name("d"), bytes, sizes, q);
        if (random() % 6 == 0) outputs_too.push_back(bytes);
      }
      const std::size_t what = random() % 5;
      if (what == 0) v = n.relu(name("r"), v, sizes);
      if (what == 1) v = clamp(n, name("c"), v, sizes, -0.4, 0.7);
      if (what == 2) v = n.add(name("a"), v, seen.back(), sizes);
      if (what == 3 && size % 2 == 0) {
        size /= 2;
        v = n.op("aten.max_pool2d.default", name("p"), {1, channels, size, size},
                 {{"self", n.v(v)}, {"kernel_size", n.ints({2, 2})}});
        seen.clear();
      }
      seen.push_back(v);
      if (random() % 8 == 0) outputs_too.push_back(v);
    }
    outputs_too.push_back(n.quantize("last", v, {1, channels, size, size}, usual));
    for (const ValueId output : outputs_too) n.draft.output(output);
    const ExportedProgram program = n.draft.finish();
    const std::string text = joined(program);
    joined_ones += text.find_first_of("Sp") != std::string::npos ? 1 : 0;
    INFO("seed " << seed << " " << text);
    CHECK(outputs(program, n.sample()) == support::outputs_node_by_node(program, n.sample()));
  }
  CHECK(joined_ones > 50);
}

TEST_CASE("random nets of bytes: padding, strides, groups, zero points, values with several uses") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    QuantizedNet n;
    std::size_t layer = 0;
    const ExportedProgram program = support::random_quantized_net(n, seed, layer);
    INFO("seed " << seed);
    check_close(program, n.sample(), layer == 0 ? 1 : 8);  // later layers amplify a difference of one step
  }
}

TEST_CASE("products of few pixels write nothing behind their results") {
  for (const std::int64_t size : {5, 6, 7}) {
    QuantizedNet n;
    std::vector<QuantizedNet::Weights> weights;
    for (const char* name : {"w0", "w1", "w2", "w3", "w4"}) weights.push_back(n.weights(name, {128, 128, 1, 1}));
    ValueId v = n.quantize("in", n.input("x", {1, 128, size, size}), {1, 128, size, size}, {0.01, 3});
    double scale = 0.01;
    for (std::size_t i = 0; i < weights.size(); ++i, scale *= 2) {
      const std::string name = "c" + std::to_string(i);
      v = n.dequantize(name + "_x", v, {1, 128, size, size}, {scale, 3});
      v = n.conv(name, v, n.dequantize(name + "_w", weights[i], {128, 128, 1, 1}), no_id, {1, 128, size, size}, 1, 0,
                 1);
      v = n.quantize(name + "_q", v, {1, 128, size, size}, {scale * 2, 3});
    }
    const ExportedProgram program = n.finish({v});
    if (has_int8_products()) CHECK(joined(program) == "cPPPPP");
    check_close(program, n.sample(), 3);
  }
}

TEST_CASE("lines and volumes of bytes are convolved as images are") {
  const auto check = [](Sizes sizes, Sizes kernel, Sizes made) {
    QuantizedNet n;
    const bool line = sizes.size() == 3;
    const auto weights = n.weights("w", kernel);
    const auto bias = n.weight("bias", {16});
    const auto x = n.input("x", sizes);
    const auto in = n.through_bytes("in", x, sizes, {0.01, 3});
    const auto all = [&](std::int64_t number) { return line ? n.ints({number}) : n.ints({number, number, number}); };
    const auto c = n.op(line ? "aten.conv1d.default" : "aten.conv3d.default", "c", made,
                        {{"input", n.v(in)},
                         {"weight", n.v(n.dequantize("wf", weights, kernel))},
                         {"bias", n.v(bias)},
                         {"stride", all(2)},
                         {"padding", all(1)},
                         {"dilation", all(1)},
                         {"groups", n.i(1)}});
    const ExportedProgram program = n.finish({n.quantize("out", c, made, {0.05, -3})});
    if (line ? has_int8_products() : has_int8_primitives()) CHECK(joined(program) == "cP");
    check_close(program, n.sample());
  };
  check({2, 8, 15}, {16, 8, 3}, {2, 16, 8});
  check({1, 8, 5, 6, 7}, {16, 8, 3, 3, 3}, {1, 16, 3, 3, 4});
}
