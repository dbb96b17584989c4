// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/packed_linear.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <type_traits>
#include <vector>

#include "davit/backends/portable/embed.hpp"
#include "davit/core/packed_weights.hpp"
#include "davit/embed/select_steps.hpp"
#include "davit/embed/static_module.hpp"
#include "davit/program/graph_builder.hpp"

using namespace davit;

namespace {

using Kernel = static_kernels::packed_linear;

/// The largest difference of a layer of random numbers from sums in double, relative to the largest result.
template <class W>
double difference(const Kernel::Params& p, bool has_offsets, bool has_bias, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-1, 1);
  constexpr int bits = std::is_same_v<W, std::int8_t> ? 8 : 4;
  std::uniform_int_distribution<int> integer(-(1 << (bits - 1)), (1 << (bits - 1)) - 1);
  const PackedWeights layout{
      .outputs = p.out, .depth = p.in, .groups = p.groups, .bits = bits, .layout = PackedLayout::rows};
  REQUIRE(layout.is_valid());
  const auto floats = [&](int count) {
    std::vector<float> all(static_cast<std::size_t>(count));
    for (float& v : all) v = real(random);
    return all;
  };
  const std::vector<float> x = floats(p.rows * p.in), scales = floats(p.groups * p.out), bias = floats(p.out),
                           offsets = floats(p.groups * p.out);
  std::vector<int> weights(static_cast<std::size_t>(p.out * p.in));
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(p.out * layout.row_bytes()));
  for (int o = 0; o < p.out; ++o)
    for (int k = 0; k < p.in; ++k)
      layout.put(packed.data(), o, k, weights[static_cast<std::size_t>(o * p.in + k)] = integer(random));
  std::vector<float> y(static_cast<std::size_t>(p.rows * p.out)), sums(static_cast<std::size_t>(p.groups));
  const auto* const w = reinterpret_cast<const W*>(packed.data());
  const float *const none = nullptr, *const b = has_bias ? bias.data() : none;
  if (has_offsets)
    Kernel::run(p, y.data(), sums.data(), x.data(), w, scales.data(), offsets.data(), b);
  else
    Kernel::run(p, y.data(), none, x.data(), w, scales.data(), none, b);
  double largest = 0, most = 0;
  for (int r = 0; r < p.rows; ++r)
    for (int o = 0; o < p.out; ++o) {
      double sum = has_bias ? static_cast<double>(bias[static_cast<std::size_t>(o)]) : 0;
      for (int k = 0; k < p.in; ++k) {
        const auto of_group = static_cast<std::size_t>(k / (p.in / p.groups) * p.out + o);
        const double weight = weights[static_cast<std::size_t>(o * p.in + k)] * static_cast<double>(scales[of_group]) +
                              (has_offsets ? static_cast<double>(offsets[of_group]) : 0);
        sum += weight * static_cast<double>(x[static_cast<std::size_t>(r * p.in + k)]);
      }
      most = std::fmax(most, std::fabs(sum));
      largest = std::fmax(largest, std::fabs(sum - static_cast<double>(y[static_cast<std::size_t>(r * p.out + o)])));
    }
  return largest / most;
}

/// Two outputs of two groups of 4 inputs: (1 -8 7 2 | -1 0 3 -4) and its negatives, but 7 for 8.
constexpr std::array<std::uint8_t, 8> weights{0x71, 0x28, 0x3f, 0xc0, 0x9f, 0xe7, 0xd1, 0x40};
constexpr std::array<float, 4> scales{0.5f, 2.0f, 0.25f, 4.0f};
constexpr std::array<float, 4> offsets{1.0f, 0.0f, -1.0f, 2.0f};
constexpr std::array<float, 2> bias{0.5f, -1.0f};

