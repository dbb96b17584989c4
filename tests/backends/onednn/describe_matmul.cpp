// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/describe_matmul.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "backends/onednn/check.hpp"

using namespace davit;
using onednn_check::drafted;
using onednn_ops::OpKind;
using support::Net;

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
