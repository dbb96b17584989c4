// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/op_table.hpp"

#include <doctest/doctest.h>

#include "backends/onednn/check.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"

using namespace davit;
using onednn_check::described;
using onednn_check::drafted;
using onednn_ops::find_op;
using support::Net;

static_assert(find_op("aten.relu.default") != nullptr && find_op("aten.relu.default")->name == "aten.relu.default");
static_assert(find_op("aten.relu") == nullptr && find_op("") == nullptr && find_op("zzz") == nullptr);

TEST_CASE("every row of the table is found by its name, at run time too, and no name is there twice") {
  for (const onednn_ops::OpRow& row : onednn_ops::op_table) {
    CAPTURE(row.name);
    CHECK(find_op(row.name) == &row);
    CHECK((row.describe != nullptr));
  }
  CHECK(find_op("aten.relu.out") == nullptr);
  CHECK(find_op("aten.view.default ") == nullptr);
}

TEST_CASE("portable takes every operator that oneDNN takes: there is always a backend to fall back on") {
  for (const onednn_ops::OpRow& row : onednn_ops::op_table) {
    CAPTURE(row.name);
    CHECK(portable_kernels::find_op(row.name) != nullptr);
  }
}

TEST_CASE("operators that are as exact as torch's elsewhere only run on portable's kernels") {
  const auto made =
      drafted([](Net& n) { return n.op("aten.log.default", "y", {2}, {{"self", n.v(n.input("x", {2}))}}); });
  CHECK(made.why == "");
  CHECK(made.op.kind == onednn_ops::OpKind::kernel);
  CHECK(made.op.inputs.size() == 1);
  CHECK(find_op("aten.log.default") == nullptr);
  CHECK(onednn_ops::runs_as_kernel("aten.log.default"));
  CHECK_FALSE(onednn_ops::runs_as_kernel("aten.tanh.default"));
}

TEST_CASE("operators without a row run on portable's kernels, except products and views") {
  const auto sum = drafted([](Net& n) {
    const auto x = n.input("x", {2});
    return n.op("aten.add.Tensor", "y", {2}, {{"self", n.v(x)}, {"other", n.v(x)}, {"alpha", n.i(2)}});
  });
  CHECK(sum.why == "alpha is not 1");
  CHECK(sum.op.kind == onednn_ops::OpKind::kernel);
  const auto product = drafted([](Net& n) {
    const auto x = n.input("x", {2, 2});
    return n.op("aten.addmm.default", "y", {2, 2},
                {{"self", n.v(x)}, {"mat1", n.v(x)}, {"mat2", n.v(x)}, {"beta", n.i(2)}});
  });
  CHECK(product.why == "alpha or beta is not 1");
  const auto integers = drafted([](Net& n) {
    const auto x = n.input("x", {2, 3});
    const auto y = n.op("aten.permute.default", "y", {3, 2}, {{"self", n.v(x)}, {"dims", n.ints({1, 0})}});
    for (const auto v : {x, y}) n.draft.b.module().values[v].dtype = ScalarType::int64;
    return y;
  });
  CHECK(integers.why == "a tensor is neither float32, bfloat16 nor float16");
}

TEST_CASE("tensors that no operator may have") {
  support::Draft effect;
  const ValueId token = effect.token("token");
  const auto [next, sum] = effect.effect("next", "sum", token, effect.user("x", {2}), 1.0);
  effect.output(sum);
  effect.output_token(next);
  CHECK(described(effect.finish()).why == "the operator has an effect");

  support::Draft known;
  const ValueId x = known.user("x", {2});
  const ValueId made = known.new_token("made");
  const ValueId y = known.like(x, "y");
  known.with_effects("aten.relu.default", known.token("token"), {GraphBuilder::value(x)}, made, y);
  CHECK(described(known.finish()).why == "the operator has an effect");

  support::Draft none;
  const Argument self[] = {GraphBuilder::value(none.user("x", {2}))};
  none.b.node("aten.relu.default", self, {});
  CHECK(described(none.finish()).why == "it has no output");

  support::Draft number;
  const Argument operand[] = {GraphBuilder::value(number.user("x", {2}))};
  const Argument literal[] = {GraphBuilder::integer(1)};
  number.b.node("aten.relu.default", operand, literal);
  CHECK(described(number.finish()).why == "its output is no tensor");
}

TEST_CASE("operators of any dtype take no complex numbers: portable's kernels of that name do not") {
  const auto with = [](ScalarType dtype) {
    return drafted([&](Net& n) {
      const auto x = n.input("x", {2}), mask = n.input("mask", {2});
      const auto y = n.op("aten.where.self", "y", {2}, {{"condition", n.v(mask)}, {"self", n.v(x)}, {"other", n.v(x)}});
      for (const auto v : {x, y}) n.draft.b.module().values[v].dtype = dtype;
      n.draft.b.module().values[mask].dtype = ScalarType::bool_;
      return y;
    });
  };
  CHECK(with(ScalarType::int64).why == "");
  CHECK(with(ScalarType::complex64).why == "the library has no such operator");
}

TEST_CASE("an operation keeps its row's name, its node and its output") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto a = n.relu("a", x, {2, 3});
  const auto y = n.op("aten.neg.default", "y", {2, 3}, {{"self", n.v(a)}});
  const auto made = described(n.finish({y}));
  CHECK(made.why == "");
  CHECK(made.op.name == "aten.neg.default");
  CHECK(made.op.node == 1);
  CHECK(made.op.inputs == std::vector{a});
  CHECK(made.op.outputs == std::vector{y});
}
