// SPDX-License-Identifier: MIT
#include "davit/program/graph_builder.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "../programs.hpp"
#include "davit/program/check_tables.hpp"

using namespace davit;

namespace {

constexpr auto f32 = ScalarType::float32;

constexpr bool check_seed() {
  const GraphModule module = programs::seed_graph();
  const GraphModuleView g = module.view();
  if (g.graphs.size() != 1 || g.nodes.size() != 5 || g.values.size() != 10) return false;
  const std::string_view names[] = {"add", "mul", "mul_1", "add_1", "add_2"};
  for (NodeId id = 0; id < 5; ++id) {
    const ValueId out = g.outputs(g.nodes[id])[0].value();
    if (g.name(out) != names[id] || g.values[out].producer != id || g.values[out].graph != root_graph) return false;
  }
  const Argument* other = g.find_input(g.nodes[4], "other");
  return g.args(g.root().inputs).size() == 5 && g.values[0].producer == no_id && other != nullptr &&
         other->float_value() == 1.0 && g.find_input(g.nodes[4], "alpha") == nullptr &&
         g.target(g.nodes[1]) == "aten.mul.Tensor" && check_tables(g).has_value();
}
static_assert(check_seed());

constexpr bool check_tensor_layout() {
  GraphBuilder b;
  b.begin_graph("g");
  const ValueId x = b.tensor("x", f32, {2, 1, 3});
  const GraphModuleView g = b.module().view();
  const auto strides = g.dims_of(g.values[x].strides);
  return strides.size() == 3 && strides[0].value == 3 && strides[1].value == 3 && strides[2].value == 1 &&
         g.str(g.values[x].device) == "cpu";
}
static_assert(check_tensor_layout());

constexpr bool check_nesting() {  // a sub-graph's nodes come before those of the graph around it
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {});
  const ValueId y = b.call("aten.neg.default", {{"self", b.value(x)}}, "y", f32, {});
  const GraphId inner = b.begin_graph("inner");
  const ValueId z = b.input("z", f32, {});
  b.end_graph({b.call("aten.exp.default", {{"self", b.value(z)}}, "e", f32, {})}, true);
  b.end_graph({b.call("higher_order.map_impl", {{"", b.subgraph(inner)}, {"", b.tensors({y})}}, "out", f32, {})});
  const GraphModule m = std::move(b).finish();
  const GraphModuleView g = m.view();
  return inner == 1 && g.graphs[1].nodes == Range{0, 1} && g.graphs[0].nodes == Range{1, 2} &&
         g.values[y].producer == 1 && g.graphs[1].is_single_tensor_return == 1 && g.nodes[0].graph == 1 &&
         check_tables(g).has_value();
}
static_assert(check_nesting());

constexpr bool check_interning() {
  GraphBuilder b;
  const Text once = b.intern("aten.add.Tensor");
  for (int i = 0; i < 100; ++i) b.intern(concat("text", i));
  return b.intern("aten.add.Tensor") == once && b.intern("text42") == b.intern("text42") && b.intern("") == Text{} &&
         b.symbol("s0") == b.symbol("s0") && b.symbol("s0") != b.symbol("s1");
}
static_assert(check_interning());

constexpr bool check_arguments() {
  GraphBuilder b;
  const Argument ints = b.ints({1, 2});
  const Argument text = b.string("cpu", ArgumentKind::device);
  const Argument empty = b.list({}, ArgumentKind::float_);
  b.begin_graph();
  const ValueId x = b.tensor("x", f32, {});
  const Argument list = b.tensors({x, x});
  const GraphModuleView g = b.module().view();
  int sum = 0;
  g.for_each_value(list, [&](ValueId) { ++sum; });
  return ints.is_list() && g.args(ints.items)[1].payload == 2 && g.string(text) == "cpu" &&
         empty.element == ArgumentKind::float_ && sum == 2 && b.real(-0.5).float_value() == -0.5 &&
         b.boolean(true).payload == 1 && b.scalar_type(f32).kind == ArgumentKind::scalar_type &&
         b.none().kind == ArgumentKind::none;
}
static_assert(check_arguments());

}  // namespace

TEST_CASE("the example of torch's documentation is built in constant evaluation") { CHECK(check_seed()); }
TEST_CASE("tensors are contiguous, and dimensions of one element take no step") { CHECK(check_tensor_layout()); }
TEST_CASE("sub-graphs are built while the outer graph is open") { CHECK(check_nesting()); }
TEST_CASE("texts and symbols are kept once") { CHECK(check_interning()); }
TEST_CASE("arguments of every kind") { CHECK(check_arguments()); }
