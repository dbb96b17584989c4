// SPDX-License-Identifier: MIT
#include "davit/program/call_schema.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/ops/operators.hpp"
#include "davit/program/graph_builder.hpp"

using namespace davit;

namespace {

using Named = std::pair<std::string_view, Argument>;

/// The error of an operator's call, empty if there is none; x is a tensor of [2, 3], s a symbolic int.
constexpr Name mismatch(std::string_view target, std::initializer_list<Named> arguments, bool takes_number = false) {
  GraphBuilder b;
  b.begin_graph();
  (void)b.input("x", ScalarType::float32, {2, 3});
  (void)b.input(GraphBuilder::value(b.declare({.name = b.text("s"), .kind = ValueKind::sym_int})));
  std::vector<Argument> inputs;
  for (const auto& [name, argument] : arguments) {
    inputs.push_back(argument);
    inputs.back().name = b.text(name);
  }
  if (inputs.size() > 1 && inputs[1].is_list()) {  // [1, 2] in this graph's table
    const Argument name = inputs[1];
    inputs[1] = b.ints({1, 2});
    inputs[1].name = name.name;
  }
  b.end_graph({});
  return call_mismatch(b.module().view(), inputs, parse_schema(find_operator(target)), takes_number);
}
constexpr Argument x() { return GraphBuilder::value(0); }
constexpr Argument s() { return GraphBuilder::value(1); }
constexpr Argument i(std::int64_t n) { return GraphBuilder::integer(n); }
constexpr Argument list() { return {.kind = ArgumentKind::list}; }

constexpr bool check_legal_calls() {
  return mismatch("aten.transpose.int", {{"self", x()}, {"dim0", i(0)}, {"dim1", i(1)}}).empty() &&
         mismatch("aten.transpose.int", {{"", x()}, {"", i(0)}, {"", i(1)}}).empty() &&
         mismatch("aten.transpose.int", {{"dim0", i(0)}, {"self", x()}, {"dim1", i(1)}}).empty() &&
         mismatch("aten.permute.default", {{"self", x()}, {"dims", list()}}).empty() &&
         mismatch("aten.view.default", {{"self", x()}, {"size", s()}}).empty() &&
         mismatch("aten.add.Tensor", {{"self", x()}, {"other", i(2)}}, true).empty() &&
         mismatch("aten.linear.default", {{"input", x()}, {"weight", x()}, {"bias", Argument{}}}).empty() &&
         mismatch("aten.gelu.default", {{"self", x()}}).empty();
}
static_assert(check_legal_calls());

bool check_wrong_calls() {
  return mismatch("aten.transpose.int", {{"self", x()}, {"dim0", i(0)}}) == "'dim1' is missing" &&
         mismatch("aten.transpose.int", {{"self", x()}, {"dim0", x()}, {"dim1", i(1)}}) ==
             "'dim0' must be of type int, not a tensor" &&
         mismatch("aten.transpose.int", {{"self", x()}, {"dim0", i(0)}, {"dim1", i(1)}, {"dim2", i(1)}}) ==
             "no parameter is called 'dim2'" &&
         mismatch("aten.exp.default", {{"", x()}, {"", x()}}) == "more arguments than the operator takes" &&
         mismatch("aten.exp.default", {{"self", x()}, {"self", x()}}) == "'self' is given twice" &&
         mismatch("aten.exp.default", {{"self", i(1)}}) == "'self' must be of type Tensor, not a number" &&
         mismatch("aten.exp.default", {{"self", s()}}) == "'self' must be of type Tensor, not a symbolic number" &&
         mismatch("aten.exp.default", {{"self", Argument{}}}) == "'self' must be of type Tensor, not None" &&
         mismatch("aten.add.Tensor", {{"self", x()}, {"other", i(2)}}) ==
             "'other' must be of type Tensor, not a number" &&
         mismatch("aten.where.self", {{"condition", x()}, {"self", list()}, {"other", x()}}) ==
             "'self' must be of type Tensor, not a list";
}

}  // namespace

TEST_CASE("calls that PyTorch takes are as their schemas say: arguments by place or by name, in any order") {
  CHECK(check_legal_calls());
}

TEST_CASE("a call that violates its schema is reported with the argument and the type") { CHECK(check_wrong_calls()); }
