// SPDX-License-Identifier: MIT
#include "davit/lowering/functionalize.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/in_place_writes.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using support::Draft;
using Floats = std::vector<float>;

namespace {

/// The program `a = x + 1; y = target(a, others); y.add_(10); return a`, where y has `sizes` and x has `of`; if
/// requested, with a write that keeps it from being functionalized.
ExportedProgram written(std::string_view target, support::Sizes sizes, std::initializer_list<Argument> others,
                        support::Sizes of, bool functional) {
  Draft d;
  const ValueId x = d.user("x", of);
  const ValueId a = d.add("a", x, 1.0);
  std::vector<Argument> inputs{d.b.value(a)};
  inputs.insert(inputs.end(), others.begin(), others.end());
  const ValueId y = d.b.tensor("y", ScalarType::float32, sizes);
  const Argument outputs[] = {d.b.value(y)};
  if (!functional) {
    const ValueId strided = d.b.tensor("strided", ScalarType::float32, {1});
    d.node("aten.as_strided.default", {d.b.value(a), d.b.ints({1}), d.b.ints({1})}, {strided});
    d.op("aten.add_.Tensor", "strided_", strided, {0.0});
  }
  d.b.node(target, inputs, outputs);
  d.op("aten.add_.Tensor", "add_", y, {10.0});
  d.output(a);
  return d.finish();
}
Floats run(const ExportedProgram& program, const Tensor& x) {
  auto lowered = to_backend<portable>(program);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  Session session = *Session::make(*lowered);
  const auto out = session.run("forward", x);
  REQUIRE_MESSAGE(out, (out ? std::string() : to_string(out.error())));
  return support::elements(out->all()[0]);
}
void check_view(std::string_view target, support::Sizes sizes, std::initializer_list<Argument> others = {},
                const Floats& wanted = {12, 13}, support::Sizes of = {2}) {
  for (const bool functional : {true, false}) {
    CAPTURE(target);
    CAPTURE(functional);
    CHECK(run(written(target, sizes, others, of, functional), programs::tensor(of, {1, 2})) == wanted);
  }
}

}  // namespace

TEST_CASE("a write through a node that returns its argument, or a view of it, reaches the argument") {
  const auto flag = [](bool b) { return GraphBuilder::boolean(b); };
  const auto real = [](double x) { return GraphBuilder::real(x); };
  for (const std::string_view target : {"aten.dropout.default", "aten.feature_dropout.default",
                                        "aten.alpha_dropout.default", "aten.feature_alpha_dropout.default"}) {
    check_view(target, {2}, {real(0.5), flag(false)});
    check_view(target, {2}, {real(0), flag(true)});
  }
  for (const std::string_view target :
       {"aten.positive.default", "aten.lift.default", "aten.data.default", "aten.pin_memory.default",
        "aten.conj.default", "aten.resolve_conj.default", "aten.resolve_neg.default", "aten.conj_physical.default",
        "aten._cast_Float.default", "aten.atleast_1d.default", "aten.real.default"})
    check_view(target, {2});
  check_view("aten.atleast_2d.default", {1, 2});
  check_view("aten.atleast_3d.default", {1, 2, 1});
  for (const std::string_view target : {"aten.mH.default", "aten.matrix_H.default", "aten.adjoint.default"})
    check_view(target, {2, 1}, {}, {12, 13}, {1, 2});
  check_view("aten.narrow.default", {1}, {GraphBuilder::integer(0), GraphBuilder::integer(1), GraphBuilder::integer(1)},
             {2, 13});
  check_view("aten.linalg_diagonal.default", {1}, {}, {12, 3}, {1, 2});
}

TEST_CASE("copies whose parts are views stay copies in a program that writes in place") {
  check_view("aten.channel_shuffle.default", {1, 2, 1}, {GraphBuilder::integer(1)}, {2, 3}, {1, 2, 1});
  check_view("aten.repeat_interleave.self_int", {2}, {GraphBuilder::integer(1), GraphBuilder::integer(0)}, {2, 3});
  check_view("aten.diff.default", {2}, {GraphBuilder::integer(0)}, {2, 3});
}

