// SPDX-License-Identifier: MIT
#include "davit/lowering/detail/pattern.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <string_view>

#include "davit/program/graph_builder.hpp"
#include "support/draft.hpp"

using namespace davit;

namespace {

std::string mistake_in(std::string_view pattern) {
  const PatternRow row{.pattern = pattern};
  const char* const mistake = detail::parse_pattern(row).mistake;
  return mistake == nullptr ? "" : mistake;
}
/// True if a pattern fits the last node of a program; every value has one use and is no output, and is a constant if it
/// is named w.
bool fits(const ExportedProgram& program, std::string_view text) {
  const PatternRow row{.pattern = text};
  const detail::Pattern pattern = detail::parse_pattern(row);
  REQUIRE(pattern.mistake == nullptr);
  const GraphModuleView graph = program.view();
  const auto yes = [](const void*, ValueId) { return true; };
  detail::PatternMatch match(graph, {.self = nullptr,
                                     .first = 0,
                                     .used_once = yes,
                                     .is_constant = [](const void*, ValueId) { return false; },
                                     .is_hidden = yes,
                                     .is_unused = yes});
  const Node& last = graph.nodes.back();
  REQUIRE(graph.target(last) == pattern.target());
  return match.fits(pattern, graph.inputs(last), graph.outputs(last));
}
ExportedProgram product(support::Operand factor, bool swapped = false) {
  support::Draft draft;
  const ValueId x = draft.user("x", {2, 3});
  const ValueId y = draft.op("aten.exp.default", "y", x);
  if (swapped)
    draft.output(draft.op("aten.mul.Tensor", "z", y, {x}));
  else if (factor.argument.is_value())
    draft.output(draft.op("aten.mul.Tensor", "z", x, {y}));
  else
    draft.output(draft.op("aten.mul.Tensor", "z", x, {factor}));
  return draft.finish();
}

}  // namespace

TEST_CASE("a pattern with a mistake says which") {
  CHECK(mistake_in("mul.Tensor(x, sigmoid(x)) => silu(x)") == "");
  CHECK(mistake_in("x => silu(x)") == "a pattern is operator(terms) => call");
  CHECK(mistake_in("mul.Tensor(x, no_operator(x)) => x") == "a pattern names an operator without a schema");
  CHECK(mistake_in("exp(x, 2, 3) => x") == "a pattern passes an argument that the operator does not have");
  CHECK(mistake_in("exp(x") == "a call is not closed");
  CHECK(mistake_in("exp(x) x") == "a pattern has text after its call");
}

TEST_CASE("operands of an operator that commutes fit in both orders, and of others in one") {
  for (const bool swapped : {false, true}) {
    const ExportedProgram program = product(ValueId{0}, swapped);
    CHECK(fits(program, "mul.Tensor(x, exp(x)) => x"));
    CHECK(fits(program, "mul.Tensor(exp(x), x) => x"));
    CHECK_FALSE(fits(program, "mul.Tensor(x, x) => x"));
    CHECK_FALSE(fits(program, "mul.Tensor(x, tanh(x)) => x"));
  }
  support::Draft draft;
  const ValueId x = draft.user("x", {2});
  draft.output(draft.sub("z", draft.op("aten.exp.default", "y", x), x));
  const ExportedProgram program = draft.finish();
  CHECK(fits(program, "sub.Tensor(exp(x), x) => x"));
  CHECK_FALSE(fits(program, "sub.Tensor(x, exp(x)) => x"));
}

TEST_CASE("integers are exact, other numbers within a millionth") {
  CHECK(fits(product(2.0), "mul.Tensor(x, 2) => x"));
  CHECK_FALSE(fits(product(2.0000001), "mul.Tensor(x, 2) => x"));
  CHECK(fits(product(0.70710678), "mul.Tensor(x, 0.7071067811865476) => x"));
  CHECK_FALSE(fits(product(0.7072), "mul.Tensor(x, 0.7071067811865476) => x"));
  CHECK(fits(product(7.0), "mul.Tensor(x, #n) => x if n > 6 && n != 8"));
  CHECK_FALSE(fits(product(7.0), "mul.Tensor(x, #n) => x if n > 7"));
  CHECK_FALSE(fits(product(ValueId{0}), "mul.Tensor(x, #n) => x"));
}

TEST_CASE("an optional operator may be missing, and arguments that are not named must be their defaults") {
  CHECK(fits(product(ValueId{0}), "mul.Tensor(x, exp(mul.Tensor?(x, #n=1))) => x if n == 1"));
  for (const std::int64_t alpha : {1, 2}) {
    support::Draft draft;
    const ValueId x = draft.user("x", {2, 3});
    Argument inputs[] = {GraphBuilder::value(x), GraphBuilder::value(x), GraphBuilder::integer(alpha)};
    inputs[2].name = draft.b.text("alpha");
    const ValueId out = draft.like(x, "y");
    const Argument output = GraphBuilder::value(out);
    draft.b.node("aten.add.Tensor", inputs, {&output, 1}, draft.metadata);
    draft.output(out);
    const ExportedProgram program = draft.finish();
    CHECK(fits(program, "add.Tensor(x, x)") == (alpha == 1));
    CHECK(fits(program, "add.Tensor(x, x, ...)"));
  }
}

TEST_CASE("conditions compare sizes, ranks and dtypes") {
  const ExportedProgram program = product(2.0);
  CHECK(fits(program, "mul.Tensor(x, 2) => x if same(x, out) && rank(x) == 2 && rank(x) > 1 && floating(x)"));
  CHECK(fits(program, "mul.Tensor(x, 2) => x if fixed(out) && dtype(x) == dtype(out) && hidden(out) && tensor(x)"));
  CHECK_FALSE(fits(program, "mul.Tensor(x, 2) => x if vector(x, out)"));
  CHECK_FALSE(fits(program, "mul.Tensor(x, 2) => x if constant(x)"));
  CHECK_FALSE(fits(program, "mul.Tensor(x, 2) => x if rank(y) == 2"));
  CHECK_FALSE(fits(program, "mul.Tensor(x, 2) => x if unknown(x)"));
}
