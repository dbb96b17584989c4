// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/elementwise.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string_view>
#include <vector>

#include "backends/onednn/check.hpp"

using namespace davit;
using onednn_check::drafted;
using onednn_ops::OpKind;
using support::Net;

TEST_CASE("bounds of hardtanh and clamp") {
  const auto clip = [](std::string_view target, Argument low, Argument high) {
    const bool hardtanh = target == "aten.hardtanh.default";
    return drafted([&](Net& n) {
      return n.op(target, "y", {2},
                  {{"self", n.v(n.input("x", {2}))},
                   {hardtanh ? "min_val" : "min", low},
                   {hardtanh ? "max_val" : "max", high}});
    });
  };
  const auto real = [](double number) { return GraphBuilder::real(number); };
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto symmetric = clip("aten.hardtanh.default", {}, {}).op.functions;
  REQUIRE(symmetric.size() == 1);
  CHECK(symmetric[0].algorithm == dnnl::algorithm::eltwise_clip);
  CHECK(symmetric[0].alpha == -1);
  CHECK(symmetric[0].beta == 1);
  const auto relu = clip("aten.clamp.default", real(0), {}).op.functions;
  REQUIRE(relu.size() == 1);
  CHECK(relu[0].algorithm == dnnl::algorithm::eltwise_relu);
  CHECK(relu[0].alpha == 0);
  const auto above = clip("aten.clamp.default", {}, GraphBuilder::integer(3)).op.functions;
  REQUIRE(above.size() == 1);
  CHECK(above[0].alpha == -inf);
  CHECK(above[0].beta == 3);
  CHECK(clip("aten.clamp.default", real(2), real(1)).why == "the bounds cross");
  const auto nan = real(std::numeric_limits<double>::quiet_NaN());
  CHECK(clip("aten.clamp.default", nan, real(1)).why == "the bounds cross");
  const auto alone = clip("aten.clamp.default", nan, {}).op.functions;  // a lone NaN is no bound
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].alpha == -inf);
  CHECK(alone[0].beta == inf);
  CHECK(drafted([](Net& n) {
          const auto x = n.input("x", {2});
          return n.op("aten.clamp.default", "y", {2}, {{"self", n.v(x)}, {"min", n.v(x)}});
        }).why == "a bound is no number");
}

TEST_CASE("functions with an argument") {
  const auto with = [](std::string_view target, std::string_view name, Argument argument) {
    return drafted(
        [&](Net& n) { return n.op(target, "y", {2}, {{"self", n.v(n.input("x", {2}))}, {name, argument}}); });
  };
  const auto gelu = [](std::string_view how) {
    return drafted([&](Net& n) {
      return n.op("aten.gelu.default", "y", {2},
                  {{"self", n.v(n.input("x", {2}))}, {"approximate", n.draft.b.string(how)}});
    });
  };
  CHECK(gelu("none").op.functions[0].algorithm == dnnl::algorithm::eltwise_gelu_erf);
  CHECK(gelu("tanh").op.functions[0].algorithm == dnnl::algorithm::eltwise_gelu_tanh);
  CHECK(gelu("sigmoid").why == "the approximation is unknown");
  CHECK(with("aten.pow.Tensor_Scalar", "exponent", GraphBuilder::integer(2)).op.functions[0].algorithm ==
        dnnl::algorithm::eltwise_square);
  const auto same = with("aten.pow.Tensor_Scalar", "exponent", GraphBuilder::real(1)).op.functions[0];
  CHECK(same.algorithm == dnnl::algorithm::eltwise_linear);
  CHECK(same.alpha == 1);
  CHECK(with("aten.pow.Tensor_Scalar", "exponent", GraphBuilder::real(3)).why == "the exponent is neither 1 nor 2");
  CHECK(with("aten.leaky_relu.default", "negative_slope", GraphBuilder::real(0.25)).op.functions[0].alpha == 0.25f);
  CHECK(with("aten.leaky_relu.default", "negative_slope", {}).op.functions[0].alpha == 0.01f);
  CHECK(with("aten.elu.default", "alpha", GraphBuilder::real(0.5)).op.kind == onednn_ops::OpKind::kernel);
  CHECK(drafted([](Net& n) { return n.relu("y", n.input("x", {3}), {2}); }).why ==
        "the sizes of input and output differ");
}