template <bool Offsets>
constexpr GraphModule layer() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId w = b.input("w", ScalarType::uint8, {2, 4});
  const ValueId s = b.input("s", ScalarType::float32, {2, 2}), z = b.input("z", ScalarType::float32, {2, 2});
  const ValueId c = b.input("c", ScalarType::float32, {2}), x = b.input("x", ScalarType::float32, {2, 8});
  b.end_graph({b.call("davit.linear_packed.rows",
                      {{"input", b.value(x)},
                       {"weight", b.value(w)},
                       {"scales", b.value(s)},
                       {"offsets", Offsets ? b.value(z) : b.none()},
                       {"bias", b.value(c)}},
                      "y", ScalarType::float32, {2, 2})});
  return std::move(b).finish();
}
template <bool Offsets>
struct program : static_program_of<layer<Offsets>> {
  static constexpr std::array inputs{constant_input(weights), constant_input(scales), constant_input(offsets),
                                     constant_input(bias), user_input()};
};
template <bool Offsets>
constexpr std::array<float, 4> run(static_module<program<Offsets>, portable>& module) {
  constexpr std::array<float, 16> x{1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 0, 0, 0, 0};
  std::array<float, 4> y{};
  if (!module.forward(x, y)) y.fill(99);
  return y;
}
template <bool Offsets>
bool same_both_ways() {
  using Module = static_module<program<Offsets>, portable>;
  static constexpr std::array<float, 4> y = [] {
    Module module;
    return run<Offsets>(module);
  }();
  static Module module;
  // the first output's sums are 1 - 16 + 21 + 8 = 14 and -5 + 21 - 32 = -16
  return y[0] == (Offsets ? 14 * 0.5f + 10 - 16 * 0.25f - 26 + 0.5f : 3.5f) && y == run<Offsets>(module);
}

/// The reason why static portable refuses a layer of these sizes; empty if it takes it.
struct Sizes {
  std::array<std::int64_t, 2> x{1, 8}, w{2, 4}, s{2, 2}, y{1, 2};
  ScalarType type = ScalarType::uint8;
  ScalarType result = ScalarType::float32;
};
template <Sizes sizes>
constexpr std::string_view refusal() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId w = b.input("w", sizes.type, {sizes.w[0], sizes.w[1]});
  const ValueId s = b.input("s", ScalarType::float32, {sizes.s[0], sizes.s[1]});
  const ValueId x = b.input("x", ScalarType::float32, {sizes.x[0], sizes.x[1]});
  b.end_graph(
      {b.call("davit.linear_packed.rows", {{"input", b.value(x)}, {"weight", b.value(w)}, {"scales", b.value(s)}}, "y",
              sizes.result, {sizes.y[0], sizes.y[1]})});
  const GraphModule graph = std::move(b).finish();
  const StaticGraphRows rows(graph.view());
  const std::array<StaticInput, 3> inputs{};
  const std::array<StaticOutput, 1> outputs{};
  const SelectedSteps selected = select_steps<portable_static>(rows.view(), inputs.data(), outputs.data());
  return selected.orphans.empty() ? std::string_view() : std::string_view(selected.orphans[0].reasons[0]);
}

}  // namespace

TEST_CASE("linears with packed weights of random sizes give the sums of the definition") {
  for (std::uint32_t seed = 1; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    Kernel::Params p{.rows = pick(1, 3), .out = pick(1, 9), .groups = pick(1, 3)};
    p.in = p.groups * 2 * pick(1, 40);
    CAPTURE(seed);
    CHECK(difference<std::int8_t>(p, seed % 2 == 0, seed % 3 != 0, seed) < 2e-6);
    CHECK(difference<std::uint8_t>(p, seed % 2 == 0, seed % 3 != 0, seed) < 2e-6);
  }
}
TEST_CASE("a linear with weights of 4 bits runs in constant evaluation as it does otherwise") {
  CHECK(same_both_ways<false>());
  CHECK(same_both_ways<true>());
}
TEST_CASE("packed weights whose sizes do not fit are refused") {
  CHECK(refusal<Sizes{}>() == "");
  CHECK(refusal<Sizes{.x = {1, 6}}>() == "the sizes of its operands do not fit");
  CHECK(refusal<Sizes{.y = {1, 3}}>() == "the sizes of its operands do not fit");
  CHECK(refusal<Sizes{.s = {1, 2}}>() == "");
  CHECK(refusal<Sizes{.s = {3, 2}}>() == "its groups do not divide the inputs");
  CHECK(refusal<Sizes{.s = {8, 2}}>() == "its groups do not divide the inputs");
  CHECK(refusal<Sizes{.w = {2, 8}, .type = ScalarType::int8}>() == "");
  CHECK(refusal<Sizes{.type = ScalarType::int16}>() == "its weights are neither bytes nor halves of bytes");
  CHECK(refusal<Sizes{.result = ScalarType::int32}>() == "not all of it but the weights is float32");
}
