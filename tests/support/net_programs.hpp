// SPDX-License-Identifier: MIT
#pragma once

#include "davit/program/exported_program.hpp"
#include "support/net.hpp"

/// Programs that every backend of convolutions is tested with.
namespace support {

/// conv, norm, relu, conv, norm, + shortcut, relu: a block of resnet.
[[nodiscard]] inline davit::ExportedProgram residual_block(Net& n) {
  const auto w1 = n.weight("w1", {32, 16, 3, 3}, 0.2);
  const auto w2 = n.weight("w2x", {32, 32, 3, 3}, 0.1);
  const auto w3 = n.weight("w3xx", {32, 16, 1, 1}, 0.3);
  const auto x = n.input("x", {2, 16, 10, 10});
  const auto a = n.relu("a", n.norm("n1", n.conv("c1", x, w1, {2, 32, 5, 5}, 2, 1), {2, 32, 5, 5}), {2, 32, 5, 5});
  const auto b = n.norm("n2", n.conv("c2", a, w2, {2, 32, 5, 5}, 1, 1), {2, 32, 5, 5});
  const auto c = n.norm("n3", n.conv("c3", x, w3, {2, 32, 5, 5}, 2), {2, 32, 5, 5});
  return n.finish({n.relu("out", n.add("sum", b, c, {2, 32, 5, 5}), {2, 32, 5, 5})});
}

/// conv, norm, relu, where the weight of the convolution and the scale of the norm are inputs.
[[nodiscard]] inline davit::ExportedProgram convolution_with_input_weights(Net& n) {
  const auto x = n.input("x", {1, 16, 6, 6});
  const auto w = n.input("w", {24, 16, 3, 3});
  const auto gamma = n.input("gamma", {24});
  const auto beta = n.weight("beta", {24});
  const auto mean = n.weight("mean", {24});
  const auto variance = n.weight("variance", {24}, 0.4, 1);
  const auto c = n.conv("c", x, w, {1, 24, 4, 4});
  return n.finish({n.relu("r", n.norm("bn", c, gamma, beta, mean, variance, {1, 24, 4, 4}), {1, 24, 4, 4})});
}

/// conv(pad(x)), where pad(x) is an output too.
[[nodiscard]] inline davit::ExportedProgram convolution_with_shared_padding(Net& n) {
  const auto w = n.weight("w", {16, 16, 3, 3});
  const auto x = n.input("x", {1, 16, 5, 5});
  const auto padded =
      n.op("aten.constant_pad_nd.default", "p", {1, 16, 7, 7}, {{"self", n.v(x)}, {"pad", n.ints({1, 1, 1, 1})}});
  return n.finish({n.conv("c", padded, w, {1, 16, 5, 5}), padded});
}

}  // namespace support
