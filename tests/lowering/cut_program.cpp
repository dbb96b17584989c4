// SPDX-License-Identifier: MIT
#include "davit/lowering/cut_program.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "../support/toy_backend.hpp"
#include "davit/program/graph_equal.hpp"
#include "davit/program/verify.hpp"

using namespace davit;
using support::ByHand, support::Draft, support::Group, support::Two;

namespace {

/// A program cut along groups that hold every node but control flow.
struct Cut {
  std::vector<ExportedProgram> submodules;
  ExportedProgram parent;
  std::vector<ConstantPlacement> placements;

  Cut(const ExportedProgram& program, std::initializer_list<Group> groups,
      SharedConstants shared = SharedConstants::share) {
    const GraphModuleView graph = program.view();
    const ByHand<Two> by_hand(graph, groups);
    const PartitionTags& tags = by_hand.answer.tags;
    const QuotientGraph q = contract(graph, tags.nodes, static_cast<std::uint32_t>(tags.names.size()));
    const VertexOrder order = topological_order(q);
    ProgramCutter cutter(program, tags, q, order.order, shared);
    for (TagId tag = 0; tag < tags.names.size(); ++tag) submodules.push_back(cutter.submodule(tag));
    parent = cutter.parent();
    placements = cutter.placements();
    for (const ExportedProgram& submodule : submodules) sound(submodule);
    sound(parent);
  }
  [[nodiscard]] const ConstantPlacement& placement(std::string_view target) const {
    for (const ConstantPlacement& p : placements)
      if (p.target == target) return p;
    FAIL("no placement of ", Name(target));
    return placements[0];
  }

