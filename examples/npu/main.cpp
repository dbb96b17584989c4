// SPDX-License-Identifier: MIT
// A program compiled onto a custom accelerator, with portable for the remaining nodes. The CPU does other work while
// the accelerator runs.
#include <array>
#include <cmath>
#include <cstdio>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "davit/program/graph_builder.hpp"
#include "npu.hpp"

namespace {

using namespace davit;

constexpr std::array<float, 32> weight1 = [] {
  std::array<float, 32> w{};
  for (int i = 0; i < 32; ++i) w[static_cast<std::size_t>(i)] = static_cast<float>(i * 7 % 13 - 6) / 8;
  return w;
}();
constexpr std::array<float, 8> bias1{0.5F, -0.25F, 0, 1, -1, 0.125F, 0.75F, 0};
constexpr std::array<float, 24> weight2 = [] {
  std::array<float, 24> w{};
  for (int i = 0; i < 24; ++i) w[static_cast<std::size_t>(i)] = static_cast<float>(i * 5 % 11 - 5) / 4;
  return w;
}();
constexpr std::array<float, 3> bias2{0, 0.5F, -0.5F};

/// Builds softmax(linear(relu(x w1 + b1), w2, b2)).
constexpr GraphModule make_classifier() {
  constexpr auto f = ScalarType::float32;
  const auto value = [](ValueId v) { return GraphBuilder::value(v); };
  GraphBuilder b;
  b.begin_graph();
  const ValueId w1 = b.input("w1", f, {4, 8}), b1 = b.input("b1", f, {8});
  const ValueId w2 = b.input("w2", f, {3, 8}), b2 = b.input("b2", f, {3});
  const ValueId x = b.input("x", f, {1, 4});
  const ValueId product =
      b.call("aten.addmm.default", {{"self", value(b1)}, {"mat1", value(x)}, {"mat2", value(w1)}}, "addmm", f, {1, 8});
  const ValueId hidden = b.call("aten.relu.default", {{"self", value(product)}}, "relu", f, {1, 8});
  const ValueId scores =
      b.call("aten.linear.default", {{"input", value(hidden)}, {"weight", value(w2)}, {"bias", value(b2)}}, "linear", f,
             {1, 3});
  const ValueId out = b.call(
      "aten._softmax.default",
      {{"self", value(scores)}, {"dim", GraphBuilder::integer(1)}, {"half_to_float", GraphBuilder::boolean(false)}},
      "softmax", f, {1, 3});
  b.end_graph({out}, true);
  return std::move(b).finish();
}

struct classifier : static_program_of<make_classifier> {
  static constexpr std::string_view name = "classifier";
  static constexpr std::array inputs{constant_input(weight1), constant_input(bias1), constant_input(weight2),
                                     constant_input(bias2), user_input()};
};

}  // namespace

int main() {
  static static_module<classifier, npu, portable> accelerated;
  static static_module<classifier, portable> plain;
  const std::array<float, 4> x{1, -0.5F, 0.25F, 2};
  std::array<float, 3> on_npu{}, on_portable{}, meanwhile{};
  plain.forward(x, on_portable);
  accelerated.forward(x, on_npu);  // starts the accelerator, and sleeps until it is done

  int others = 0;  // work of the CPU meanwhile
  if (!accelerated.forward_start(x, meanwhile)) return 1;
  while (!accelerated.done()) {
    ++others;
    npu_device.tick();  // a chip does that by itself
    accelerated.step();
  }
  std::printf("%d commands for the accelerator, %zu bytes of RAM; the CPU was free %d times in a run\n",
              npu_device.executed, accelerated.ram_bytes, others);
  for (std::size_t i = 0; i < 3; ++i) {
    std::printf("class %zu: %.6f\n", i, static_cast<double>(on_npu[i]));
    if (std::fabs(on_npu[i] - on_portable[i]) > 1e-6F || meanwhile[i] != on_npu[i]) return 1;
  }
  return npu_device.executed == 4 && others == 2 && accelerated.status() ? 0 : 1;
}
