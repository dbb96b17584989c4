// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "support/quantized_net.hpp"

namespace support {

[[nodiscard]] inline davit::ValueId clamp(QuantizedNet& n, std::string_view name, davit::ValueId x, Sizes sizes,
                                          double low, double high) {
  return n.op(
      "aten.hardtanh.default", name, sizes,
      {{"self", n.v(x)}, {"min_val", davit::GraphBuilder::real(low)}, {"max_val", davit::GraphBuilder::real(high)}});
}

/// A function between a quantized convolution and its last quantize.
using After = std::function<davit::ValueId(QuantizedNet&, davit::ValueId, Sizes)>;
/// Such functions.
namespace after {
inline const After relu = [](QuantizedNet& n, davit::ValueId c, Sizes sizes) { return n.relu("r", c, sizes); };
inline const After relu6 = [](QuantizedNet& n, davit::ValueId c, Sizes sizes) {
  return clamp(n, "r", c, sizes, 0, 2.9);
};
inline const After tanh = [](QuantizedNet& n, davit::ValueId c, Sizes sizes) {
  return n.op("aten.tanh.default", "t", sizes, {{"self", n.v(c)}});
};
inline const After twice = [](QuantizedNet& n, davit::ValueId c, Sizes sizes) {
  return n.add("twice", n.relu("r", c, sizes), c, sizes);
};
/// Clamped after a quantize.
[[nodiscard]] inline After clamped_bytes(QuantizedNet::Steps steps, double low = -1, double high = 2.9) {
  return [=](QuantizedNet& n, davit::ValueId c, Sizes sizes) {
    return clamp(n, "r", n.through_bytes("b", c, sizes, steps), sizes, low, high);
  };
}
/// Functions that are fused into a convolution with a result in these steps.
inline const After joined[] = {After(), relu, relu6, clamped_bytes({0.05, 7})};
}  // namespace after
[[nodiscard]] inline davit::ExportedProgram quantized_convolution(QuantizedNet& n, const After& after,
                                                                  QuantizedNet::Steps to = {0.05, 7}) {
  const Sizes sizes{2, 16, 9, 9};
  const auto weights = n.weights("w", {16, 16, 3, 3});
  const auto bias = n.weight("bias", {16});
  const auto x = n.input("x", sizes);
  const auto in = n.through_bytes("in", x, sizes, {0.01, 3});
  const auto c = n.conv("c", in, n.dequantize("wf", weights, {16, 16, 3, 3}), bias, sizes, 1, 1, 1);
  return n.finish({n.quantize("out", after ? after(n, c, sizes) : c, sizes, to)});
}

/// Three quantized convolutions, some of them depthwise, some with a sum behind; returns the bytes of layer `layer`.
[[nodiscard]] inline davit::ExportedProgram random_quantized_net(QuantizedNet& n, unsigned seed,
                                                                 std::size_t& layer_shown) {
  using davit::concat, davit::ScalarType, davit::ValueId;
  using Steps = QuantizedNet::Steps;
  std::vector<ValueId> bytes_of;
  std::mt19937 random(seed);
  const auto pick = [&](std::initializer_list<std::int64_t> list) { return list.begin()[random() % list.size()]; };
  struct Layer {
    std::int64_t out, kernel, stride, groups;
    QuantizedNet::Weights weights;
    ValueId bias = davit::no_id;
  };
  std::vector<Layer> layers;
  std::int64_t channels = pick({3, 8, 16});
  const std::int64_t first = channels;
  for (int l = 0; l < 3; ++l) {
    Layer layer{
        .out = pick({8, 16, 24}), .kernel = pick({1, 3, 5}), .stride = pick({1, 1, 2}), .groups = 1, .weights = {}};
    if (random() % 3 == 0) layer.groups = layer.out = channels;
    layer.weights = n.weights(concat("w", l), {layer.out, channels / layer.groups, layer.kernel, layer.kernel});
    if (random() % 3 != 0) layer.bias = n.weight(concat("bias", l), {layer.out});
    channels = layer.out;
    layers.push_back(std::move(layer));
  }
  std::int64_t size = pick({7, 12});
  const auto steps = [&] {
    const bool is_signed = random() % 3 != 0;
    return Steps{0.003 * static_cast<double>(1 + random() % 20),
                 static_cast<std::int64_t>(random() % 256) - (is_signed ? 128 : 0),
                 is_signed ? ScalarType::int8 : ScalarType::uint8};
  };
  std::int64_t in = first;
  const auto x = n.input("x", {1, in, size, size});
  ValueId bytes = n.quantize("q", x, {1, in, size, size}, {0.009, 11});
  Steps of{0.009, 11};
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Layer& layer = layers[l];
    const auto name = [&](std::string_view what) { return concat(what, static_cast<int>(l)); };
    const ValueId from = n.dequantize(name("from"), bytes, {1, in, size, size}, of);
    const ValueId w =
        n.dequantize(name("wf"), layer.weights, {layer.out, in / layer.groups, layer.kernel, layer.kernel});
    const std::int64_t made = (size + layer.kernel / 2 * 2 - layer.kernel) / layer.stride + 1;
    ValueId c = n.conv(name("c"), from, w, layer.bias, {1, layer.out, made, made}, layer.stride, layer.kernel / 2,
                       layer.groups);
    const bool adds = made == size && layer.out == in && random() % 2 == 0;
    in = layer.out;
    size = made;
    const Sizes sizes{1, in, size, size};
    if (random() % 2 == 0) c = n.relu(name("r"), c, sizes);
    const ScalarType before = of.type;
    of = steps();
    bytes = n.quantize(name("q"), c, sizes, of);
    if (adds) {
      const ValueId more = n.add(name("s"), from, n.dequantize(name("d"), bytes, sizes, of), sizes);
      of = steps();
      if (random() % 2 == 0) of = {0.02, 3, before};
      bytes = n.quantize(name("t"), more, sizes, of);
    }
    bytes_of.push_back(bytes);
  }
  layer_shown = seed % bytes_of.size();
  return n.finish({bytes_of[layer_shown]});
}

}  // namespace support
