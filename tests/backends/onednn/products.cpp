// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/products.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "backends/onednn/check.hpp"

using namespace davit;
using onednn_check::drafted;
using onednn_ops::Dims;
using support::Net;

TEST_CASE("convolutions in the terms of oneDNN, and one that cannot be read") {
  const auto conv = [](support::Sizes source, support::Sizes weight, std::int64_t groups, std::int64_t stride = 1,
                       std::int64_t padding = 0, std::int64_t dilation = 1) {
    return drafted([&](Net& n) {
      const auto x = n.input("x", source);
      return n.conv("y", x, n.weight("w", weight), {1, 4, 3, 3}, stride, padding, groups, dilation);
    });
  };
  const auto made = conv({1, 4, 5, 5}, {4, 2, 3, 3}, 2, 2, 1, 3);
  CHECK(made.why == "");
  CHECK(made.op.groups == 2);
  CHECK(made.op.kernel == Dims{3, 3});
  CHECK(made.op.strides == Dims{2, 2});
  CHECK(made.op.pad_right == Dims{1, 1});
  CHECK(made.op.dilates == Dims{2, 2});  // 0 is none
  CHECK(drafted([](Net& n) { return n.conv("y", n.input("x", {1, 4, 5, 5}), n.weight("w", {4, 4, 3, 3}), {4}); }).why ==
        "the sizes of input, weight and output differ in number");
  CHECK(conv({4, 5, 5}, {4, 4, 3, 3}, 1).why == "the input has no batch dimension");
  CHECK(conv({1, 4, 5, 5}, {4, 4, 3, 3}, 0).why == "convolution: the weight's filters do not divide into the groups");
}

TEST_CASE("transposed convolutions, and biases of another size") {
  const auto general = [](bool transposed, support::Sizes bias) {
    return drafted([&](Net& n) {
      const auto x = n.input("x", {1, transposed ? 4 : 2, 5});
      const auto w = n.weight("w", {4, 2, 3});
      return n.op("aten.convolution.default", "y", {1, 4, 3},
                  {{"input", n.v(x)},
                   {"weight", n.v(w)},
                   {"bias", n.v(n.weight("bias", bias))},
                   {"transposed", GraphBuilder::boolean(transposed)}});
    });
  };
  CHECK(general(false, {4}).why == "");
  CHECK(general(false, {4}).op.kind == onednn_ops::OpKind::convolution);
  CHECK(general(true, {2}).why == "");
  CHECK(general(true, {2}).op.kind == onednn_ops::OpKind::kernel);  // portable's
  CHECK(general(false, {2}).why == "convolution: the bias needs one element per output channel");
}

TEST_CASE("a padding of \"same\" is wider behind where it is odd, and reckons with dilation") {
  const auto words = [](std::string_view word) {
    return drafted([&](Net& n) {
      const auto x = n.input("x", {1, 2, 9, 9});
      const auto w = n.weight("w", {4, 2, 2, 3});
      return n.op(
          "aten.conv2d.padding", "y", {1, 4, 9, 9},
          {{"input", n.v(x)}, {"weight", n.v(w)}, {"padding", n.draft.b.string(word)}, {"dilation", n.ints({1, 2})}});
    });
  };
  CHECK(words("same").op.pad_left == Dims{0, 2});
  CHECK(words("same").op.pad_right == Dims{1, 2});
  CHECK(words("valid").op.pad_right == Dims{0, 0});
}

using onednn_ops::OpKind;

TEST_CASE("a product with one matrix for all rows is linear, one of stacks is not") {
  const auto product = [](support::Sizes a, support::Sizes b, support::Sizes out) {
    return drafted([&](Net& n) {
      const auto x = n.input("a", a);
      return n.op("aten.matmul.default", "y", out, {{"self", n.v(x)}, {"other", n.v(n.input("b", b))}});
    });
  };
  const auto linear = product({5, 2, 3}, {3, 4}, {5, 2, 4});
  CHECK(linear.op.kind == OpKind::linear);
  CHECK_FALSE(linear.op.transposed);
  CHECK(linear.op.inputs == std::vector<ValueId>{0, 1, no_id});
  CHECK(product({2, 3}, {3, 4}, {2, 4}).op.kind == OpKind::linear);
  CHECK(product({5, 2, 3}, {5, 3, 4}, {5, 2, 4}).op.kind == OpKind::matmul);
  CHECK(product({2, 3}, {5, 3, 4}, {5, 2, 4}).op.kind == OpKind::matmul);
  CHECK(product({3}, {3, 4}, {4}).why == "an operand is a vector");
  CHECK(product({2, 3}, {4, 3}, {2, 3}).why == "the sizes of the operands do not fit a matrix product");
  CHECK(product({2, 3}, {3, 4}, {4, 2}).why == "the matrices do not fit");
}

TEST_CASE("linear: the weight is [out, in]; addmm: [in, out], with a row as bias") {
  const auto linear = [](support::Sizes source, support::Sizes weight, support::Sizes bias) {
    return drafted([&](Net& n) {
      const auto x = n.input("x", source);
      const auto w = n.input("w", weight);
      return n.op("aten.linear.default", "y", {2, 4},
                  {{"input", n.v(x)}, {"weight", n.v(w)}, {"bias", n.v(n.input("b", bias))}});
    });
  };
  CHECK(linear({2, 3}, {4, 3}, {4}).op.transposed);
  CHECK(linear({2, 3}, {3, 4}, {4}).why == "the sizes of the operands do not fit a matrix product");
  CHECK(linear({5, 3}, {4, 3}, {4}).why == "the output's sizes do not fit");
  CHECK(linear({}, {4, 1}, {4}).why == "the operands are no matrices");
  CHECK(linear({2, 3}, {4, 3}, {3}).why == "the bias is not one row");
  const auto addmm = [](support::Sizes bias, double beta, support::Sizes weight) {
    return drafted([&](Net& n) {
      const auto b = n.input("b", bias);
      const auto x = n.input("x", {2, 3});
      return n.op("aten.addmm.default", "y", {2, 4},
                  {{"self", n.v(b)},
                   {"mat1", n.v(x)},
                   {"mat2", n.v(n.input("w", weight))},
                   {"beta", GraphBuilder::real(beta)}});
    });
  };
  CHECK(addmm({4}, 1, {3, 4}).op.inputs == std::vector<ValueId>{1, 2, 0});
  CHECK_FALSE(addmm({4}, 1, {3, 4}).op.transposed);
  CHECK(addmm({4}, 0.5, {3, 4}).why == "alpha or beta is not 1");
  CHECK(addmm({2, 4}, 1, {3, 4}).why == "the bias is not one row");
}
