// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/binary_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "backends/xnnpack/check.hpp"
#include "davit/backends/xnnpack/elementwise_kernels.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::faults;
using xnnpack_check::real;

namespace {

/// x through one function of one argument.
[[nodiscard]] ExportedProgram unary(Net& n, std::string_view target, std::initializer_list<Net::Named> more = {}) {
  const auto x = n.input("x", {3, 37});
  std::vector<Argument> in{n.v(x)};
  in[0].name = n.draft.b.text("self");
  for (const auto& [name, argument] : more) {
    in.push_back(argument);
    in.back().name = n.draft.b.text(name);
  }
  const auto y = n.draft.b.tensor("y", ScalarType::float32, {3, 37});
  const Argument out[] = {n.v(y)};
  n.draft.b.node(target, in, out, n.draft.metadata);
  return n.finish({y});
}

/// faults() of a program of a net, which is built before its sample is taken.
template <class Build>
[[nodiscard]] std::string faults_of(Build&& build) {
  Net n;
  const ExportedProgram program = build(n);
  return faults(program, n.sample());
}

/// The output of a function of one argument on these numbers.
[[nodiscard]] std::vector<float> outputs_of(std::string_view target, std::vector<float> values) {
  Net n;
  const auto size = static_cast<std::int64_t>(values.size());
  const auto x = n.input("x", {size});
  const ExportedProgram program = n.finish({n.op(target, "y", {size}, {{"self", n.v(x)}})});
  Tensor t = Tensor::zeros(ScalarType::float32, std::array{size});
  std::ranges::copy(values, t.view().as<float>());
  const std::vector<Tensor> out = xnnpack_check::outputs(program, {EValue(t.view())});
  if (out.empty()) return {};
  const float* y = out[0].view().as<float>();
  return {y, y + size};
}
}  // namespace

TEST_CASE("functions of one argument") {
  for (const std::string_view target :
       {"aten.abs.default", "aten.ceil.default", "aten.elu.default", "aten.exp.default", "aten.floor.default",
        "aten.gelu.default", "aten.hardsigmoid.default", "aten.hardswish.default", "aten.hardtanh.default",
        "aten.leaky_relu.default", "aten.neg.default", "aten.reciprocal.default", "aten.relu.default",
        "aten.round.default", "aten.sigmoid.default", "aten.silu.default", "aten.tanh.default", "aten.trunc.default"}) {
    CAPTURE(target);
    CHECK(faults_of([&](Net& n) { return unary(n, target); }) == "");
  }
  CHECK(faults_of([](Net& n) { return unary(n, "aten.pow.Tensor_Scalar", {{"exponent", n.i(2)}}); }) == "");
  CHECK(faults_of([](Net& n) { return unary(n, "aten.clamp.default", {{"min", real(-0.25)}}); }) == "");
  CHECK(faults_of([](Net& n) { return unary(n, "aten.gelu.default", {{"approximate", n.draft.b.string("tanh")}}); }) ==
        "");
}

TEST_CASE("functions of two arguments broadcast in any order of dimensions") {
  for (const std::string_view target : {"aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor",
                                        "aten.maximum.default", "aten.minimum.default"}) {
    CAPTURE(target);
    Net n;
    const auto w = n.weight("w", {6, 2, 1, 1});
    const auto channel = n.weight("channel", {6, 1, 1}, 0.5, 2);
    const auto x = n.input("x", {2, 2, 5, 3});
    const auto row = n.input("row", {5, 1});
    const auto c = n.conv("c", x, w, {2, 6, 5, 3});
    const auto a = n.op(target, "a", {2, 6, 5, 3}, {{"self", n.v(c)}, {"other", n.v(channel)}});
    const auto b = n.op(target, "b", {2, 6, 5, 3}, {{"self", n.v(a)}, {"other", n.v(row)}});
    const auto d = n.op(target, "d", {2, 6, 5, 3}, {{"self", n.v(row)}, {"other", n.v(c)}});
    const auto e = n.op(target, "e", {2, 6, 5, 3}, {{"self", n.v(d)}, {"other", real(1.5)}});
    CHECK(faults(n.finish({b, n.relu("f", e, {2, 6, 5, 3})}), n.sample(), {1e-3, 1e-4}) == "");
  }
}

TEST_CASE("NaN stays NaN through functions of one and two arguments") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string_view target : {"aten.relu.default", "aten.sigmoid.default", "aten.tanh.default",
                                        "aten.gelu.default", "aten.exp.default", "aten.hardtanh.default"}) {
    CAPTURE(target);
    const std::vector<float> y = outputs_of(target, {1, nan, 2});
    REQUIRE(y.size() == 3);
    CHECK(std::isnan(y[1]));
    CHECK_FALSE(std::isnan(y[0]));
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(outputs_of("aten.exp.default", {infinity, -infinity, 100, -200}) ==
        std::vector<float>{infinity, 0, infinity, 0});
  CHECK(outputs_of("aten.sigmoid.default", {infinity, -infinity, 3e38f, -3e38f}) == std::vector<float>{1, 0, 1, 0});
}

TEST_CASE("a function of two between bounds keeps NaN, in vectors and in what is left of them") {
  const xnnpack_parts::Step step{.op = xnnpack_parts::Op::add, .min = -1, .max = 6};
  for (const std::int64_t size : {1, 5, 40}) {
    CAPTURE(size);
    std::vector<float> a(static_cast<std::size_t>(size)), y(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i) - 3;
    a.back() = std::numeric_limits<float>::quiet_NaN();
    xnnpack_parts::binary_row(step, a.data(), true, a.data(), true, y.data(), size);
    for (std::size_t i = 0; i + 1 < a.size(); ++i) CHECK(y[i] == std::clamp(2 * a[i], -1.0f, 6.0f));
    CHECK(std::isnan(y.back()));
  }
}

TEST_CASE("a number that is repeated keeps the sign of its zero") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> ones(3, 1);
  const float minus_zero = -0.0f;
  const xnnpack_parts::Step divide{.op = xnnpack_parts::Op::divide};
  std::vector<float> y(3);
  xnnpack_parts::binary_row(divide, ones.data(), true, &minus_zero, false, y.data(), 3);
  CHECK(y == std::vector<float>(3, -infinity));
  xnnpack_parts::binary_row(divide, &minus_zero, false, ones.data(), true, y.data(), 3);
  CHECK(std::signbit(y[1]));
}
