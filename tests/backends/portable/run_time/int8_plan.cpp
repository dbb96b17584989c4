// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/int8_plan.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "support/portable_code.hpp"
#include "support/quantized_net.hpp"
#include "support/quantized_outputs.hpp"
#include "support/random_quantized_net.hpp"

using namespace davit;
using support::After;
using support::QuantizedNet;
using support::Sizes;

namespace {

/// The steps of a program: P(roduct), S(um) of bytes, c(onvert), o(ther).
[[nodiscard]] std::string steps(const ExportedProgram& program) {
  const auto code = support::portable_code(program);
  std::string text;
  for (const portable_kernels::Step& step : code->steps)
    text += step.kernel == portable_kernels::byte_product        ? 'P'
            : step.kernel == portable_kernels::byte_sum          ? 'S'
            : step.op.find("quantize") != std::string_view::npos ? 'c'
                                                                 : 'o';
  return text;
}
/// Fused and single steps give the same.
void check_same(const ExportedProgram& program, const std::vector<EValue>& inputs, float most = 1) {
  support::check_bytes(support::outputs_of(program, CapabilityPartitioner<BackendList<portable>>(), inputs),
                       support::outputs_node_by_node(program, inputs), most);
}

}  // namespace

TEST_CASE("a convolution between bytes is one step, with the activation after it") {
  if (!kernels::can_convolve_bytes()) return;
  for (const After& after : support::after::joined) {
    QuantizedNet n;
    const ExportedProgram program = support::quantized_convolution(n, after);
    CHECK(steps(program) == "cP");
    check_same(program, n.sample());
  }
  // other scales behind than before: the first ones count
  QuantizedNet n;
  const ExportedProgram program = support::quantized_convolution(n, support::after::clamped_bytes({0.04, 7}));
  CHECK(steps(program) == "cPcoc");
  check_same(program, n.sample());
}

TEST_CASE("operators that would give another result stay in float") {
  const auto check = [](const After& after, QuantizedNet::Steps to, std::string_view expected) {
    QuantizedNet n;
    const ExportedProgram program = support::quantized_convolution(n, after, to);
    if (to.scale > 1e-30) check_same(program, n.sample());
    if (kernels::can_convolve_bytes()) CHECK(steps(program) == expected);
  };
  check(support::after::tanh, {0.01, 0}, "cccooc");
  check(support::after::twice, {0.05, 7}, "cccoooc");
  check({}, {1e-35, 0}, "cccoc");
  check(support::after::clamped_bytes({0.05, 7}, 90, 99), {0.05, 7}, "cPcoc");
}

TEST_CASE("products of rows and sums keep their bytes") {
  QuantizedNet n;
  const auto weights = n.weights("w", {12, 8});
  const auto bias = n.weight("bias", {12});
  const auto x = n.input("x", {3, 6, 8});
  const auto y = n.input("y", {3, 6, 8});
  const auto a = n.through_bytes("a", x, {3, 6, 8}, {0.01, 3});
  const auto b = n.through_bytes("b", y, {3, 6, 8}, {0.02, -128});
  const auto sum = n.through_bytes("sum", n.relu("r", n.add("s", a, b, {3, 6, 8}), {3, 6, 8}), {3, 6, 8}, {0.013, -5});
  const auto out =
      n.op("aten.linear.default", "l", {3, 6, 12},
           {{"input", n.v(sum)}, {"weight", n.v(n.dequantize("wf", weights, {12, 8}))}, {"bias", n.v(bias)}});
  const ExportedProgram program = n.finish({n.quantize("out", out, {3, 6, 12}, {0.03, 11}), sum});
  if (kernels::can_convolve_bytes()) CHECK(steps(program) == "ccScP");
  check_same(program, n.sample());
}

