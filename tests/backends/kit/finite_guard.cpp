// SPDX-License-Identifier: MIT
#include "davit/backends/kit/finite_guard.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/kit/non_finite_fallback.hpp"
#include "davit/backends/portable/run_time/code.hpp"
#include "davit/lowering/to_backend.hpp"
#include "support/net.hpp"

using namespace davit;
using support::Net;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// The names of the checked values, separated by spaces.
[[nodiscard]] std::string checked(const ExportedProgram& program, bool products_lose = false) {
  const auto lowered = to_backend<portable>(program, portable::CompileSpec{});
  if (!lowered) return to_string(lowered.error());
  const ProgramBody& body = *handle_of<portable>(lowered->methods()[0].delegates[0]).code->body;
  std::string names;
  const std::vector<ValueCheck> checks = find_value_checks(body, products_lose);
  for (ValueId v = 0; v < checks.size(); ++v)
    if (checks[v] != ValueCheck::none) names += (names.empty() ? "" : " ") + std::string(body.graph.view().name(v));
  return names;
}
[[nodiscard]] ValueId binary(Net& n, std::string_view target, std::string_view name, ValueId a, ValueId b) {
  return n.op(target, name, {4, 8}, {{"self", n.v(a)}, {"other", n.v(b)}});
}
[[nodiscard]] ValueId unary(Net& n, std::string_view target, std::string_view name, ValueId a) {
  return n.op(target, name, {4, 8}, {{"self", n.v(a)}});
}

}  // namespace

TEST_CASE_TEMPLATE("numbers pass a check if they are finite and not too large, at any position", T, float, BFloat16) {
  for (const std::size_t count : {1u, 15u, 16u, 17u, 40u})
    for (const float odd : {not_a_number, -not_a_number, infinity, -infinity, 1.1e9f, -3e38f})
      for (std::size_t at = 0; at < count; ++at) {
        std::vector<T> x(count, T(-1e9f));
        CHECK(all_pass_guard(x.data(), static_cast<std::int64_t>(count)));
        x[at] = T(odd);
        CHECK_FALSE(all_pass_guard(x.data(), static_cast<std::int64_t>(count)));
      }
  CHECK(all_pass_guard(static_cast<const T*>(nullptr), 0));
}

TEST_CASE("checked values: inputs of operators that lose NaN, results that may overflow, and no others") {
  {
    Net n;
    const auto x = n.input("x", {4, 8});
    CHECK(checked(n.finish({n.relu("y", binary(n, "aten.add.Tensor", "sum", x, x), {4, 8})})) == "x");
  }
  {
    Net n;  // no operator loses NaN
    const auto x = n.input("x", {4, 8});
    CHECK(checked(n.finish({unary(n, "aten.tanh.default", "y", binary(n, "aten.add.Tensor", "sum", x, x))})) == "");
  }
  {
    Net n;  // 0 / 0
    const auto x = n.input("x", {4, 8});
    const auto y = n.input("y", {4, 8});
    CHECK(checked(n.finish({n.relu("r", binary(n, "aten.div.Tensor", "q", x, y), {4, 8})})) == "q");
  }
  {
    Net n;  // 1e9 to the fifth power overflows; a NaN in x stays one, too
    const auto x = n.input("x", {4, 8});
    const auto square = binary(n, "aten.mul.Tensor", "square", x, x);
    const auto fourth = binary(n, "aten.mul.Tensor", "fourth", square, square);
    CHECK(checked(n.finish({n.relu("r", binary(n, "aten.mul.Tensor", "fifth", fourth, x), {4, 8})})) == "fifth");
  }
  {
    Net n;  // a mask reaches softmax unchecked; softmax's result is checked
    const auto x = n.input("x", {4, 8});
    const auto scores = binary(n, "aten.add.Tensor", "scores", x, n.input("mask", {4, 8}));
    const auto weights =
        n.op("aten._softmax.default", "weights", {4, 8},
             {{"self", n.v(scores)}, {"dim", n.i(-1)}, {"half_to_float", GraphBuilder::boolean(false)}});
    CHECK(checked(n.finish({n.relu("r", weights, {4, 8})})) == "weights");
  }
  {
    Net n;  // no larger than its operand, or than that times a slope
    const auto x = n.input("x", {4, 8});
    const auto made =
        n.op("aten._prelu_kernel.default", "p", {4, 8}, {{"self", n.v(x)}, {"weight", n.v(n.input("slope", {8}))}});
    CHECK(checked(n.finish({n.relu("r", made, {4, 8})})) == "x slope");
  }
  {
    Net n;  // bounds end growth, in one clamp or two
    ValueId x = n.input("x", {4, 8});
    for (int i = 0; i < 10; ++i) {
      const std::string at = std::to_string(i);
      const ValueId low = n.relu("low" + at, x, {4, 8});
      x = n.op("aten.clamp.default", "high" + at, {4, 8}, {{"self", n.v(low)}, {"max", GraphBuilder::real(1000)}});
      x = binary(n, "aten.mul.Tensor", "product" + at, x, x);
    }
    CHECK(checked(n.finish({x})) == "x");
  }
  {
    Net n;  // weights are checked at compile time
    const auto x = n.input("x", {1, 4, 5, 5});
    const auto c = n.conv("c", x, n.weight("w", {6, 4, 3, 3}), {1, 6, 3, 3});
    CHECK(checked(n.finish({n.relu("r", c, {1, 6, 3, 3})})) == "x");
  }
  {
    Net n;
    const auto x = n.input("x", {4, 8});
    const auto product = n.op("aten.mm.default", "p", {4, 4}, {{"self", n.v(x)}, {"mat2", n.v(n.weight("w", {8, 4}))}});
    const ExportedProgram program = n.finish({product});
    CHECK(checked(program) == "");
    CHECK(checked(program, true) == "x");
  }
}

