// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/specialize.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "support/draft.hpp"

using namespace davit;

namespace {

/// x of s0 elements, its size, y = x.view(size).
[[nodiscard]] ProgramBody sized_body() {
  support::Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x", s0);
  const ValueId size = d.b.declare({.name = d.b.text("size"), .constant = 4, .expr = s0, .kind = ValueKind::sym_int});
  const Argument of[] = {GraphBuilder::value(x), GraphBuilder::integer(0)};
  const Argument number = GraphBuilder::value(size);
  d.b.node("aten.sym_size.int", of, {&number, 1}, d.metadata);
  const ValueId y = d.sized("y", s0);
  const Argument to[] = {GraphBuilder::value(x), d.b.list({&number, 1}, ArgumentKind::value)};
  const Argument out = GraphBuilder::value(y);
  d.b.node("aten.view.default", to, {&out, 1}, d.metadata);
  d.output(y);
  ProgramBody body;
  body.graph = d.finish().graph_module;
  body.roles = {InputRole::user};
  body.handles.resize(2);
  return body;
}
[[nodiscard]] Tensor of_size(std::int64_t n) {
  return Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{n});
}

}  // namespace

TEST_CASE("symbols become numbers: sizes and arguments") {
  const ProgramBody body = sized_body();
  CHECK(onednn_ops::has_symbols(body.graph.view()));
  CHECK(onednn_ops::makes_numbers(body.graph.view(), body.graph.nodes[0]));
  CHECK(!onednn_ops::makes_numbers(body.graph.view(), body.graph.nodes[1]));
  const Tensor seven = of_size(7);
  const EValue input(seven.view());
  const auto made = onednn_ops::specialize(body, {&input, 1});
  REQUIRE(made != nullptr);
  const GraphModuleView graph = made->graph.view();
  for (const Dim& dim : graph.dims) CHECK(dim.is_static());
  const Argument& list = graph.inputs(graph.nodes[1])[1];
  CHECK(graph.args(list.items)[0].kind == ArgumentKind::int_);
  CHECK(graph.args(list.items)[0].payload == 7);
}

TEST_CASE("inputs that do not tell the sizes") {
  const ProgramBody body = sized_body();
  const EValue number(std::int64_t{3});
  CHECK(onednn_ops::specialize(body, {&number, 1}) == nullptr);
  CHECK(onednn_ops::specialize(body, {}) == nullptr);
}

TEST_CASE("a node as it is for the examples of its symbols") {
  const ProgramBody body = sized_body();
  const onednn_ops::ExampleNode node(body.graph.view(), 1);
  CHECK(node.knows_uses());
  const Argument& list = node.view().inputs(node.view().nodes[node.node()])[1];
  CHECK(node.view().args(list.items)[0].payload == 4);
}
