// SPDX-License-Identifier: MIT
#include "davit/lowered/check_schedule.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "../support/toy_backend.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::A, support::Draft, support::Toys, support::Two;

namespace {

/// The error of check_schedule for a lowered method after a change to it; empty if there is none.
template <class Change>
Name complaint(const ExportedProgram& program, Change&& change) {
  const Toys toys;
  A::state.refused = "mul";
  const auto lowered = to_backend(program, CapabilityPartitioner<Two>());
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  LoweredMethod method = lowered->methods()[0];
  change(method);
  std::vector<const MethodInterface*> interfaces;
  for (const LoweredDelegate& entry : method.delegates) interfaces.push_back(&entry.interface);
  const auto schedule = make_schedule(method.parent, method.interface, interfaces);
  if (!schedule) return concat("no schedule: ", schedule.error().what);
  const auto checked = check_schedule(method.parent, method.interface, interfaces, *schedule, Stage::load);
  if (checked) return {};
  CHECK(checked.error().code == ErrorCode::corrupt_data);
  return checked.error().where;
}
Value& value_named(LoweredMethod& method, std::string_view name) {
  const GraphModuleView graph = method.parent.view();
  for (ValueId v = 0; v < graph.values.size(); ++v)
    if (graph.name(v) == name) return method.parent.graph_module.values[v];
  FAIL("no value " << name);
  return method.parent.graph_module.values[0];
}

/// total += x in its own partition; y = (x + k) * k with k in several partitions and in the parent
ExportedProgram plain() {
  Draft d;
  const ValueId total = d.buffer("total", 1);
  const ValueId k = d.constant("k", 2);
  const ValueId x = d.user("x");
  d.mutate_buffer("total", d.add("new_total", total, x));
  d.output(d.mul("y", d.add("sum", x, k), k));
  d.output(k);
  return d.finish();
}
ExportedProgram with_cond() {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  d.output(d.cond(
      "out", p, {x}, [&](auto in) { return d.mul("m", in[0], 2.0); }, [&](auto in) { return d.neg("n", in[0]); }));
  return d.finish();
}
ExportedProgram with_loop() {
  Draft d;
  const ValueId i = d.user("i");
  const GraphId go_on = d.branch("go_on", 1, [&](auto in) { return d.lt("less", in[0], 3.0); });
  const GraphId body = d.branch("body", 1, [&](auto in) { return d.add("next", in[0], 1.0); });
  const ValueId last = d.like(i, "last");
  d.node("higher_order.while_loop", {d.b.subgraph(go_on), d.b.subgraph(body), d.b.tensors({i}), d.b.tensors({})},
         {last});
  d.output(last);
  return d.finish();
}
ExportedProgram with_map() {
  Draft d;
  const ValueId x = d.user("x", {3, 2});
  const GraphId body = d.branch("body", 1, [&](auto in) { return d.neg("row", in[0]); }, {2});
  const ValueId y = d.like(x, "y");
  d.node("higher_order.map_impl", {d.b.subgraph(body), d.b.tensors({x}), d.b.tensors({})}, {y});
  d.output(y);
  return d.finish();
}
constexpr auto nothing = [](auto&) {};

}  // namespace

TEST_CASE("programs that were lowered here are consistent") {
  for (const auto& program : {plain(), with_cond(), with_loop(), with_map()})
    CHECK(complaint(program, nothing).empty());
}

TEST_CASE("a value whose kind, dtype, rank or size differs from its port's") {
  CHECK(complaint(plain(), [](auto& m) { value_named(m, "sum").dtype = ScalarType::float64; })
            .view()
            .starts_with("node "));
  CHECK(
      complaint(plain(), [](auto& m) { value_named(m, "sum").kind = ValueKind::sym_int; }).view().starts_with("node "));
  CHECK(complaint(with_map(), [](auto& m) { value_named(m, "x").sizes.count = 1; }) == "input 'x'");
  CHECK(complaint(with_map(), [](auto& m) { m.parent.graph_module.dims[value_named(m, "x").sizes.first].value = 4; }) ==
        "input 'x'");
  CHECK(complaint(plain(), [](auto& m) { m.interface.inputs.back().type.tag = EValue::Tag::int_; }) == "input 'x'");
  CHECK(complaint(plain(), [](auto& m) { m.interface.outputs.back().type.dtype = ScalarType::int64; }) == "output 'k'");
  CHECK(complaint(plain(), [](auto& m) { m.interface.inputs.back().constant = ConstantValue{true}; }) == "input 'x'");
}

