// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/fold_conv.hpp"

#include <doctest/doctest.h>
#include <array>

#include "support/int8_graph.hpp"

using namespace davit;
using namespace int8_graph;

namespace {

template <std::size_t N>
constexpr auto bytes = [] {
  std::array<std::int8_t, N> w{};
  for (std::size_t i = 0; i < N; ++i) w[i] = static_cast<std::int8_t>(static_cast<int>(i * 37 % 255) - 127);
  return w;
}();
constexpr std::array<float, 4> scales{0.004f, 0.012f, 0.0007f, 0.3f};
constexpr std::array<float, 4> bias{0.5f, -1.0f, 0.0f, 3.0f};
constexpr std::array<std::int64_t, 4> zeros{};

struct Layer {
  std::array<std::int64_t, 4> x, w, y;
  std::int64_t stride, pad, groups;
  Scale in, out;
};

/// A convolution with a relu, per-channel weights.
template <Layer l>
constexpr GraphModule convolution() {
  GraphBuilder b;
  b.begin_graph();
  const Sizes w_sizes{l.w[0], l.w[1], l.w[2], l.w[3]};
  const Sizes y_sizes{l.y[0], l.y[1], l.y[2], l.y[3]};
  const ValueId w = b.input("w", ScalarType::int8, w_sizes);
  const ValueId s = b.input("s", ScalarType::float32, {4});
  const ValueId z = b.input("z", ScalarType::int64, {4});
  const ValueId bias_value = b.input("b", ScalarType::float32, {4});
  const ValueId x = b.input("x", l.in.type, {l.x[0], l.x[1], l.x[2], l.x[3]});
  const ValueId weight = dequantize_weight(b, w, s, z, w_sizes);
  const ValueId input = dequantize(b, x, l.in, {l.x[0], l.x[1], l.x[2], l.x[3]});
  const ValueId y = b.call("aten.convolution.default",
                           {{"input", b.value(input)},
                            {"weight", b.value(weight)},
                            {"bias", b.value(bias_value)},
                            {"stride", b.ints({l.stride, l.stride})},
                            {"padding", b.ints({l.pad, l.pad})},
                            {"dilation", b.ints({1, 1})},
                            {"transposed", b.boolean(false)},
                            {"output_padding", b.ints({0, 0})},
                            {"groups", b.integer(l.groups)}},
                           "y", ScalarType::float32, y_sizes);
  b.end_graph({quantize(b, call(b, "aten.relu.default", y, y_sizes), l.out, y_sizes)});
  return std::move(b).finish();
}
template <Layer l>
struct program : static_program_of<convolution<l>> {
  static constexpr auto& weights_array = bytes<static_cast<std::size_t>(l.w[0] * l.w[1] * l.w[2] * l.w[3])>;
  static constexpr std::array inputs{constant_input(weights_array), constant_input(scales), constant_input(zeros),
                                     constant_input(bias), user_input()};
};

constexpr Layer general{{1, 3, 6, 5}, {4, 3, 3, 3}, {1, 4, 3, 3}, 2, 1, 1, {0.02, -7}, {0.11, -128}};
constexpr Layer pointwise{{2, 9, 3, 3}, {4, 9, 1, 1}, {2, 4, 3, 3}, 1, 0, 1, {0.02, 5}, {0.09, -100}};
constexpr Layer depthwise{{1, 4, 7, 6}, {4, 1, 3, 3}, {1, 4, 7, 6}, 1, 1, 4, {0.02, -128}, {0.03, -128}};
constexpr Layer grouped{
    {1, 4, 5, 5}, {4, 2, 2, 2}, {1, 4, 4, 4}, 1, 0, 2, {0.02, 100, ScalarType::uint8}, {0.05, 3, ScalarType::uint8}};

template <Layer l, class T = std::int8_t>
bool folds() {
  using P = program<l>;
  static_assert(static_module<P, portable>::step_count == 1);
  constexpr auto count = [](const std::array<std::int64_t, 4>& s) {
    return static_cast<std::size_t>(s[0] * s[1] * s[2] * s[3]);
  };
  return is_close(difference<P, std::array<T, count(l.x)>, std::array<T, count(l.y)>>());
}

}  // namespace

TEST_CASE("dequantize, convolution, relu, quantize become one step") {
  CHECK(folds<general>());
  CHECK(folds<pointwise>());
  CHECK(folds<depthwise>());
  CHECK(folds<grouped, std::uint8_t>());
}

