// SPDX-License-Identifier: MIT
#include "davit/lowering/graph_emitter.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "../programs.hpp"

using namespace davit;

TEST_CASE("numbers of sizes are folded, symbols become expressions, and overflow is a fault") {
  GraphEmitter emit(programs::identity({2}).graph_module);
  const Dim s{5, emit.module().exprs.empty() ? ExprId{0} : ExprId{0}};
  emit.module().exprs.push_back({.op = ExprOp::symbol});
  CHECK(emit.arithmetic(ExprOp::floor_div, {-7}, {2}).value == -4);
  CHECK(emit.arithmetic(ExprOp::python_mod, {-7}, {2}).value == 1);
  CHECK(emit.arithmetic(ExprOp::mul, s, {1}).expr == s.expr);
  CHECK(emit.arithmetic(ExprOp::mul, s, {0}).is_static());
  const Dim sum = emit.arithmetic(ExprOp::add, s, {2});
  CHECK(sum.value == 7);
  CHECK(emit.module().exprs[sum.expr].op == ExprOp::add);
  CHECK(emit.fault == nullptr);
  (void)emit.arithmetic(ExprOp::mul, {std::numeric_limits<std::int64_t>::max()}, {2});
  CHECK(emit.fault != nullptr);
  emit.fault = nullptr;
  (void)emit.arithmetic(ExprOp::floor_div, {3}, {0});
  CHECK(emit.fault != nullptr);
}

TEST_CASE("emitted nodes can be rolled back, and unused nodes are left out") {
  const ExportedProgram program = programs::identity({2});
  GraphEmitter emit(program.graph_module);
  emit.begin(root_graph);
  const Item x = Item::of(program.view().args(program.view().root().inputs)[0]);
  const NamedItem inputs[] = {{"self", x}};
  const TensorMeta like{.dtype = ScalarType::float32, .sizes = {{2}}};
  (void)emit.call("aten.relu.default", inputs, {&like, 1}, false);
  const GraphEmitter::Mark mark = emit.mark();
  (void)emit.call("aten.neg.default", inputs, {&like, 1}, false);
  CHECK(emit.view().nodes.size() == 2);
  emit.roll_back(mark);
  CHECK(emit.view().nodes.size() == 1);
  const GraphModule done = emit.finish();
  CHECK(done.nodes.empty());
  CHECK(done.values.size() == program.view().values.size());
}

TEST_CASE("a size is read once in a graph, unless its node was rolled back") {
  const ExportedProgram program = programs::identity({2});
  GraphEmitter emit(program.graph_module);
  emit.begin(root_graph);
  const Item x = Item::of(program.view().args(program.view().root().inputs)[0]);
  emit.module().exprs.push_back({.op = ExprOp::symbol});
  const Dim size{2, static_cast<ExprId>(emit.module().exprs.size() - 1)};
  const auto ask = [&](std::int64_t d) {
    const NamedItem inputs[] = {{"self", x}, {"dim", Item::integer(d)}};
    return emit.symbolic("aten.sym_size.int", inputs, ValueKind::sym_int, size).value();
  };
  const GraphEmitter::Mark mark = emit.mark();
  const ValueId first = ask(0);
  CHECK(ask(0) == first);
  CHECK(ask(1) != first);
  CHECK(emit.view().nodes.size() == 2);
  emit.roll_back(mark);
  (void)ask(1);
  CHECK(emit.view().nodes.size() == 1);
  const ValueId again = ask(0);
  CHECK(emit.view().nodes.size() == 2);
  emit.module().values[again].constant = 0;  // as in a program without an example of the number
  CHECK(ask(0) == again);
  CHECK(emit.module().values[again].constant == 2);
}