TEST_CASE("the operands of each operator that loses NaN are checked, also if it is the only one") {
  const auto alone = [](std::string_view target, std::initializer_list<Net::Named> more = {}) {
    Net n;
    std::vector<Net::Named> arguments{{"self", n.v(n.input("x", {4, 8}))}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return checked(n.finish({n.op(target, "y", {4, 8}, arguments)}));
  };
  for (const std::string_view target :
       {"aten.relu.default", "aten.relu6.default", "aten.hardsigmoid.default", "aten.hardswish.default"}) {
    CAPTURE(target);
    CHECK(alone(target) == "x");
  }
  CHECK(alone("aten.hardtanh.default", {{"min_val", GraphBuilder::real(-1)}, {"max_val", GraphBuilder::real(1)}}) ==
        "x");
  CHECK(alone("aten.clamp.default", {{"min", GraphBuilder::real(-1)}}) == "x");
  CHECK(alone("aten.gelu.default") == "x");
  CHECK(alone("aten.tanh.default") == "");
  for (const std::string_view target : {"aten.minimum.default", "aten.maximum.default"}) {
    CAPTURE(target);
    Net n;
    const auto x = n.input("x", {4, 8});
    CHECK(checked(n.finish({binary(n, target, "z", x, n.input("y", {4, 8}))})) == "x y");
  }
}

TEST_CASE(
    "numbers that are not finite are looked for behind the operator that has them as an argument, unless they only "
    "bound") {
  {
    Net n;
    const auto x = n.input("x", {4, 8});
    const auto product =
        n.op("aten.mul.Tensor", "product", {4, 8}, {{"self", n.v(x)}, {"other", GraphBuilder::real(infinity)}});
    CHECK(checked(n.finish({n.relu("r", product, {4, 8})})) == "product");
  }
  {
    Net n;
    const auto x = n.input("x", {4, 8});
    const auto padded = n.op("aten.constant_pad_nd.default", "padded", {4, 10},
                             {{"self", n.v(x)}, {"pad", n.ints({1, 1})}, {"value", GraphBuilder::real(-infinity)}});
    CHECK(checked(n.finish({n.relu("r", padded, {4, 10})})) == "padded");
  }
  const auto bounded = [](double low, double high) {
    Net n;
    const auto x = n.input("x", {4, 8});
    const auto clamp = n.op("aten.clamp.default", "c", {4, 8},
                            {{"self", n.v(x)}, {"min", GraphBuilder::real(low)}, {"max", GraphBuilder::real(high)}});
    return checked(n.finish({n.relu("r", clamp, {4, 8})}));
  };
  CHECK(bounded(-infinity, 6) == "x");
  CHECK(bounded(0, infinity) == "x");
  CHECK(bounded(infinity, infinity) == "x c");
}

TEST_CASE("a padding with -infinity is no reason to look where each window of max pools reaches beyond it") {
  const auto pooled = [](std::int64_t pad, std::int64_t kernel, std::int64_t out) {
    Net n;
    const auto x = n.input("x", {1, 2, 6, 6});
    const auto padded =
        n.op("aten.constant_pad_nd.default", "padded", {1, 2, 6 + 2 * pad, 6 + 2 * pad},
             {{"self", n.v(x)}, {"pad", n.ints({pad, pad, pad, pad})}, {"value", GraphBuilder::real(-infinity)}});
    return checked(n.finish(
        {n.op("aten.max_pool2d.default", "m", {1, 2, out, out},
              {{"self", n.v(padded)}, {"kernel_size", n.ints({kernel, kernel})}, {"stride", n.ints({1, 1})}})}));
  };
  CHECK(pooled(1, 3, 6) == "x");
  CHECK(pooled(2, 3, 8) == "x");
  CHECK(pooled(2, 2, 9) == "padded");
}

TEST_CASE("a norm without epsilon may divide by zero") {
  const auto normed = [](double eps) {
    Net n;
    const auto x = n.input("x", {4, 8});
    const auto l = n.op("aten.layer_norm.default", "l", {4, 8},
                        {{"input", n.v(x)},
                         {"normalized_shape", n.ints({8})},
                         {"weight", {}},
                         {"bias", {}},
                         {"eps", GraphBuilder::real(eps)}});
    return checked(n.finish({n.relu("r", l, {4, 8})}));
  };
  CHECK(normed(1e-5) == "x");
  CHECK(normed(0) == "l");
  CHECK(normed(1e-60) == "l");
}

TEST_CASE("a convolution that may overflow is looked at before its batch norm, which may go into its weights") {
  const auto convolved = [](double scale) {
    Net n;
    const auto x = n.input("x", {1, 4, 5, 5});
    return checked(
        n.finish({n.norm("bn", n.conv("c", x, n.weight("w", {6, 4, 3, 3}, scale), {1, 6, 3, 3}), {1, 6, 3, 3})}));
  };
  CHECK(convolved(1) == "x");
  CHECK(convolved(1e31) == "x c");
}

TEST_CASE(
    "deep in a network a convolution's operand is checked, not its result before a norm and a relu in one primitive") {
  Net n;
  ValueId x = n.input("x", {1, 4, 5, 5});
  for (int i = 0; i < 12; ++i) {
    const std::string at = std::to_string(i);
    x = n.norm("bn" + at, n.conv("c" + at, x, n.weight("w" + at, {4, 4, 1, 1}, 1e3), {1, 4, 5, 5}), {1, 4, 5, 5});
    x = n.relu("r" + at, x, {1, 4, 5, 5});
  }
  CHECK(checked(n.finish({x})) == "x r4 r9");
}

TEST_CASE("results that are integers or bools are not checked: they are finite for any operands") {
  const auto program = [](bool as_integers) {
    Net n;
    const ValueId x = n.input("x", {4, 8}), y = n.input("y", {4, 8});
    const ValueId log = unary(n, "aten.log.default", "log", x);
    if (!as_integers) return n.finish({unary(n, "aten.relu.default", "r", log), y});
    const auto made_of = [&](std::string_view target, std::string_view name, ScalarType dtype,
                             std::initializer_list<Argument> in) {
      const ValueId out = n.draft.b.tensor(name, dtype, {4, 8});
      const Argument made = n.v(out);
      n.draft.b.node(target, std::span<const Argument>(in.begin(), in.size()), {&made, 1}, n.draft.metadata);
      return out;
    };
    Argument dtype = GraphBuilder::scalar_type(ScalarType::int64);
    dtype.name = n.draft.b.text("dtype");
    const ValueId whole = made_of("aten._to_copy.default", "whole", ScalarType::int64, {n.v(log), dtype});
    const ValueId positive = made_of("aten.clamp.default", "positive", ScalarType::int64, {n.v(whole), n.i(0)});
    return n.finish({positive, made_of("aten.gt.Tensor", "above", ScalarType::bool_, {n.v(y), n.v(x)})});
  };
  CHECK(checked(program(false)) == "log");
  CHECK(checked(program(true)) == "");
}

TEST_CASE("integers may exceed the check's limit: their products with floats are checked before they overflow") {
  Net n;
  const ValueId x = n.input("x", {4, 8});
  n.draft.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name::own("whole")}});
  const ValueId whole = n.draft.b.input("whole", ScalarType::int64, {4, 8});
  const ValueId once = binary(n, "aten.mul.Tensor", "once", x, whole);  // 1e9 times 2^63
  const ValueId twice = binary(n, "aten.mul.Tensor", "twice", once, whole);
  CHECK(checked(n.finish({unary(n, "aten.relu.default", "r", twice)})) == "twice");
}

