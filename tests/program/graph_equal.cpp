// SPDX-License-Identifier: MIT
#include "davit/program/graph_equal.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>

#include "../programs.hpp"

using namespace davit;

namespace {

constexpr auto f32 = ScalarType::float32;

/// x + y with one change and with unused rows in the tables.
struct Change {
  std::string_view graph = "";
  std::string_view target = "aten.add.Tensor";
  std::string_view name = "add";
  ScalarType dtype = f32;
  std::int64_t size = 3;
  double alpha = 1;
  bool swapped = false;
  bool has_alpha = true;
  bool twice = false;
  std::string_view symbol = "";
  bool padding = false;
};
constexpr GraphModule build(const Change& c) {
  GraphBuilder b;
  if (c.padding) {
    b.text("unused");
    b.ints({1, 2, 3});
    b.symbol("unused");
  }
  b.begin_graph(c.graph);
  Dim size[] = {{.value = c.size}};
  if (!c.symbol.empty()) size[0].expr = b.expr({.op = ExprOp::mul, .a = b.expr({.value = 2}), .b = b.symbol(c.symbol)});
  const ValueId x = b.declare({.name = b.text("x"), .sizes = b.dims(size), .dtype = c.dtype});
  const ValueId y = b.declare({.name = b.text("y"), .sizes = b.dims(size), .dtype = f32});
  b.input(b.value(x));
  b.input(b.value(y));
  ValueId out = no_id;
  for (int i = 0; i < (c.twice ? 2 : 1); ++i) {
    const Arg self{"self", b.value(c.swapped ? y : x)};
    const Arg other{"other", b.value(c.swapped ? x : y)};
    out = c.has_alpha ? b.call(c.target, {self, other, {"alpha", b.real(c.alpha)}}, i == 0 ? c.name : "again", f32, {3})
                      : b.call(c.target, {self, other}, c.name, f32, {3});
  }
  b.end_graph({c.swapped ? out : out});
  return std::move(b).finish();
}
constexpr Name difference(const Change& a, const Change& b) {
  return first_difference(build(a).view(), build(b).view());
}

constexpr bool check_equal() {
  return difference({}, {}).empty() && difference({}, {.padding = true}).empty() &&
         difference({.symbol = "s0"}, {.symbol = "s0", .padding = true}).empty() &&
         graph_equal(programs::seed_graph().view(), programs::seed_graph().view());
}
static_assert(check_equal());

constexpr bool check_differences() {
  return difference({}, {.graph = "g"}) == "graph '': the other is called 'g'" &&
         difference({}, {.target = "aten.sub.Tensor"}) ==
             "graph '', node 0 (aten.add.Tensor): the other is aten.sub.Tensor" &&
         difference({}, {.name = "sum"}) == "graph '', node 0 (aten.add.Tensor): argument 0 is 'add' and 'sum'" &&
         difference({}, {.dtype = ScalarType::int64}) == "graph '', inputs: 'x' has another dtype" &&
         difference({}, {.size = 4}) == "graph '', inputs: 'x' has another size" &&
         difference({}, {.alpha = 2}) == "graph '', node 0 (aten.add.Tensor): argument 2 is another value" &&
         difference({}, {.swapped = true}) == "graph '', node 0 (aten.add.Tensor): argument 0 is 'x' and 'y'" &&
         difference({}, {.has_alpha = false}) == "graph '', node 0 (aten.add.Tensor): 3 arguments and 2" &&
         difference({}, {.twice = true}) == "graph '': 1 nodes and 2" &&
         difference({.symbol = "s0"}, {.symbol = "s1"}) == "graph '', inputs: 'x' has another size" &&
         difference({.symbol = "s0"}, {}) == "graph '', inputs: 'x' has another size";
}
static_assert(check_differences());

constexpr GraphModule nested(std::string_view inner_target) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {});
  const GraphId inner = b.begin_graph("body");
  const ValueId z = b.input("z", f32, {});
  b.end_graph({b.call(inner_target, {{"self", b.value(z)}}, "e", f32, {})});
  b.end_graph({b.call("higher_order.map_impl", {{"", b.subgraph(inner)}, {"", b.tensors({x})}}, "out", f32, {})});
  return std::move(b).finish();
}
constexpr bool check_subgraphs() {
  return graph_equal(nested("aten.exp.default").view(), nested("aten.exp.default").view()) &&
         first_difference(nested("aten.exp.default").view(), nested("aten.sin.default").view()) ==
             "graph 'body', node 0 (aten.exp.default): the other is aten.sin.default";
}
static_assert(check_subgraphs());

constexpr bool check_metadata() {
  const ProgramTables a = programs::binary("aten.add.Tensor", {}, programs::trace_of_add);
  const ProgramTables b = programs::binary("aten.add.Tensor", {}, programs::trace_of_mul);
  return graph_equal(a.view(), b.view()) && graph_equal(a.view(), a.view(), {.metadata = true}) &&
         first_difference(a.view(), b.view(), {.metadata = true}) ==
             "graph '', node 0 (aten.add.Tensor): another stack trace";
}
static_assert(check_metadata());

}  // namespace

TEST_CASE("equal graphs are equal however their tables are laid out") { CHECK(check_equal()); }
TEST_CASE("the first difference is named with its place") { CHECK(check_differences()); }
TEST_CASE("sub-graphs are compared too") { CHECK(check_subgraphs()); }
TEST_CASE("metadata counts only if asked for") { CHECK(check_metadata()); }
TEST_CASE("shared expressions do not make the comparison exponential") {
  GraphBuilder b;
  ExprId e = b.symbol("s0");
  for (int i = 0; i < 200; ++i) e = b.expr({.op = ExprOp::add, .a = e, .b = e});
  b.begin_graph();
  const Dim size[] = {{.value = 1, .expr = e}};
  const ValueId x = b.declare({.name = b.text("x"), .sizes = b.dims(size), .dtype = f32});
  b.input(b.value(x));
  b.end_graph({x});
  const GraphModule module = std::move(b).finish();
  CHECK(graph_equal(module.view(), module.view()));
}