TEST_CASE("a convolution in constant evaluation") {
  using P = program<pointwise>;
  using Module = static_module<P, portable>;
  constexpr std::array<std::int8_t, 162> x = bytes<162>;
  constexpr auto y = [&] {
    Module module;
    std::array<std::int8_t, 72> out{};
    (void)module.forward(x, out);
    return out;
  }();
  static Module module;
  std::array<std::int8_t, 72> out{};
  CHECK(module.forward(x, out).has_value());
  CHECK(out == y);
}

namespace {

/// A convolution over one dimension, without a bias.
constexpr GraphModule convolution_1d() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId w = b.input("w", ScalarType::int8, {4, 2, 3});
  const ValueId x = b.input("x", ScalarType::int8, {2, 2, 9});
  const ValueId weight = dequantize(b, w, {0.01, 0}, {4, 2, 3});
  const ValueId input = dequantize(b, x, {0.02, 3}, {2, 2, 9});
  const ValueId y = b.call(
      "aten.conv1d.default",
      {{"input", b.value(input)}, {"weight", b.value(weight)}, {"stride", b.ints({2})}, {"padding", b.ints({1})}}, "y",
      ScalarType::float32, {2, 4, 5});
  b.end_graph({quantize(b, y, {0.03, -5}, {2, 4, 5})});
  return std::move(b).finish();
}
struct one_dimension : static_program_of<convolution_1d> {
  static constexpr std::array inputs{constant_input(bytes<24>), user_input()};
};

}  // namespace

namespace {

constexpr std::array<std::int32_t, 4> integer_bias{-3000, 20, 0, 4567};

/// A linear whose bias is int32, dequantized per channel or with one scale.
template <bool PerChannel>
constexpr GraphModule integer_bias_linear() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId w = b.input("w", ScalarType::int8, {4, 6});
  const ValueId s = b.input("s", ScalarType::float32, {4});
  const ValueId z = b.input("z", ScalarType::int64, {4});
  const ValueId integers = b.input("b", ScalarType::int32, {4});
  const ValueId x = b.input("x", ScalarType::int8, {3, 6});
  const ValueId bias_value =
      PerChannel ? dequantize_weight(b, integers, s, z, {4}) : dequantize(b, integers, {0.0002, 0}, {4});
  const ValueId weight = dequantize_weight(b, w, s, z, {4, 6});
  const ValueId y = b.call("aten.linear.default",
                           {{"input", b.value(dequantize(b, x, {0.02, 3}, {3, 6}))},
                            {"weight", b.value(weight)},
                            {"bias", b.value(bias_value)}},
                           "y", ScalarType::float32, {3, 4});
  b.end_graph({quantize(b, y, {0.3, -5}, {3, 4})});
  return std::move(b).finish();
}
template <bool PerChannel>
struct integer_bias_program : static_program_of<integer_bias_linear<PerChannel>> {
  static constexpr std::array inputs{constant_input(bytes<24>), constant_input(scales), constant_input(zeros),
                                     constant_input(integer_bias), user_input()};
};

}  // namespace

TEST_CASE("an int32 bias is dequantized while planning") {
  static_assert(static_module<integer_bias_program<true>, portable>::step_count == 1);
  static_assert(static_module<integer_bias_program<false>, portable>::table_bytes == 16);
  CHECK(is_close(difference<integer_bias_program<true>, std::array<std::int8_t, 18>, std::array<std::int8_t, 12>>()));
  CHECK(is_close(difference<integer_bias_program<false>, std::array<std::int8_t, 18>, std::array<std::int8_t, 12>>()));
}

TEST_CASE("a convolution over one dimension") {
  static_assert(static_module<one_dimension, portable>::step_count == 1);
  static static_module<one_dimension, portable> module;
  std::array<std::int8_t, 36> x{};
  std::array<std::int8_t, 40> y{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int8_t>(7 * i);
  CHECK(module.forward(x, y).has_value());
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t o = 0; o < 4; ++o)
      for (std::size_t t = 0; t < 5; ++t) {
        double sum = 0;
        for (std::size_t c = 0; c < 2; ++c)
          for (std::size_t k = 0; k < 3; ++k)
            if (2 * t + k >= 1 && 2 * t + k <= 9)
              sum += (x[n * 18 + c * 9 + 2 * t + k - 1] - 3) * 0.02 * bytes<24>[o * 6 + c * 3 + k] * 0.01;
        CHECK(std::fabs(y[n * 20 + o * 5 + t] - std::fmin(127, std::fmax(-128, sum / 0.03 - 5))) < 0.51);
      }
}

