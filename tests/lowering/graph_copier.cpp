// SPDX-License-Identifier: MIT
#include "davit/lowering/graph_copier.hpp"

#include <doctest/doctest.h>

#include <span>
#include <utility>
#include <vector>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;

TEST_CASE("a module of some of a graph's nodes: values are copied once, and anew into the next module") {
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId a = d.add("a", x, 1.0);
  const ValueId product = d.mul("m", a, a);
  d.output(product);
  const ExportedProgram program = d.finish();
  GraphCopier copier(program.view());
  for (int module = 0; module < 2; ++module) {
    copier.begin();
    CHECK(!copier.is_copied(a));
    copier.builder.begin_graph("part");
    copier.builder.input(GraphBuilder::value(copier.copy_value(a)));
    CHECK(copier.is_copied(a));
    CHECK(copier.value(a) == copier.new_value(a));
    copier.node(1);
    const Argument outputs[] = {GraphBuilder::value(copier.value(product))};
    copier.builder.end_graph(std::span<const Argument>(outputs));
    const auto made = std::exchange(copier.builder, {}).finish();
    const GraphModuleView graph = made.view();
    REQUIRE(graph.nodes.size() == 1);
    CHECK(graph.target(graph.nodes[0]) == "aten.mul.Tensor");
    CHECK(graph.values.size() == 2);
    CHECK(graph.name(graph.inputs(graph.nodes[0])[0].value()) == "a");
    CHECK(!copier.is_copied(x));
  }
}

TEST_CASE("an expression of any depth is copied, its operands first and once") {
  constexpr std::uint32_t terms = 300'000;  // as Add(1, 1, ...) is read
  GraphModule deep;
  deep.text = {'n'};
  deep.exprs.push_back({.op = ExprOp::symbol, .name = {0, 1}});
  for (std::uint32_t i = 0; i < terms; ++i) deep.exprs.push_back({.op = ExprOp::add, .a = i, .b = 0});
  deep.dims.push_back({.value = 4, .expr = terms});
  deep.values.push_back({.name = {0, 1}, .graph = 0, .sizes = {0, 1}});
  deep.graphs.push_back({});
  GraphCopier copier(deep.view());
  copier.begin();
  copier.builder.begin_graph("part");
  (void)copier.copy_value(0);
  CHECK(copier.builder.module().exprs.size() == terms + 1);
  CHECK(copier.builder.module().exprs.back().b == 0);
  CHECK(copier.used_symbols == std::vector<ExprId>{0});
}

TEST_CASE("all metadata of a node is copied, also custom metadata and the list of merged nodes") {
  Draft d;
  d.metadata = d.b.metadata("other trace");
  d.metadata = d.b.metadata("trace", "stack", "source", "torch", "{\"quantize\": 1}", d.metadata);
  d.output(d.neg("n", d.user("x")));
  const ExportedProgram program = d.finish();
  GraphCopier copier(program.view());
  copier.begin();
  const std::uint32_t row = copier.metadata(1);
  const GraphModuleView made = copier.builder.module().view();
  REQUIRE(made.metadata.size() == 2);
  CHECK(made.str(made.metadata[row].torch_fn) == "torch");
  CHECK(made.str(made.metadata[row].custom) == "{\"quantize\": 1}");
  REQUIRE(made.metadata[row].merged == 0);
  CHECK(made.str(made.metadata[0].stack_trace) == "other trace");
}
