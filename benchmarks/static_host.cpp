// SPDX-License-Identifier: MIT
// Runs a static program on a workstation, N inferences. static_host.sh counts their instructions.
//   static_host mlp|cnn N
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "davit/program/graph_builder.hpp"

namespace {

using namespace davit;
constexpr auto f32 = ScalarType::float32;

/// Parameters of a program in the layout of `davit embed`: output-inner weights, all in one aligned blob.
struct Blob {
  alignas(64) std::array<float, 8192> elements{};
  std::size_t used = 0;

  constexpr StaticInput add(std::size_t inputs, std::size_t outputs, bool is_weight) {
    const std::size_t padded = is_weight ? (outputs + 7) / 8 * 8 : outputs;
    const auto data =
        ConstantData::in_blob(f32, static_cast<std::uint32_t>(inputs * padded), static_cast<std::uint32_t>(4 * used));
    used += (inputs * padded + 15) / 16 * 16;
    return {.role = StaticRole::constant,
            .layout = is_weight ? WeightLayout::output_inner : WeightLayout::contiguous,
            .data = data};
  }
  /// Fills weights and biases with random numbers, padding with zeros.
  void fill(const StaticInput& input, std::size_t outputs, std::uint32_t& seed) {
    const std::size_t row = input.layout == WeightLayout::output_inner ? (outputs + 7) / 8 * 8 : outputs;
    for (std::size_t i = 0; i < input.data.count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      const float number = static_cast<float>(seed >> 8) * 0x1p-24f - 0.5f;
      elements[input.data.offset / 4 + i] = i % row < outputs ? number : 0;
    }
  }
};

struct Layer {
  std::size_t inputs, outputs;
};
/// The constants of layers: per layer a weight and a bias, after the user's input.
template <std::size_t N>
constexpr std::array<StaticInput, 2 * N + 1> inputs_of(const std::array<Layer, N>& layers) {
  Blob blob;
  std::array<StaticInput, 2 * N + 1> inputs{};
  for (std::size_t i = 0; i < N; ++i) {
    inputs[2 * i + 1] = blob.add(layers[i].inputs, layers[i].outputs, true);
    inputs[2 * i + 2] = blob.add(1, layers[i].outputs, false);
  }
  return inputs;
}

constexpr GraphModule make_mlp() {  // 64-32-32-10, relu between
  GraphBuilder b;
  b.begin_graph("mlp");
  ValueId x = b.input("x", f32, {1, 64});
  ValueId weights[6];
  weights[0] = b.input("weight1", f32, {32, 64});
  weights[1] = b.input("bias1", f32, {32});
  weights[2] = b.input("weight2", f32, {32, 32});
  weights[3] = b.input("bias2", f32, {32});
  weights[4] = b.input("weight3", f32, {10, 32});
  weights[5] = b.input("bias3", f32, {10});
  for (int i = 0; i < 3; ++i) {
    const std::int64_t outputs = i == 2 ? 10 : 32;
    x = b.call("aten.linear.default",
               {{"input", b.value(x)}, {"weight", b.value(weights[2 * i])}, {"bias", b.value(weights[2 * i + 1])}},
               "linear", f32, {1, outputs});
    if (i < 2) x = b.call("aten.relu.default", {{"self", b.value(x)}}, "relu", f32, {1, outputs});
  }
  b.end_graph({x});
  return std::move(b).finish();
}

constexpr GraphModule make_cnn() {  // 1x8x8; conv 3x3 8, relu, pool 2; conv 3x3 16, relu, pool 2; linear 10
  GraphBuilder b;
  b.begin_graph("cnn");
  ValueId x = b.input("x", f32, {1, 1, 8, 8});
  ValueId weights[6];
  weights[0] = b.input("weight1", f32, {8, 1, 3, 3});
  weights[1] = b.input("bias1", f32, {8});
  weights[2] = b.input("weight2", f32, {16, 8, 3, 3});
  weights[3] = b.input("bias2", f32, {16});
  weights[4] = b.input("weight3", f32, {10, 64});
  weights[5] = b.input("bias3", f32, {10});
  for (int i = 0; i < 2; ++i) {
    const std::int64_t filters = i == 0 ? 8 : 16, size = i == 0 ? 8 : 4;
    x = b.call("aten.conv2d.default",
               {{"input", b.value(x)},
                {"weight", b.value(weights[2 * i])},
                {"bias", b.value(weights[2 * i + 1])},
                {"stride", b.ints({1, 1})},
                {"padding", b.ints({1, 1})}},
               "conv2d", f32, {1, filters, size, size});
    x = b.call("aten.relu.default", {{"self", b.value(x)}}, "relu", f32, {1, filters, size, size});
    x = b.call("aten.max_pool2d.default", {{"self", b.value(x)}, {"kernel_size", b.ints({2, 2})}}, "max_pool2d", f32,
               {1, filters, size / 2, size / 2});
  }
  x = b.call("aten.view.default", {{"self", b.value(x)}, {"size", b.ints({1, 64})}}, "view", f32, {1, 64});
  x = b.call("aten.linear.default",
             {{"input", b.value(x)}, {"weight", b.value(weights[4])}, {"bias", b.value(weights[5])}}, "linear", f32,
             {1, 10});
  b.end_graph({x});
  return std::move(b).finish();
}

Blob mlp_blob, cnn_blob;

struct mlp : static_program_of<make_mlp> {
  static constexpr std::string_view name = "mlp";
  static constexpr std::array<Layer, 3> layers{{{64, 32}, {32, 32}, {32, 10}}};
  static constexpr auto inputs = inputs_of(layers);
  static const std::byte* weights() noexcept { return reinterpret_cast<const std::byte*>(mlp_blob.elements.data()); }
};
struct cnn : static_program_of<make_cnn> {
  static constexpr std::string_view name = "cnn";
  static constexpr std::array<Layer, 3> layers{{{9, 8}, {72, 16}, {64, 10}}};
  static constexpr auto inputs = inputs_of(layers);
  static const std::byte* weights() noexcept { return reinterpret_cast<const std::byte*>(cnn_blob.elements.data()); }
};

template <class Program>
void fill(Blob& blob) {
  std::uint32_t seed = 20261121;
  for (std::size_t i = 1; i < Program::inputs.size(); ++i)
    blob.fill(Program::inputs[i], Program::layers[(i - 1) / 2].outputs, seed);
}

template <class Program>
using Module = static_module<Program, tuned<portable, for_speed>>;

template <class Program>
[[gnu::noinline]] bool infer(Module<Program>& module, const std::array<float, 64>& image,
                             std::array<float, 10>& scores) {
  return module.forward(image, scores).has_value();
}

template <class Program>
int run(long count) {
  Module<Program> module;
  std::array<float, 64> image{};
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 17) / 17;
  std::array<float, 10> scores{};
  for (long i = 0; i < count; ++i) {
    if (!infer<Program>(module, image, scores)) return 1;
    asm volatile("" : : "r"(scores.data()) : "memory");
  }
  for (const float score : scores) std::printf("%08x ", static_cast<unsigned>(std::bit_cast<std::uint32_t>(score)));
  std::printf("\narena=%zu weights=%zu\n", Module<Program>::arena_bytes, Module<Program>::weight_bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("static_host mlp|cnn N"), 2;
  const long count = std::strtol(argv[2], nullptr, 10);
  if (std::string_view(argv[1]) == "mlp") return fill<mlp>(mlp_blob), run<mlp>(count);
  return fill<cnn>(cnn_blob), run<cnn>(count);
}
