// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/fold_elementwise.hpp"

#include <doctest/doctest.h>
#include <array>

#include "support/int8_graph.hpp"

using namespace davit;
using namespace int8_graph;

namespace {

template <auto make>
struct program : static_program_of<one_input<make, ScalarType::int8, 2, 3, 4>> {};
template <auto make>
struct unsigned_program : static_program_of<one_input<make, ScalarType::uint8, 2, 3, 4>> {};
using Block = std::array<std::int8_t, 24>;

/// x and its permutation, both dequantized.
constexpr ValueId sum(GraphBuilder& b, ValueId x) {
  const ValueId a = dequantize(b, x, {0.02, -7}, {2, 3, 4});
  const ValueId scaled = dequantize(b, x, {0.031, 4}, {2, 3, 4});
  return quantize(
      b,
      call(b, "aten.relu.default", call(b, "aten.add.Tensor", a, {2, 3, 4}, {{"other", b.value(scaled)}}), {2, 3, 4}),
      {0.03, -120}, {2, 3, 4});
}
constexpr ValueId product(GraphBuilder& b, ValueId x) {
  const ValueId a = dequantize(b, x, {0.02, -7}, {2, 3, 4});
  const ValueId scaled = dequantize(b, x, {0.031, 4}, {2, 3, 4});
  return quantize(b, call(b, "aten.mul.Tensor", a, {2, 3, 4}, {{"other", b.value(scaled)}}), {0.05, -20}, {2, 3, 4});
}
constexpr ValueId sigmoid(GraphBuilder& b, ValueId x) {
  return quantize(b, call(b, "aten.sigmoid.default", dequantize(b, x, {0.04, 3}, {2, 3, 4}), {2, 3, 4}),
                  {1.0 / 256, -128}, {2, 3, 4});
}
constexpr ValueId unsigned_tanh(GraphBuilder& b, ValueId x) {
  return quantize(b,
                  call(b, "aten.tanh.default", dequantize(b, x, {0.02, 120, ScalarType::uint8}, {2, 3, 4}), {2, 3, 4}),
                  {1.0 / 128, 128, ScalarType::uint8}, {2, 3, 4});
}
constexpr ValueId clamp_and_rescale(GraphBuilder& b, ValueId x) {
  return quantize(b,
                  call(b, "aten.hardtanh.default", dequantize(b, x, {0.04, 3}, {2, 3, 4}), {2, 3, 4},
                       {{"min_val", b.real(-1)}, {"max_val", b.real(2)}}),
                  {0.017, 5}, {2, 3, 4});
}
/// From steps of 0.3 to steps of 0.2: every other byte is a tie.
constexpr ValueId negation(GraphBuilder& b, ValueId x) {
  return quantize(b, call(b, "aten.neg.default", dequantize(b, x, {0.3, 3}, {2, 3, 4}), {2, 3, 4}), {0.2, -1},
                  {2, 3, 4});
}
/// 0.3f is 12.500001 steps: in float it rounds to 13, where 0.3 / 0.024 is a tie.
constexpr ValueId clamp_between_steps(GraphBuilder& b, ValueId x) {
  return quantize(b,
                  call(b, "aten.hardtanh.default", dequantize(b, x, {0.04, 3}, {2, 3, 4}), {2, 3, 4},
                       {{"min_val", b.real(-0.3)}, {"max_val", b.real(0.3)}}),
                  {0.024, 0}, {2, 3, 4});
}
constexpr ValueId view(GraphBuilder& b, ValueId x) {
  return quantize(
      b, call(b, "aten.view.default", dequantize(b, x, {0.04, 3}, {2, 3, 4}), {6, 4}, {{"size", b.ints({6, 4})}}),
      {0.04, 3}, {6, 4});
}
constexpr ValueId permutation(GraphBuilder& b, ValueId x) {
  return quantize(
      b,
      call(b, "aten.permute.default", dequantize(b, x, {0.04, 3}, {2, 3, 4}), {4, 2, 3}, {{"dims", b.ints({2, 0, 1})}}),
      {0.04, 3}, {4, 2, 3});
}
constexpr ValueId concatenation(GraphBuilder& b, ValueId x) {
  const ValueId same = dequantize(b, x, {0.04, 3}, {2, 3, 4});
  const ValueId other = dequantize(b, x, {0.0307, -8}, {2, 3, 4});
  const ValueId y = b.call("aten.cat.default", {{"tensors", b.tensors({same, other})}, {"dim", b.integer(1)}}, "y",
                           ScalarType::float32, {2, 6, 4});
  return quantize(b, y, {0.04, 3}, {2, 6, 4});
}
/// The sum's float value has a second reader, so it is computed in float.
constexpr ValueId read_twice(GraphBuilder& b, ValueId x) {
  const ValueId a = dequantize(b, x, {0.02, -7}, {2, 3, 4});
  const ValueId y = call(b, "aten.add.Tensor", a, {2, 3, 4}, {{"other", b.value(a)}});
  return quantize(b, call(b, "aten.add.Tensor", y, {2, 3, 4}, {{"other", b.value(y)}}), {0.08, 0}, {2, 3, 4});
}

template <auto make, std::size_t Steps, class Out = Block>
bool folds() {
  static_assert(static_module<program<make>, portable>::step_count == Steps);
  return is_close(difference<program<make>, Block, Out>());
}

}  // namespace

TEST_CASE("sums, products and functions of bytes") {
  CHECK(folds<sum, 1>());
  CHECK(folds<product, 1>());
  CHECK(folds<sigmoid, 1>());
  CHECK(folds<clamp_and_rescale, 1>());
  using Bytes = std::array<std::uint8_t, 24>;
  static_assert(static_module<unsigned_program<unsigned_tanh>, portable>::step_count == 1);
  CHECK(is_close(difference<unsigned_program<unsigned_tanh>, Bytes, Bytes>()));
}

TEST_CASE("views cost nothing, permutations and concatenations move bytes") {
  CHECK(folds<view, 0>());
  CHECK(folds<permutation, 1>());
  CHECK(folds<concatenation, 2, std::array<std::int8_t, 48>>());
}

TEST_CASE("values with another reader are not folded") {
  CHECK(static_module<program<read_twice>, portable>::step_count == 4);
  CHECK(difference<program<read_twice>, Block, Block>().largest == 0);
}

TEST_CASE("a table holds the bytes that floats give, between two steps too") {
  static_assert(static_module<program<negation>, portable>::step_count == 1);
  CHECK(difference<program<negation>, Block, Block>().largest == 0);
}

TEST_CASE("a bound is rounded to its byte as the float that it is") {
  static static_module<program<clamp_between_steps>, portable> module;
  Block x, y{};
  x.fill(127);
  x[0] = -128;
  CHECK(module.forward(x, y).has_value());
  CHECK(y[0] == -13);
  CHECK(y[1] == 13);
}