TEST_CASE("a float converted from an unchecked dtype may have any value") {
  for (const ScalarType wide : {ScalarType::float64, ScalarType::float16}) {
    Net n;
    n.draft.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name::own("wide")}});
    const ValueId x = n.draft.b.input("wide", wide, {4, 8});
    Argument dtype = GraphBuilder::scalar_type(ScalarType::float32);
    dtype.name = n.draft.b.text("dtype");
    const ValueId low = n.op("aten._to_copy.default", "low", {4, 8}, {{"self", n.v(x)}, {"dtype", dtype}});
    CHECK(checked(n.finish({unary(n, "aten.relu.default", "r", low)})) == "low");
  }
}

TEST_CASE("a sine may be negative: an upper bound alone does not make it small") {
  Net n;
  const auto sine = unary(n, "aten.sin.default", "sine", n.input("x", {4, 8}));
  const auto low = n.op("aten.clamp.default", "low", {4, 8}, {{"self", n.v(sine)}, {"max", GraphBuilder::real(0.001)}});
  const auto high = n.op("aten.mul.Tensor", "high", {4, 8}, {{"self", n.v(low)}, {"other", GraphBuilder::real(3e38)}});
  CHECK(checked(n.finish({n.relu("r", high, {4, 8})})) == "x high");
}