 private:
  static void sound(const ExportedProgram& program) {
    for (const Error& e : verify(program, {.allow_unknown_operators = true})) FAIL_CHECK(to_string(e));
  }
};

using Names = std::vector<Name>;
Names inputs(const ExportedProgram& program) {
  Names names;
  for (const InputSpec& spec : program.signature.input_specs) names.push_back(arg_name(spec));
  return names;
}
Names outputs(const ExportedProgram& program) {
  Names names;
  for (const OutputSpec& spec : program.signature.output_specs) names.push_back(arg_name(spec));
  return names;
}
Names names_of(const std::vector<NamedTensor>& tensors) {
  Names names;
  for (const NamedTensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}
/// "target(operands) -> results" of every node of the root graph.
Names nodes(const ExportedProgram& program) {
  const GraphModuleView graph = program.view();
  Names all;
  for (const Node& node : graph.nodes_of(graph.root())) {
    Name text = concat(graph.target(node), "(");
    const auto list = [&](std::span<const Argument> arguments) {
      bool first = true;
      for (const Argument& a : arguments) {
        if (a.kind == ArgumentKind::int_) text = concat(text, a.payload), first = false;
        graph.for_each_value(a, [&](ValueId v) {
          text = concat(text, first ? "" : " ", graph.name(v));
          first = false;
        });
      }
    };
    list(graph.inputs(node));
    text = concat(text, ") -> ");
    list(graph.outputs(node));
    all.push_back(text);
  }
  return all;
}

}  // namespace

TEST_CASE(
    "a submodule's inputs are its nodes' operands, its outputs are values with other users; the parent calls the "
    "submodules") {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId y = d.user("y");
  const ValueId a = d.add("a", x, y);
  const ValueId b = d.mul("b", a, a);
  const ValueId c = d.sub("c", b, y);
  d.output(c);
  d.output(a);
  const ExportedProgram program = d.finish();
  const GraphModule before = program.graph_module;
  const Cut cut(program, {{0, {"a", "b"}}, {1, {"c"}}});
  CHECK(inputs(cut.submodules[0]) == Names{"x", "y"});
  CHECK(outputs(cut.submodules[0]) == Names{"a", "b"});
  CHECK(inputs(cut.submodules[1]) == Names{"y", "b"});
  CHECK(outputs(cut.submodules[1]) == Names{"c"});
  CHECK(nodes(cut.submodules[0]) == Names{"aten.add.Tensor(x y) -> a", "aten.mul.Tensor(a a) -> b"});
  CHECK(inputs(cut.parent) == Names{"x", "y"});
  CHECK(outputs(cut.parent) == Names{"c", "a"});
  CHECK(nodes(cut.parent) == Names{"higher_order.executorch_call_delegate(0 x y) -> a b",
                                   "higher_order.executorch_call_delegate(1 y b) -> c"});
  CHECK(graph_equal(before.view(), program.view(), {.metadata = true}));
}

TEST_CASE("a value without users outside stays inside, and an unused value has no output") {
  Draft d;
  const ValueId x = d.user("x");
  d.neg("unused", x);
  const ValueId a = d.add("a", x, 1.0);
  d.output(d.mul("b", a, a));
  const Cut cut(d.finish(), {{0, {"a", "b"}}, {1, {"unused"}}});
  CHECK(outputs(cut.submodules[0]) == Names{"b"});
  CHECK(outputs(cut.submodules[1]).empty());
  CHECK(nodes(cut.parent).size() == 2);
}

TEST_CASE("a constant that one partition uses, however often, moves there and leaves the parent's signature") {
  Draft d;
  const ValueId w = d.parameter("w", 2);
  const ValueId k = d.constant("k", 3);
  const ValueId n = d.buffer("n", 4, false);
  const ValueId x = d.user("x");
  const ValueId a = d.add("a", x, w);
  const ValueId b = d.mul("b", a, w);
  const ValueId c = d.mul("c", b, k);
  d.output(d.mul("e", c, n));
  const ExportedProgram program = d.finish();
  const Cut cut(program, {{0, {"a", "b"}}, {1, {"c", "e"}}});
  CHECK(inputs(cut.submodules[0]) == Names{"w", "x"});
  CHECK(names_of(cut.submodules[0].state_dict) == Names{"w"});
  CHECK(cut.submodules[0].state_dict[0].tensor.storage.data() == program.state_dict[0].tensor.storage.data());
  CHECK(inputs(cut.submodules[1]) == Names{"n", "k", "b"});
  CHECK(names_of(cut.submodules[1].constants) == Names{"n", "k"});
  CHECK(cut.submodules[1].state_dict.empty());
  CHECK(inputs(cut.parent) == Names{"x"});
  CHECK(cut.parent.state_dict.empty());
  CHECK(cut.parent.constants.empty());
  for (const std::string_view target : {"w", "k", "n"}) {
    CHECK(cut.placement(target).fate == ConstantPlacement::Fate::moved);
    CHECK(cut.placement(target).partitions == 1);
    CHECK(cut.placement(target).bytes == 4);
  }
}

TEST_CASE("a constant that nothing uses is left out everywhere") {
  Draft d;
  d.parameter("w", 2);
  d.output(d.neg("a", d.user("x")));
  const Cut cut(d.finish(), {{0, {"a"}}});
  CHECK(inputs(cut.submodules[0]) == Names{"x"});
  CHECK(cut.placements.empty());
}

TEST_CASE("a constant that two partitions use is one storage for both, or a copy for each") {
  Draft d;
  const ValueId w = d.parameter("w", 2);
  const ValueId x = d.user("x");
  const ValueId a = d.add("a", x, w);
  d.output(d.mul("b", a, w));
  const ExportedProgram program = d.finish();
  const auto storage = [](const ExportedProgram& p) { return p.state_dict.at(0).tensor.storage.data(); };
  const Cut shared(program, {{0, {"a"}}, {1, {"b"}}});
  CHECK(storage(shared.submodules[0]) == storage(program));
  CHECK(storage(shared.submodules[1]) == storage(program));
  CHECK(shared.placement("w").fate == ConstantPlacement::Fate::shared);
  CHECK(shared.placement("w").partitions == 2);
  const Cut copied(program, {{0, {"a"}}, {1, {"b"}}}, SharedConstants::duplicate);
  CHECK(storage(copied.submodules[0]) != storage(program));
  CHECK(storage(copied.submodules[0]) != storage(copied.submodules[1]));
  CHECK(*copied.submodules[1].state_dict[0].tensor.view().as<float>() == 2);
  CHECK(copied.placement("w").fate == ConstantPlacement::Fate::duplicated);
  CHECK(inputs(copied.parent) == Names{"x"});
}

TEST_CASE("a constant that is returned, or that control flow uses, stays in the parent") {
  Draft d;
  const ValueId w = d.parameter("w", 2);
  const ValueId u = d.parameter("u", 5);
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  const GraphId yes = d.branch("yes", 1, [&](auto in) { return d.neg("y", in[0]); });
  const GraphId no = d.branch("no", 1, [](auto in) { return in[0]; });
  const ValueId out = d.like(x, "out");
  d.node("higher_order.cond", {d.b.value(p), d.b.subgraph(yes), d.b.subgraph(no), d.b.tensors({w})}, {out});
  const ValueId sum = d.add("sum", out, w);
  d.output(sum);
  d.output(u);
  const ExportedProgram program = d.finish();
  const Cut cut(program, {{0, {"p"}}, {0, {"y"}}, {1, {"sum"}}});
  CHECK(inputs(cut.parent) == Names{"w", "u", "x"});
  CHECK(names_of(cut.parent.state_dict) == Names{"w", "u"});
  CHECK(inputs(cut.submodules[2]) == Names{"w", "out"});
  CHECK(cut.submodules[2].state_dict[0].tensor.storage.data() == cut.parent.state_dict[0].tensor.storage.data());
  CHECK(cut.placement("w").fate == ConstantPlacement::Fate::kept);
  CHECK(cut.placement("u").fate == ConstantPlacement::Fate::kept);
  CHECK(inputs(cut.submodules[1]) == Names{"in0"});
  CHECK(cut.parent.graph_module.graphs.size() == 3);
}

TEST_CASE("a mutated buffer that one partition reads and writes moves with its mutation") {
  Draft d;
  const ValueId total = d.buffer("total", 1);
  const ValueId x = d.user("x");
  const ValueId sum = d.add("sum", total, x);
  const ValueId y = d.mul("y", sum, 2.0);
  d.mutate_buffer("total", sum);
  d.output(d.neg("z", y));
  const Cut cut(d.finish(), {{0, {"sum", "y"}}, {1, {"z"}}});
  CHECK(inputs(cut.submodules[0]) == Names{"total", "x"});
  CHECK(outputs(cut.submodules[0]) == Names{"sum", "y"});
  CHECK(kind(cut.submodules[0].signature.output_specs[0]) == OutputKind::buffer_mutation);
  CHECK(names_of(cut.submodules[0].state_dict) == Names{"total"});
  CHECK(inputs(cut.parent) == Names{"x"});
  CHECK(outputs(cut.parent) == Names{"z"});
  CHECK(cut.placement("total").fate == ConstantPlacement::Fate::moved);
}

TEST_CASE("a new value of a buffer that is also used outside is passed out as well") {
  Draft d;
  const ValueId total = d.buffer("total", 1);
  const ValueId sum = d.add("sum", total, d.user("x"));
  d.mutate_buffer("total", sum);
  d.output(sum);
  const Cut cut(d.finish(), {{0, {"sum"}}});
  CHECK(outputs(cut.submodules[0]) == Names{"sum", "sum"});
  CHECK(outputs(cut.parent) == Names{"sum"});
}

TEST_CASE("a mutated buffer that two partitions use stays in the parent, and is passed to them") {
  Draft d;
  const ValueId total = d.buffer("total", 1);
  const ValueId x = d.user("x");
  const ValueId sum = d.add("sum", total, x);
  d.mutate_buffer("total", sum);
  d.output(d.mul("y", total, x));
  const Cut cut(d.finish(), {{0, {"sum"}}, {1, {"y"}}});
  CHECK(inputs(cut.parent) == Names{"total", "x"});
  CHECK(outputs(cut.parent) == Names{"sum", "y"});
  CHECK(names_of(cut.parent.state_dict) == Names{"total"});
  CHECK(inputs(cut.submodules[0]) == Names{"total", "x"});
  CHECK(kind(cut.submodules[0].signature.input_specs[0]) == InputKind::user_input);
  CHECK(cut.submodules[0].state_dict.empty());
  CHECK(cut.placement("total").fate == ConstantPlacement::Fate::kept);
}

TEST_CASE("a buffer stays if its old value is returned, or if another partition or the caller makes its new value") {
  const auto stays = [](auto&& write) {
    Draft d;
    const ValueId total = d.buffer("total", 1);
    const ValueId x = d.user("x");
    const ValueId a = d.add("a", total, x);
    const ValueId b = d.neg("b", x);
    write(d, total, x, a, b);
    const Cut cut(d.finish(), {{0, {"a"}}, {1, {"b"}}});
    return inputs(cut.parent) == Names{"total", "x"} && cut.submodules[0].state_dict.empty();
  };
  CHECK(stays([](Draft& d, ValueId total, ValueId, ValueId a, ValueId b) {
    d.mutate_buffer("total", a);
    d.output(total);
    d.output(b);
  }));
  CHECK(stays([](Draft& d, ValueId, ValueId, ValueId a, ValueId b) {
    d.mutate_buffer("total", b);
    d.output(a);
  }));
  CHECK(stays([](Draft& d, ValueId, ValueId x, ValueId a, ValueId b) {
    d.mutate_buffer("total", x);
    d.output(a);
    d.output(b);
  }));
}

TEST_CASE("two mutations may move into one partition") {
  Draft d;
  const ValueId m = d.buffer("m", 1);
  const ValueId n = d.buffer("n", 2);
  const ValueId x = d.user("x");
  const ValueId a = d.add("a", n, x);
  const ValueId b = d.add("b", m, a);
  d.mutate_buffer("n", a);
  d.mutate_buffer("m", b);
  d.output(d.neg("c", b));
  const Cut cut(d.finish(), {{0, {"a", "b"}}, {1, {"c"}}});
  CHECK(inputs(cut.submodules[0]) == Names{"m", "n", "x"});
  CHECK(outputs(cut.submodules[0]) == Names{"a", "b", "b"});
  CHECK(inputs(cut.parent) == Names{"x"});
  CHECK(outputs(cut.parent) == Names{"c"});
}

TEST_CASE("tokens come first in a submodule's inputs and outputs") {
  Draft d;
  const ValueId t0 = d.token("t0");
  const ValueId x = d.user("x");
  const ValueId n = d.neg("n", x);
  const auto [t1, a] = d.effect("t1", "a", t0, n, 1.0);
  const auto [t2, b] = d.effect("t2", "b", t1, a, 2.0);
  d.output_token(t2);
  d.output(b);
  d.output(a);
  const Cut cut(d.finish(), {{1, {"n"}}, {0, {"t1"}}, {1, {"t2"}}});
  CHECK(inputs(cut.submodules[1]) == Names{"t0", "n"});
  CHECK(outputs(cut.submodules[1]) == Names{"t1", "a"});
  CHECK(kind(cut.submodules[1].signature.input_specs[0]) == InputKind::token);
  CHECK(kind(cut.submodules[1].signature.output_specs[0]) == OutputKind::token);
  CHECK(nodes(cut.parent)[2] == "higher_order.executorch_call_delegate(2 t1 a) -> t2 b");
  CHECK(outputs(cut.parent) == Names{"t2", "b", "a"});
}

TEST_CASE("symbols, their ranges and node metadata go where they are used") {
  Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ExprId s1 = d.b.symbol("s1");
  const auto dynamic = [&](std::string_view name, ExprId symbol) {
    const Dim size[] = {{.value = 4, .expr = symbol}};
    const Dim stride[] = {{.value = 1}};
    const ValueId v = d.b.declare(
        {.name = d.b.text(name), .sizes = d.b.dims(size), .strides = d.b.dims(stride), .dtype = ScalarType::float32});
    d.b.input(d.b.value(v));
    d.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name(name)}});
    return v;
  };
  const ValueId x = dynamic("x", s0);
  const ValueId y = dynamic("y", s1);
  d.metadata = d.b.metadata("File \"m.py\", line 1, in forward\n    return -x\n", "L__self__,,M");
  d.output(d.neg("a", x));
  d.metadata = no_id;
  d.output(d.neg("b", y));
  d.program.range_constraints = {{"s0", 2, 8}, {"s1", 3, {}}};
  d.program.guards = {.nodes = {{.op = GuardOp::size, .a = 0, .b = 0}}, .roots = {0}};
  const Cut cut(d.finish(), {{0, {"a"}}, {1, {"b"}}});
  REQUIRE(cut.submodules[0].range_constraints.size() == 1);
  CHECK(cut.submodules[0].range_constraints[0].symbol == "s0");
  CHECK(cut.submodules[1].range_constraints.at(0).symbol == "s1");
  CHECK(cut.parent.range_constraints.size() == 2);
  CHECK(cut.parent.guards.size() == 1);
  CHECK(cut.submodules[0].guards.empty());
  CHECK(cut.submodules[0].graph_module.exprs.size() == 1);
  const GraphModuleView graph = cut.submodules[0].view();
  REQUIRE(graph.nodes[0].metadata == 0);
  CHECK(graph.str(graph.metadata[0].nn_module_stack) == "L__self__,,M");
  CHECK(cut.submodules[1].view().nodes[0].metadata == no_id);
  CHECK(cut.parent.view().nodes[0].metadata != no_id);
}