TEST_CASE("lists, equations and sizes: views of their items") {
  for (const bool functional : {true, false}) {
    CAPTURE(functional);
    Draft d;
    const ValueId x = d.user("x", {2, 2});
    const ValueId a = d.add("a", x, 0.0);
    if (!functional) {
      const ValueId strided = d.b.tensor("strided", ScalarType::float32, {1});
      d.node("aten.as_strided.default", {d.b.value(a), d.b.ints({1}), d.b.ints({1})}, {strided});
      d.op("aten.add_.Tensor", "strided_", strided, {0.0});
    }
    const ValueId turned = d.like(a, "turned");
    d.node("aten.einsum.default", {d.b.string("ij->ji"), d.b.tensors({a})}, {turned});
    const ValueId row = d.b.tensor("row", ScalarType::float32, {2});
    d.node("aten.select.int", {d.b.value(turned), d.b.integer(0), d.b.integer(1)}, {row});
    d.op("aten.add_.Tensor", "add_", row, {10.0});
    const ValueId first = d.b.tensor("first", ScalarType::float32, {2, 1}),
                  second = d.b.tensor("second", ScalarType::float32, {2, 1});
    const Argument halves[] = {d.b.tensors({first, second})};
    const Argument parts[] = {d.b.value(a), d.b.integer(2)};
    d.b.node("aten.hsplit.int", parts, halves);
    d.op("aten.mul_.Tensor", "mul_", first, {-1.0});
    const ValueId same = d.like(a, "same"), one = d.b.tensor("one", ScalarType::float32, {2, 2});
    const Argument both[] = {d.b.tensors({same, one})};
    const Argument given[] = {d.b.tensors({a, d.relu("r", x)})};
    d.b.node("aten.broadcast_tensors.default", given, both);
    d.op("aten.mul_.Tensor", "mul__1", same, {2.0});
    const ValueId sized = d.like(a, "sized");
    d.node("aten.sum_to_size.default", {d.b.value(a), d.b.ints({2, 2})}, {sized});
    d.op("aten.add_.Tensor", "add__1", sized, {1.0});
    d.output(a);
    CHECK(run(d.finish(), programs::tensor({2, 2}, {1, 2, 3, 4})) == Floats{-1, 25, -5, 29});
  }
}

TEST_CASE("einsum of several tensors returns a new value") {
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId y = d.like(x, "y");
  d.node("aten.einsum.default", {d.b.string("i,i->i"), d.b.tensors({x, x})}, {y});
  d.op("aten.add_.Tensor", "add_", x, {1.0});
  d.output(y);
  const ExportedProgram program = d.finish();
  const std::optional<ExportedProgram> made = functionalize(program);
  REQUIRE(made);
  CHECK(!writes_in_place(made->view()));
  CHECK(run(program, programs::tensor({2}, {2, 3})) == Floats{4, 9});
}

TEST_CASE("a view that a wrapped graph makes is a view of the graph's operand") {
  Draft d;
  const ValueId x = d.user("x", {2});
  const GraphId inner = d.branch("inner", 1,
                                 [&](std::span<const ValueId> in) {
                                   const ValueId flat = d.b.tensor("flat", ScalarType::float32, {2, 1});
                                   d.node("aten.view.default", {d.b.value(in[0]), d.b.ints({2, 1})}, {flat});
                                   return flat;
                                 },
                                 {2});
  const ValueId y = d.b.tensor("y", ScalarType::float32, {2, 1});
  d.node("higher_order.wrap_with_set_grad_enabled", {d.b.boolean(false), d.b.subgraph(inner), d.b.value(x)}, {y});
  d.op("aten.add_.Tensor", "add_", y, {1.0});
  d.output(x);
  const ExportedProgram program = d.finish();
  CHECK(inputs_written_in_place(program.view()) == std::vector<std::uint8_t>{1});
  const std::optional<ExportedProgram> made = functionalize(program);
  REQUIRE(made);
  CHECK(!writes_in_place(made->view()));
  const Tensor x0 = programs::tensor({2}, {2, 3});
  CHECK(run(program, x0) == Floats{3, 4});
  CHECK(support::elements(x0.view()) == Floats{3, 4});
}