TEST_CASE("a second operand that is a number is a function of the first") {
  const auto with = [](std::string_view target, double number) {
    return drafted([&](Net& n) {
      return n.op(target, "y", {2}, {{"self", n.v(n.input("x", {2}))}, {"other", GraphBuilder::real(number)}});
    });
  };
  const auto is_linear = [](const onednn_check::Described& made, float alpha, float beta) {
    return made.why.empty() && made.op.kind == OpKind::eltwise && made.op.functions.size() == 1 &&
           made.op.functions[0].algorithm == dnnl::algorithm::eltwise_linear && made.op.functions[0].alpha == alpha &&
           made.op.functions[0].beta == beta;
  };
  CHECK(is_linear(with("aten.add.Tensor", 4), 1, 4));
  CHECK(is_linear(with("aten.sub.Tensor", 4), 1, -4));
  CHECK(is_linear(with("aten.mul.Scalar", 4), 4, 0));
  CHECK(is_linear(with("aten.div.Scalar", 4), 0.25, 0));
  CHECK(is_linear(with("aten.div.Scalar", -0.5), -2, 0));
  const auto by_three = with("aten.div.Scalar", 3);  // its reciprocal is not exact
  CHECK(by_three.why == "");
  CHECK(by_three.op.kind == OpKind::binary);
  CHECK(by_three.op.algorithm == dnnl::algorithm::binary_div);
  CHECK(by_three.op.inputs == std::vector<ValueId>{0, no_id});
  CHECK(by_three.op.epsilon == 3);
  CHECK(with("aten.div.Scalar", 0x1p127).op.kind == OpKind::binary);
  for (const double subnormal : {1e-39, -1e-39, 0x1p-140, 0.0, 1e-60})
    CHECK(with("aten.div.Scalar", subnormal).why == "the divisor is out of float's range");
  CHECK(with("aten.maximum.default", 4).why == "the second operand is a number");
}

TEST_CASE("operands that are broadcast: the second may be, and the first where the operands can change places") {
  const auto with = [](std::string_view target, support::Sizes a, support::Sizes b, support::Sizes out) {
    return drafted([&](Net& n) {
      const auto x = n.input("x", a);
      return n.op(target, "y", out, {{"self", n.v(x)}, {"other", n.v(n.input("y", b))}});
    });
  };
  const auto straight = with("aten.sub.Tensor", {2, 3}, {3}, {2, 3});
  CHECK(straight.why == "");
  CHECK(straight.op.inputs == std::vector<ValueId>{0, 1});
  CHECK(with("aten.add.Tensor", {3}, {2, 3}, {2, 3}).op.inputs == std::vector<ValueId>{1, 0});
  CHECK(with("aten.minimum.default", {}, {2}, {2}).op.inputs == std::vector<ValueId>{1, 0});
  CHECK(with("aten.sub.Tensor", {3}, {2, 3}, {2, 3}).op.inputs ==
        std::vector<ValueId>{0, 1});  // the first operand is copied
  CHECK(with("aten.add.Tensor", {2, 1}, {3}, {2, 3}).why == "");
  CHECK(with("aten.add.Tensor", {2, 3}, {2}, {2, 3}).why == "the operands do not broadcast to the output");
  CHECK(with("aten.add.Tensor", {2, 3}, {1, 2, 3}, {2, 3}).why == "the operands do not broadcast to the output");
  CHECK(drafted([](Net& n) {
          const auto x = n.input("x", {2});
          return n.op("aten.add.Tensor", "y", {2}, {{"self", n.v(x)}, {"other", n.v(x)}, {"alpha", n.i(2)}});
        }).why == "alpha is not 1");
}