TEST_CASE("nodes with effects are not part of a step") {
  for (const bool quantizes : {false, true}) {
    QuantizedNet n;
    const auto a = n.through_bytes("a", n.input("x", {3, 8}), {3, 8}, {0.01, 3});
    const ValueId token = n.draft.token("token"), next = n.draft.new_token("next");
    ValueId sum{}, out{};
    if (quantizes) {
      sum = n.add("s", a, a, {3, 8});
      out = n.draft.like(a, "out", ScalarType::int8);
      n.draft.with_effects("quantized_decomposed.quantize_per_tensor.default", token,
                           {n.v(sum), GraphBuilder::real(0.02), n.i(0), n.i(-128), n.i(127),
                            GraphBuilder::scalar_type(ScalarType::int8)},
                           next, out);
    } else {
      sum = n.draft.like(a, "s");
      n.draft.with_effects("aten.add.Tensor", token, {n.v(a), n.v(a)}, next, sum);
      out = n.quantize("out", sum, {3, 8}, {0.02, 0});
    }
    n.draft.output_token(next);
    const ExportedProgram program = n.finish({out});
    CHECK(steps(program) == "ccoc");
  }
}

TEST_CASE("bytes with other readers are in row-major order; between steps they are channels_last") {
  QuantizedNet n;
  const Sizes sizes{2, 16, 5, 7};
  const auto first = n.weights("first", {16, 16, 3, 3});
  const auto second = n.weights("second", {16, 1, 3, 3});
  const auto in = n.through_bytes("in", n.input("x", sizes), sizes, {0.01, 3});
  const auto c = n.through_bytes(
      "c", n.conv("conv", in, n.dequantize("wf", first, {16, 16, 3, 3}), no_id, sizes, 1, 1, 1), sizes, {0.05, 7});
  const auto d = n.quantize("d", n.conv("deep", c, n.dequantize("ws", second, {16, 1, 3, 3}), no_id, sizes, 1, 1, 16),
                            sizes, {0.04, 1});
  const auto sum =
      n.through_bytes("sum", n.add("add", c, n.dequantize("df", d, sizes, {0.04, 1}), sizes), sizes, {0.06, 0});
  const auto flat = n.op("aten.view.default", "flat", {2, 560}, {{"self", n.v(sum)}, {"size", n.ints({2, 560})}});
  std::vector<Argument> view{n.v(d), n.ints({2, 560})};
  view[0].name = n.draft.b.text("self");
  view[1].name = n.draft.b.text("size");
  const ValueId bytes = n.draft.b.tensor("bytes", ScalarType::int8, {2, 560});
  const Argument made[] = {n.v(bytes)};
  n.draft.b.node("aten.view.default", view, made, n.draft.metadata);
  const ExportedProgram program = n.finish({flat, bytes});
  if (kernels::can_convolve_bytes()) CHECK(steps(program) == "cPPScoo");
  check_same(program, n.sample());
}

TEST_CASE("random nets of bytes: padding, strides, groups, zero points, values with several uses") {
  std::size_t joined = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    QuantizedNet n;
    std::size_t layer = 0;
    const ExportedProgram program = support::random_quantized_net(n, seed, layer);
    INFO("seed " << seed);
    joined += steps(program).find('P') != std::string::npos ? 1 : 0;
    check_same(program, n.sample(), layer == 0 ? 1 : 8);  // later layers amplify a difference of one step
  }
  CHECK(joined == (kernels::can_convolve_bytes() ? 60 : 0));
}

TEST_CASE("lines of bytes are convolved as images are, volumes in float") {
  const auto check = [](Sizes sizes, Sizes kernel, Sizes made) {
    QuantizedNet n;
    const bool line = sizes.size() == 3;
    const auto weights = n.weights("w", kernel);
    const auto in = n.through_bytes("in", n.input("x", sizes), sizes, {0.01, 3});
    const auto all = [&](std::int64_t number) { return line ? n.ints({number}) : n.ints({number, number, number}); };
    const auto c = n.op(line ? "aten.conv1d.default" : "aten.conv3d.default", "c", made,
                        {{"input", n.v(in)},
                         {"weight", n.v(n.dequantize("wf", weights, kernel))},
                         {"stride", all(2)},
                         {"padding", all(1)}});
    const ExportedProgram program = n.finish({n.quantize("out", c, made, {0.05, -3})});
    CHECK((steps(program) == "cP") == (line && kernels::can_convolve_bytes()));
    check_same(program, n.sample());
  };
  check({2, 8, 15}, {16, 8, 3}, {2, 16, 8});
  check({1, 8, 5, 6, 7}, {16, 8, 3, 3, 3}, {1, 16, 3, 3, 4});
}
