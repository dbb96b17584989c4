// SPDX-License-Identifier: MIT
#include "davit/program/verify_operators.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../programs.hpp"
#include "program/only_violation.hpp"

using namespace davit;

namespace {

constexpr auto f32 = ScalarType::float32;

constexpr bool check_operators() {
  const auto with = [](std::string_view target) { return programs::binary(target); };
  const VerifyOptions open{.allow_unknown_operators = true};
  return only(with("aten.nosuch.default"), "node 0 'result' (aten.nosuch.default)",
              "'aten.nosuch.default' is not an operator davit knows") &&
         verify(with("aten.nosuch.default"), open).empty() && verify(with("my.op.default")).empty() &&
         verify(with("quantized_decomposed.quantize_per_tensor.default")).empty() &&
         only(with("add"), "node 0 'result' (add)", "'add' is no operator name", open) &&
         only(with(".add.Tensor"), "node 0 'result' (.add.Tensor)", "'.add.Tensor' is no operator name", open) &&
         only(with("aten.add."), "node 0 'result' (aten.add.)", "'aten.add.' is no operator name", open) &&
         only(with("aten.add"), "node 0 'result' (aten.add)", "'aten.add' has no overload", open) &&
         only(with("_operator.nosuch"), "node 0 'result' (_operator.nosuch)",
              "'_operator.nosuch' is not an operation on symbolic numbers", open) &&
         verify(with("_operator.add")).empty();
}
static_assert(check_operators());

// -- sub-graphs ---------------------------------------------------------------------------------------------------

/// cond whose true graph takes `inputs` values and returns `outputs`.
constexpr ProgramTables conditional(int inputs, int outputs, bool has_graph = true,
                                    std::string_view target = "higher_order.cond") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId p = b.input("p", ScalarType::bool_, {});
  const ValueId x = b.input("x", f32, {});
  const auto branch = [&](std::string_view name, int in, int out) {
    const GraphId id = b.begin_graph(name);
    ValueId last = no_id;
    for (int i = 0; i < in; ++i) last = b.input(concat("a", i), f32, {});
    std::vector<Argument> results;
    for (int i = 0; i < out; ++i) results.push_back(in > 0 ? b.value(last) : b.integer(1));
    b.end_graph(std::span<const Argument>(results));
    return id;
  };
  const GraphId yes = has_graph ? branch("true_graph", inputs, outputs) : no_id;
  const GraphId no = branch("false_graph", 1, 1);
  b.end_graph({b.call(
      target,
      {{"", b.value(p)}, {"", has_graph ? b.subgraph(yes) : b.none()}, {"", b.subgraph(no)}, {"", b.tensors({x})}},
      "cond", f32, {})});
  return programs::user_program(std::move(b).finish());
}
constexpr bool check_arity() {
  constexpr std::string_view place = "node 0 'cond' (higher_order.cond)";
  return verify(conditional(1, 1)).empty() &&
         only(conditional(2, 1), place, "sub-graph 'true_graph' takes 2 values, but the operator passes 1") &&
         only(conditional(1, 2), place, "sub-graph 'true_graph' returns 2 values, but the operator returns 1") &&
         only(conditional(1, 1, false), place, "argument 1 must be a sub-graph") &&
         verify(conditional(1, 1, false, "aten.where.self")).front().what == "it takes no sub-graph";
}
static_assert(check_arity());

constexpr ProgramTables loop(std::size_t results) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId i = b.input("i", ScalarType::int64, {});
  const ValueId x = b.input("x", f32, {});
  const GraphId test = b.begin_graph("cond_graph");
  const ValueId t = b.input("i", ScalarType::bool_, {});
  b.input("x", f32, {});
  b.end_graph({t});
  const GraphId body = b.begin_graph("body_graph");
  const ValueId p = b.input("i", ScalarType::int64, {});
  const ValueId q = b.input("x", f32, {});
  b.end_graph({p, q});
  std::vector<Argument> outputs;
  for (std::size_t k = 0; k < results; ++k) outputs.push_back(b.value(b.tensor(concat("o", k), f32, {})));
  const Argument inputs[] = {b.subgraph(test), b.subgraph(body), b.tensors({i, x}), b.tensors({})};
  b.node("higher_order.while_loop", inputs, outputs);
  b.end_graph(std::span<const Argument>(outputs));
  return programs::user_program(std::move(b).finish());
}
constexpr bool check_while_loop() {
  return verify(loop(2)).empty() &&
         only(loop(1), "node 0 'o0' (higher_order.while_loop)", "it must return one value per carried input");
}
static_assert(check_while_loop());

}  // namespace

TEST_CASE("operators are known, or of a custom namespace, or allowed by option") { CHECK(check_operators()); }
TEST_CASE("sub-graphs have the arity of their operator") {
  CHECK(check_arity());
  CHECK(check_while_loop());
}

// -- calls --------------------------------------------------------------------------------------------------------

TEST_CASE("a call that is not as its operator's schema says is a violation that shows the schema") {
  const auto call = [](std::string_view target, std::string_view first, std::string_view second) {
    GraphBuilder b;
    b.begin_graph();
    const ValueId x = b.input("x", f32, {2});
    const ValueId y = b.input("y", f32, {2});
    b.end_graph({b.call(target, {{first, b.value(x)}, {second, b.value(y)}}, "z", f32, {2})});
    return programs::user_program(std::move(b).finish());
  };
  CHECK(verify(call("aten.mul.Tensor", "self", "other")).empty());
  CHECK(verify(call("aten.mul.Tensor", "other", "self")).empty());  // PyTorch takes names in any order
  CHECK(verify(call("my.mul.default", "a", "b")).empty());
  CHECK(verify(call("aten.nosuch.default", "a", "b"), {.allow_unknown_operators = true}).empty());
  CHECK(only(call("aten.mul.Tensor", "self", "factor"), "node 0 'z' (aten.mul.Tensor)",
             "no parameter is called 'factor'; the operator is aten.mul.Tensor(Tensor self, Tensor other) -> Tensor"));
  CHECK(only(call("aten.exp.default", "self", "self"), "node 0 'z' (aten.exp.default)",
             "'self' is given twice; the operator is aten.exp.default(Tensor self) -> Tensor"));
  CHECK(verify(call("aten.mul.Tensor", "self", "factor"), {.calls = false}).empty());
}