namespace {

/// addmm twice, the first with a relu and per-tensor weights, the second per channel with a float result.
constexpr GraphModule two_linears() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId w1 = b.input("w1", ScalarType::int8, {4, 6});
  const ValueId w2 = b.input("w2", ScalarType::int8, {4, 4});
  const ValueId s = b.input("s", ScalarType::float32, {4});
  const ValueId z = b.input("z", ScalarType::int64, {4});
  const ValueId bias_value = b.input("b", ScalarType::float32, {4});
  const ValueId x = b.input("x", ScalarType::int8, {2, 6});
  const ValueId t1 =
      call(b, "aten.permute.default", dequantize(b, w1, {0.01, 0}, {4, 6}), {6, 4}, {{"dims", b.ints({1, 0})}});
  const ValueId t2 =
      call(b, "aten.permute.default", dequantize_weight(b, w2, s, z, {4, 4}), {4, 4}, {{"dims", b.ints({1, 0})}});
  const auto addmm = [&](ValueId input, ValueId weight) {
    return b.call("aten.addmm.default",
                  {{"self", b.value(bias_value)}, {"mat1", b.value(input)}, {"mat2", b.value(weight)}}, "y",
                  ScalarType::float32, {2, 4});
  };
  const ValueId hidden = call(b, "aten.relu.default", addmm(dequantize(b, x, {0.02, -10}, {2, 6}), t1), {2, 4});
  const ValueId again = dequantize(b, quantize(b, hidden, {0.05, -128}, {2, 4}), {0.05, -128}, {2, 4});
  b.end_graph({addmm(again, t2)});
  return std::move(b).finish();
}
struct linears : static_program_of<two_linears> {
  static constexpr std::array inputs{constant_input(bytes<24>), constant_input(bytes<16>), constant_input(scales),
                                     constant_input(zeros),     constant_input(bias),      user_input()};
};
constexpr std::array<std::int8_t, 12> rows{1, -2, 3, -4, 50, 60, 127, -128, 0, 9, 8, 7};
constexpr auto in_constant_evaluation = [] {
  static_module<linears, portable> module;
  std::array<float, 8> y{};
  (void)module.forward(rows, y);
  return y;
}();

}  // namespace

TEST_CASE("linears, with bytes or float as results") {
  static_assert(static_module<linears, portable>::step_count == 2);
  std::array<float, 8> y{};
  std::array<float, 8> expected{};
  static static_module<linears, portable> folded;
  static static_module<linears, unfolded> plain;
  CHECK(folded.forward(rows, y).has_value());
  CHECK(plain.forward(rows, expected).has_value());
  for (std::size_t i = 0; i < 8; ++i) CHECK(y[i] == doctest::Approx(expected[i]).epsilon(1e-5));
  CHECK(y == in_constant_evaluation);
}