TEST_CASE(
    "a write through conj of a complex tensor reaches it; where it cannot be written as a value, it is an error") {
  for (const bool functional : {true, false}) {
    Draft d;
    const ValueId x = d.user("x", {2});
    const ValueId z = d.like(x, "z", ScalarType::complex64), c = d.like(x, "c", ScalarType::complex64);
    d.node("aten.complex.default", {d.b.value(x), d.b.value(x)}, {z});
    d.node("aten._conj.default", {d.b.value(z)}, {c});
    if (!functional) {
      const ValueId strided = d.b.tensor("strided", ScalarType::complex64, {1});
      d.node("aten.as_strided.default", {d.b.value(z), d.b.ints({1}), d.b.ints({1})}, {strided});
      d.op("aten.mul_.Tensor", "strided_", strided, {strided}, ScalarType::complex64);
    }
    d.op("aten.mul_.Tensor", "mul_", c, {c}, ScalarType::complex64);
    const ValueId pairs = d.b.tensor("pairs", ScalarType::float32, {2, 2});
    d.node("aten.view_as_real.default", {d.b.value(z)}, {pairs});
    d.output(pairs);
    const ExportedProgram program = d.finish();
    if (functional) CHECK(run(program, programs::tensor({2}, {1, 2})) == Floats{0, 2, 0, 8});
    if (!functional) CHECK(to_backend<portable>(program).error().code == ErrorCode::unsupported_operator);
  }
}

TEST_CASE("an out= form with an unknown result dtype stays") {
  Draft d;
  const ValueId x = d.user("x", {2}), n = d.like(x, "n", ScalarType::int32);
  d.node("aten._to_copy.default", {d.b.value(x), d.b.scalar_type(ScalarType::int32)}, {n});
  const ValueId z = d.like(x, "z", ScalarType::float64);
  d.node("aten.empty.memory_format", {d.b.ints({2})}, {z});
  Argument out = d.b.value(z);
  out.name = d.b.text("out");
  const ValueId p = d.like(x, "p", ScalarType::float64);
  d.node("aten.erfinv.out", {d.b.value(n), out}, {p});
  d.output(p);
  CHECK(writes_in_place(functionalize(d.finish())->view()));
}

TEST_CASE("in-place operators of Python and out= forms with names of their own are written as values") {
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId m = d.gt("m", x, 0.0), n = d.gt("n", x, 2.0);
  d.op("aten.__iand__.Tensor", "iand", m, {n}, ScalarType::bool_);
  const ValueId z = d.like(x, "z");
  d.node("aten.empty.memory_format", {d.b.ints({2})}, {z});
  Argument out = d.b.value(z);
  out.name = d.b.text("out");
  const ValueId p = d.like(x, "p");
  d.node("aten.pow.Tensor_Scalar_out", {d.b.value(x), d.b.integer(2), out}, {p});
  const ValueId chosen = d.like(x, "chosen");
  d.node("aten.where.self", {d.b.value(m), d.b.value(z), d.b.value(x)}, {chosen});
  d.output(chosen);
  const ExportedProgram program = d.finish();
  const std::optional<ExportedProgram> made = functionalize(program);
  REQUIRE(made);
  CHECK(!writes_in_place(made->view()));
  CHECK(run(program, programs::tensor({2}, {2, 3})) == Floats{2, 9});
}

TEST_CASE("a write through a reshape that is a view is left by run_decompositions") {
  for (const bool view : {true, false}) {
    CAPTURE(view);
    Draft d;
    const ValueId x = d.user("x", {4, 2});
    const ValueId y = d.add("y", x, 0.0);
    const auto strided = [&](const char* name, support::Sizes sizes, std::initializer_list<std::int64_t> strides) {
      const ValueId v = d.b.tensor(name, ScalarType::float32, sizes);
      std::vector<Dim> dims;
      for (const std::int64_t s : strides) dims.push_back({s});
      const Range range = d.b.dims(dims);
      d.b.module().values[v].strides = range;
      return v;
    };
    d.b.module().values[y].strides = d.b.module().values[strided("of_y", {4, 2}, {2, 1})].strides;
    const ValueId turned = strided("turned", {2, 4}, {1, 2});
    d.node("aten.t.default", {d.b.value(y)}, {turned});
    const ValueId rows = view ? strided("rows", {2, 2, 2}, {1, 4, 2}) : strided("rows", {8}, {1});
    d.node("aten.reshape.default", {d.b.value(turned), view ? d.b.ints({2, 2, 2}) : d.b.ints({8})}, {rows});
    d.op("aten.mul_.Tensor", "mul_", rows, {2.0});
    d.output(y);
    const ExportedProgram program = run_decompositions(d.finish());
    CHECK(run(program, programs::tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})) ==
          (view ? Floats{2, 4, 6, 8, 10, 12, 14, 16} : Floats{1, 2, 3, 4, 5, 6, 7, 8}));
  }
}