TEST_CASE("a held tensor that contradicts its input, and a buffer that its partition takes for another") {
  CHECK(complaint(plain(), [](auto& m) { m.parent.constants[0].tensor.dtype = ScalarType::int32; }) == "constant 'k'");
  CHECK(complaint(plain(), [](auto& m) { m.parent.constants[0].tensor = programs::tensor({2}, {1, 2}); }) ==
        "constant 'k'");
  CHECK(complaint(plain(), [](auto& m) { m.parent.constants.clear(); }) == "constant 'k'");
  CHECK(complaint(plain(), [](auto& m) { m.interface.inputs.front().type.dtype = ScalarType::int32; }) ==
        "output 'new_total'");
  CHECK(complaint(plain(),
                  [](auto& m) {
                    m.interface.inputs.front().type.dtype = m.interface.outputs.front().type.dtype = ScalarType::int32;
                  })
            .view()
            .starts_with("node "));
}

TEST_CASE("operands and results of control flow that contradict its sub-graphs") {
  for (const std::string_view name : {"m", "n"})
    CHECK(complaint(with_cond(), [&](auto& m) { value_named(m, name).dtype = ScalarType::int64; })
              .view()
              .starts_with("node "));
  CHECK(complaint(with_cond(), [](auto& m) {
          const Graph& branch = m.parent.graph_module.graphs[1];
          m.parent.graph_module.values[m.parent.view().args(branch.inputs)[0].value()].kind = ValueKind::sym_bool;
        }) == "node 'out' (higher_order.cond)");
  CHECK(complaint(with_loop(), [](auto& m) {
          const Graph& body = m.parent.graph_module.graphs[2];
          m.parent.graph_module.values[m.parent.view().args(body.inputs)[0].value()].dtype = ScalarType::int8;
        }) == "node 'last' (higher_order.while_loop)");
  CHECK(complaint(with_map(), [](auto& m) {
          const Graph& body = m.parent.graph_module.graphs[1];
          m.parent.graph_module.values[m.parent.view().args(body.inputs)[0].value()].sizes.count = 0;
        }) == "node 'y' (higher_order.map_impl)");
  CHECK(complaint(with_map(), [](auto& m) { value_named(m, "y").kind = ValueKind::sym_int; }).view() != "");
}

TEST_CASE("inputs and outputs of a graph are no lists, and a loop carries no more than it is handed") {
  CHECK(complaint(plain(), [](auto& m) {
          GraphModule& g = m.parent.graph_module;
          Argument& last = g.arguments[g.graphs[0].inputs.first + g.graphs[0].inputs.count - 1];
          last = {.items = {0, 0}, .kind = ArgumentKind::list};
        }) == "no schedule: its inputs and outputs are not those of the method");
  CHECK(complaint(with_loop(),
                  [](auto& m) {
                    GraphModule& g = m.parent.graph_module;
                    for (Argument& a : g.arguments)
                      if (a.is_list() && a.items.count == 1)
                        g.arguments[a.items.first] = {.items = {0, 0}, .kind = ArgumentKind::list};
                  })
            .view()
            .starts_with("no schedule: "));
}

TEST_CASE("a size that a reader knows is known where it comes from, also the number of rows that a loop stacks") {
  const auto forget = [](LoweredMethod& m, std::string_view name) {
    m.parent.graph_module.dims[value_named(m, name).sizes.first] = {.value = 3, .expr = 0};
  };
  CHECK(complaint(with_map(), [&](auto& m) {
          m.parent.graph_module.exprs.push_back({.op = ExprOp::symbol, .name = value_named(m, "x").name});
          forget(m, "x");
        }) == "node 'y' (higher_order.map_impl)");
  CHECK(complaint(with_map(), [](auto& m) {
          m.parent.graph_module.dims[value_named(m, "y").sizes.first].value = 4;
          m.interface.outputs[0].type.dims[0].value = 4;
        }) == "node 'y' (higher_order.map_impl)");
}

TEST_CASE("a program whose branch takes another size than it is handed does not lower") {
  Draft d;
  const ValueId x = d.user("x", {3});
  const ValueId p = d.user("p");
  d.output(d.cond(
      "out", d.gt("positive", p, 0.0), {x}, [&](auto in) { return d.neg("m", in[0]); },
      [&](auto in) { return d.neg("n", in[0]); }));
  const Toys toys;
  const auto lowered = to_backend(d.finish(), CapabilityPartitioner<Two>());
  REQUIRE(!lowered);
  CHECK(lowered.error().stage == Stage::verify);
  CHECK(lowered.error().code == ErrorCode::invalid_program);
  CHECK(lowered.error().where == "node 'out' (higher_order.cond)");
}