namespace {

/// Weights of 4 bits of 5 outputs and 12 inputs, in any number of groups.
constexpr std::array<std::uint8_t, 30> halves = [] {
  std::array<std::uint8_t, 30> w{};
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<std::uint8_t>(i * 71 + 9);
  return w;
}();
constexpr std::array<float, 15> group_scales{0.02f,  0.03f, 0.011f, 0.05f, 0.007f, 0.013f, 0.04f, 0.02f,
                                             0.017f, 0.01f, 0.03f,  0.06f, 0.005f, 0.02f,  0.03f};
constexpr std::array<float, 5> channel_scales{0.02f, 0.03f, 0.011f, 0.05f, 0.007f};
constexpr std::array<float, 5> packed_bias{0.1f, -0.3f, 0.0f, 1.0f, -0.05f};

struct PackedLayer {
  std::int64_t groups = 1;
  Scale in{}, out{};
  bool is_float = false;     ///< the result is not quantized
  bool has_offsets = false;  ///< which only floats are multiplied with
};

/// dequantize, a linear with packed weights, relu, quantize.
template <PackedLayer l>
constexpr GraphModule packed_layer() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId w = b.input("w", ScalarType::uint8, {5, 6});
  const ValueId s =
      l.groups == 1 ? b.input("s", ScalarType::float32, {5}) : b.input("s", ScalarType::float32, {l.groups, 5});
  const ValueId bias_value = b.input("b", ScalarType::float32, {5});
  const ValueId x = b.input("x", l.in.type, {2, 12});
  const ValueId y = b.call("davit.linear_packed.rows",
                           {{"input", b.value(dequantize(b, x, l.in, {2, 12}))},
                            {"weight", b.value(w)},
                            {"scales", b.value(s)},
                            {"offsets", l.has_offsets ? b.value(s) : b.none()},
                            {"bias", b.value(bias_value)}},
                           "y", ScalarType::float32, {2, 5});
  if (l.is_float)
    b.end_graph({y});
  else
    b.end_graph({quantize(b, call(b, "aten.relu.default", y, {2, 5}), l.out, {2, 5})});
  return std::move(b).finish();
}
template <PackedLayer l>
struct packed_program : static_program_of<packed_layer<l>> {
  static constexpr std::array inputs{constant_input(halves),
                                     l.groups == 1 ? constant_input(channel_scales) : constant_input(group_scales),
                                     constant_input(packed_bias), user_input()};
};

constexpr Scale bytes_of_x{0.02, -7}, unsigned_x{0.02, 130, ScalarType::uint8};
constexpr PackedLayer per_channel{1, bytes_of_x, {0.017, -128}}, per_group{3, bytes_of_x, {0.017, -128}};
constexpr PackedLayer unsigned_channel{1, unsigned_x, {0.017, 3, ScalarType::uint8}};
constexpr PackedLayer unsigned_group{3, unsigned_x, {0.017, 3, ScalarType::uint8}};
constexpr PackedLayer of_two_types{1, unsigned_x, {0.017, -100}};

template <PackedLayer l, class T = std::int8_t, class Y = T>
bool packed_folds() {
  using P = packed_program<l>;
  static_assert(static_module<P, portable>::step_count == 1);
  return is_close(difference<P, std::array<T, 24>, std::array<Y, 10>>());
}
template <class P, class Y>
constexpr std::array<Y, 10> run_packed(static_module<P, portable>& module) {
  std::array<std::int8_t, 24> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int8_t>(static_cast<int>(i * 53 % 256) - 128);
  std::array<Y, 10> y{};
  if (!module.forward(x, y)) y.fill(Y(99));
  return y;
}
template <PackedLayer l, class Y = std::int8_t>
bool same_in_constant_evaluation() {
  using Module = static_module<packed_program<l>, portable>;
  static constexpr std::array<Y, 10> y = [] {
    Module module;
    return run_packed<packed_program<l>, Y>(module);
  }();
  static Module module;
  return y == run_packed<packed_program<l>, Y>(module) && y[0] != Y(99);
}

}  // namespace

TEST_CASE("dequantize, a linear with weights of 4 bits, relu, quantize become one step, with and without groups") {
  CHECK(packed_folds<per_channel>());
  CHECK(packed_folds<per_group>());
  CHECK(packed_folds<unsigned_channel, std::uint8_t>());
  CHECK(packed_folds<unsigned_group, std::uint8_t>());
  CHECK(packed_folds<of_two_types, std::uint8_t, std::int8_t>());
  static_assert(static_module<packed_program<{1, bytes_of_x, {}, true}>, portable>::step_count == 1);
  static_assert(static_module<packed_program<{3, bytes_of_x, {}, true}>, portable>::step_count == 1);
}
TEST_CASE("packed weights with offsets are multiplied with floats") {
  constexpr PackedLayer offsets{3, bytes_of_x, {0.017, -128}, false, true};
  static_assert(static_module<packed_program<offsets>, portable>::step_count == 4);
  CHECK(difference<packed_program<offsets>, std::array<std::int8_t, 24>, std::array<std::int8_t, 10>>().largest == 0);
}
TEST_CASE("a linear with weights of 4 bits in constant evaluation") {
  CHECK(same_in_constant_evaluation<per_channel>());
  CHECK(same_in_constant_evaluation<per_group>());
  CHECK(same_in_constant_evaluation<PackedLayer{1, bytes_of_x, {}, true}, float>());
  CHECK(same_in_constant_evaluation<PackedLayer{3, bytes_of_x, {}, true}, float>());
}
