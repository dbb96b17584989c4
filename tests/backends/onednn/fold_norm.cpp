// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/fold_norm.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "backends/onednn/check.hpp"

using namespace davit;
using onednn_check::numbers_at;
using onednn_check::place_constant;
using onednn_ops::Builder;
using onednn_ops::Code;
using onednn_ops::Operation;
using onednn_ops::OpKind;
using support::Net;

namespace {

/// Values of a convolution of two channels and of the batch norm after it.
struct FoldedPair {
  ScalarType type = ScalarType::float32;  ///< of weight and gamma
  Net net{};
  ValueId x = net.input("x", {1, 2, 1, 1});
  ValueId weight = net.draft.b.input("weight", type, {2, 2, 1, 1});
  ValueId bias = net.input("bias", {2});
  ValueId mean = net.input("mean", {2});
  ValueId variance = net.input("variance", {2});
  ValueId gamma = net.draft.b.input("gamma", type, {2});
  ValueId beta = net.input("beta", {2});
  Operation base{.kind = OpKind::convolution, .inputs = {x, weight, bias}};
  Operation norm{.kind = OpKind::batch_norm, .inputs = {x, mean, variance, gamma, beta}, .epsilon = 1};
  Code code;
  Builder builder{net.draft.b.module().view(), code, false};

  void place_norm() {
    place_constant(builder, mean, {1, -2});
    place_constant(builder, variance, {3, 0});  // with epsilon: 4 and 1
    place_constant(builder, gamma, {4, 3});     // so the factors are 2 and 3
    place_constant(builder, beta, {10, 20});
  }
};

}  // namespace

TEST_CASE("weights and biases that also do the batch norm") {
  FoldedPair p;
  place_constant(p.builder, p.weight, {1, 2, 3, 4});
  place_constant(p.builder, p.bias, {5, 6});
  p.place_norm();
  REQUIRE(folds(p.builder, p.base, p.norm));
  const auto [weight, bias] = fold_norm(p.builder, p.base, p.norm);
  CHECK(numbers_at(p.builder, weight) == std::vector<float>{2, 4, 9, 12});
  CHECK(numbers_at(p.builder, bias) == std::vector<float>{(5 - 1) * 2 + 10, (6 + 2) * 3 + 20});
  CHECK(numbers_at(p.builder, p.builder.place_of(p.weight)) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("bfloat16 is folded in float32") {
  FoldedPair p{.type = ScalarType::bfloat16};
  const auto place = [&](ValueId v, std::initializer_list<float> numbers) {
    const onednn_ops::Place at = p.builder.add_constant(onednn_ops::plain_of(p.builder.graph(), v));
    std::ranges::transform(numbers, reinterpret_cast<BFloat16*>(p.builder.constant_data(at)),
                           [](float x) { return BFloat16(x); });
    p.builder.place(v, at);
  };
  place(p.weight, {1, 2, 3, 4});
  place_constant(p.builder, p.bias, {5, 6});
  place_constant(p.builder, p.mean, {1, -2});
  place_constant(p.builder, p.variance, {3, 0});
  place(p.gamma, {4, 3});
  place_constant(p.builder, p.beta, {10, 20});
  REQUIRE(folds(p.builder, p.base, p.norm));
  const auto [weight, bias] = fold_norm(p.builder, p.base, p.norm);
  CHECK(numbers_at(p.builder, weight) == std::vector<float>{2, 4, 9, 12});
  CHECK(numbers_at(p.builder, bias) == std::vector<float>{(5 - 1) * 2 + 10, (6 + 2) * 3 + 20});
}

TEST_CASE("a missing bias is 0, a missing gamma 1, a missing beta 0") {
  FoldedPair p;
  place_constant(p.builder, p.weight, {1, 2, 3, 4});
  p.place_norm();
  p.base.inputs[2] = no_id;
  p.norm.inputs[3] = p.norm.inputs[4] = no_id;
  REQUIRE(folds(p.builder, p.base, p.norm));
  const auto [weight, bias] = fold_norm(p.builder, p.base, p.norm);
  CHECK(numbers_at(p.builder, weight) == std::vector<float>{0.5, 1, 3, 4});
  CHECK(numbers_at(p.builder, bias) == std::vector<float>{-0.5, 2});
}

TEST_CASE("weights in another layout are read in row-major order") {
  FoldedPair p;
  place_constant(p.builder, p.weight, onednn_ops::strided({2, 2, 1, 1}, {1, 2, 1, 1}, onednn_ops::DataType::f32),
                 {1, 3, 2, 4});
  place_constant(p.builder, p.bias, {5, 6});
  p.place_norm();
  const auto [weight, bias] = fold_norm(p.builder, p.base, p.norm);
  CHECK(numbers_at(p.builder, weight) == std::vector<float>{2, 4, 9, 12});
}

TEST_CASE("norms that cannot be folded") {
  FoldedPair all;
  place_constant(all.builder, all.weight, {1, 2, 3, 4});
  place_constant(all.builder, all.bias, {5, 6});
  all.place_norm();
  Operation other = all.base;
  other.kind = OpKind::linear;
  CHECK_FALSE(folds(all.builder, other, all.norm));
  Operation unknown = all.norm;
  unknown.inputs[3] = all.x;  // not a constant
  CHECK_FALSE(folds(all.builder, all.base, unknown));
  other = all.base;
  other.inputs[1] = all.x;
  CHECK_FALSE(folds(all.builder, other, all.norm));
  other = all.base;
  other.inputs[2] = all.x;
  CHECK_FALSE(folds(all.builder, other, all.norm));
  Code code;
  Builder trial(all.net.draft.b.module().view(), code, true);
  CHECK_FALSE(folds(trial, all.base, all.norm));
}
