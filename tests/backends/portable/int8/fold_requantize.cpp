// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/fold_requantize.hpp"

#include <doctest/doctest.h>
#include <array>

#include "support/int8_graph.hpp"

using namespace davit;
using namespace int8_graph;

namespace {

constexpr std::array<std::int8_t, 6> weights{1, -2, 3, 100, -100, 127};

/// The deviation of a linear from a form that bytes can compute.
struct Case {
  std::array<float, 2> scales{0.01f, 0.02f};
  std::array<float, 2> bias{0.1f, -0.2f};
  std::array<std::int64_t, 2> zero_points{0, 0};
  Scale in{0.02, 3}, out{0.05, -3};
};

template <Case c>
constexpr GraphModule linear() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId w = b.input("w", ScalarType::int8, {2, 3});
  const ValueId s = b.input("s", ScalarType::float32, {2});
  const ValueId z = b.input("z", ScalarType::int64, {2});
  const ValueId bias = b.input("b", ScalarType::float32, {2});
  const ValueId x = b.input("x", c.in.type, {4, 3});
  const ValueId y = b.call("aten.linear.default",
                           {{"input", b.value(dequantize(b, x, c.in, {4, 3}))},
                            {"weight", b.value(dequantize_weight(b, w, s, z, {2, 3}))},
                            {"bias", b.value(bias)}},
                           "y", ScalarType::float32, {4, 2});
  b.end_graph({quantize(b, y, c.out, {4, 2})});
  return std::move(b).finish();
}
template <Case c>
struct program : static_program_of<linear<c>> {
  static constexpr Case numbers = c;
  static constexpr std::array inputs{constant_input(weights), constant_input(numbers.scales),
                                     constant_input(numbers.zero_points), constant_input(numbers.bias), user_input()};
};

/// Runs the linear's steps; their results must be those of its float form either way.
template <Case c, class In = std::int8_t, class Out = std::int8_t>
std::size_t steps() {
  CHECK(is_close(difference<program<c>, std::array<In, 12>, std::array<Out, 8>>()));
  return static_module<program<c>, portable>::step_count;
}

}  // namespace

TEST_CASE("scales that fit are folded, with multipliers above one half as well") {
  CHECK(steps<Case{}>() == 1);
  CHECK(steps<Case{.in = {0.3, 3}, .out = {0.0021, 17}}>() == 1);
}

TEST_CASE("computed in float: too large a factor, scales of 0, biases beyond 32 bits, mixed types") {
  CHECK(steps<Case{.in = {0.3, 3}, .out = {1e-12, 17}}>() > 1);
  CHECK(steps<Case{.scales = {0.0f, 0.01f}}>() > 1);
  CHECK(steps<Case{.scales = {1e-13f, 0.01f}, .bias = {5.0f, 0.0f}}>() > 1);
  CHECK(steps<Case{.out = {0.05, 100, ScalarType::uint8}}, std::int8_t, std::uint8_t>() > 1);
}
