// SPDX-License-Identifier: MIT
#include "davit/lowering/decompose.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "../programs.hpp"
#include "../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/graph_equal.hpp"
#include "davit/program/printer.hpp"
#include "davit/program/verify.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using F = ScalarType;

namespace {

/// forward(x): return target(x, arguments...), with the sizes given; x is [2, 3] or [s0, 3].
ExportedProgram one_operator(std::string_view target, std::initializer_list<Arg> arguments,
                             std::initializer_list<std::int64_t> sizes, F dtype = F::float32, F input = F::float32) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", input, {2, 3});
  std::vector<Argument> inputs;
  inputs.push_back(GraphBuilder::value(x));
  inputs.back().name = b.intern("self");
  for (const Arg& a : arguments) {
    inputs.push_back(a.argument);
    inputs.back().name = b.intern(a.name);
  }
  const ValueId y = b.tensor("y", dtype, sizes);
  const Argument out = GraphBuilder::value(y);
  b.node(target, inputs, {&out, 1}, b.metadata(programs::trace_of_add));
  b.end_graph({y});
  return programs::user_program(std::move(b).finish());
}
std::vector<std::string> targets(const ExportedProgram& program) {
  std::vector<std::string> out;
  for (const Node& node : program.view().nodes) out.emplace_back(program.view().target(node));
  return out;
}
using Texts = std::vector<std::string>;
bool is_sound(const ExportedProgram& program) { return verify(program).empty(); }

}  // namespace

TEST_CASE("a composite operator is replaced by its parts: users, names and metadata stay") {
  const ExportedProgram program = one_operator("aten.softplus.default", {}, {2, 3});
  const ExportedProgram made = run_decompositions(program);
  REQUIRE(is_sound(made));
  CHECK(targets(made).back() == "aten.where.self");
  const GraphModuleView graph = made.view();
  CHECK(graph.name(graph.args(graph.root().outputs)[0].value()) == "y");
  for (const Node& node : graph.nodes) {
    CHECK(node.metadata == program.view().nodes[0].metadata);
    const Value& value = graph.values[graph.outputs(node)[0].value()];
    CHECK(value.sizes.count == 2);
    CHECK(graph.dims_of(value.strides)[0].value == 3);
  }
}

TEST_CASE("a program without composites is not copied, and a second pass changes nothing") {
  CHECK(!decomposed(one_operator("aten.relu.default", {}, {2, 3})));
  const ExportedProgram once = run_decompositions(one_operator("aten.mish.default", {}, {2, 3}));
  CHECK(!decomposed(once));
  CHECK(print_graph(run_decompositions(once).view()) == print_graph(once.view()));
}

TEST_CASE("new names do not collide with those of an earlier pass") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("d0_exp_1", F::float32, {2});
  const ValueId y = b.input("d7_", F::float32, {2});
  const ValueId z =
      b.call("aten.mse_loss.default", {{"self", b.value(x)}, {"target", b.value(y)}, {"reduction", b.integer(0)}}, "z",
             F::float32, {2});
  b.end_graph({z});
  const ExportedProgram made = run_decompositions(programs::user_program(std::move(b).finish()));
  CHECK(is_sound(made));
  CHECK(targets(made) == Texts{"aten.sub.Tensor", "aten.mul.Tensor"});
}

TEST_CASE("a node that returns its argument goes; if it is an output of the program, a node keeps its name") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", F::float32, {2, 3});
  const ValueId same = b.call("aten.contiguous.default", {{"self", b.value(x)}}, "same", F::float32, {2, 3});
  const ValueId y = b.call("aten.relu.default", {{"self", b.value(same)}}, "y", F::float32, {2, 3});
  const ValueId z =
      b.call("aten.dropout.default", {{"input", b.value(y)}, {"p", b.real(0.5)}, {"train", b.boolean(false)}}, "z",
             F::float32, {2, 3});
  b.end_graph({z});
  const ExportedProgram program = programs::user_program(std::move(b).finish());
  const ExportedProgram made = run_decompositions(program);
  REQUIRE(is_sound(made));
  CHECK(targets(made) == Texts{"aten.relu.default", "aten.alias.default"});
  // also if a backend would take the node unchanged
  CHECK(targets(run_decompositions(program, {.backends = BackendList<portable>::tables()}))[0] == "aten.relu.default");
}

TEST_CASE("a composite stays where a backend takes it whole") {
  const ExportedProgram program = one_operator("aten.softmax.int", {{"dim", GraphBuilder::integer(1)}}, {2, 3});
  CHECK(!decomposed(program, {.backends = BackendList<portable>::tables()}));
  CHECK(!decomposed(program, {.keeps = [](GraphModuleView, NodeId) { return true; }}));
  CHECK(targets(run_decompositions(program)) == Texts{"aten._softmax.default"});
}

TEST_CASE("only the requested composites are decomposed, whatever backends take") {
  const ExportedProgram program = one_operator("aten.softmax.int", {{"dim", GraphBuilder::integer(1)}}, {2, 3});
  const BackendTables backends = BackendList<portable>::tables();
  CHECK(!decomposed(program, {.only = [](GraphModuleView, NodeId) { return false; }}));
  const auto softmax = [](GraphModuleView graph, NodeId n) {
    return graph.target(graph.nodes[n]) == "aten.softmax.int";
  };
  CHECK(targets(run_decompositions(program, {.backends = backends, .only = softmax})) ==
        Texts{"aten._softmax.default"});
}

TEST_CASE(
    "attention of one query stays if a backend takes it whole; of several it is decomposed if other backends take the "
    "parts") {
  static constexpr BackendTable parts{
      .name = "parts", .refuses = [](GraphModuleView graph, NodeId node) -> const char* {
        return graph.target(graph.nodes[node]).starts_with("aten.scaled_dot") ? "it takes parts" : nullptr;
      }};
  const BackendTable* const list[] = {&parts, &BackendList<portable>::tables()[0]};
  for (const std::int64_t queries : {1, 5}) {
    GraphBuilder b;
    b.begin_graph();
    const ValueId q = b.input("q", F::float32, {2, queries, 8});
    const ValueId k = b.input("k", F::float32, {2, 5, 8});
    b.end_graph({b.call("aten.scaled_dot_product_attention.default",
                        {{"query", b.value(q)}, {"key", b.value(k)}, {"value", b.value(k)}}, "y", F::float32,
                        {2, queries, 8})});
    const ExportedProgram made =
        run_decompositions(programs::user_program(std::move(b).finish()), {.backends = BackendTables(list)});
    CHECK((targets(made) == Texts{"aten.scaled_dot_product_attention.default"}) == (queries == 1));
  }
}

TEST_CASE("an operator of core ATen stays, unless no backend takes it") {
  const ExportedProgram program =
      one_operator("aten.bucketize.Tensor", {{"boundaries", GraphBuilder::value(0)}}, {2, 3}, F::int64);
  CHECK(!decomposed(program));
  CHECK(!decomposed(program, {.backends = BackendList<portable>::tables()}));
  static constexpr BackendTable table{
      .name = "small", .refuses = [](GraphModuleView graph, NodeId node) -> const char* {
        return graph.target(graph.nodes[node]) == "aten.bucketize.Tensor" ? "too large" : nullptr;
      }};
  const BackendTable* const small[] = {&table};
  const ExportedProgram made = run_decompositions(program, {.backends = BackendTables(small)});
  CHECK(is_sound(made));
  CHECK(targets(made).back() == "aten.sum.dim_IntList");
}

TEST_CASE("a part of core ATen stays if its own rule does not fit and no backend takes it") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", F::float32, {2, 3});
  const ValueId index = b.input("index", F::int64, {2});
  const ValueId source = b.input("source", F::float32, {2, 3});
  b.end_graph(
      {b.call("aten.index_add.default",
              {{"self", b.value(x)}, {"dim", b.integer(0)}, {"index", b.value(index)}, {"source", b.value(source)}},
              "y", F::float32, {2, 3})});
  static constexpr BackendTable nothing{
      .name = "nothing", .refuses = [](GraphModuleView, NodeId) -> const char* { return "it takes nothing"; }};
  const BackendTable* const list[] = {&nothing};
  const ExportedProgram made =
      run_decompositions(programs::user_program(std::move(b).finish()), {.backends = BackendTables(list)});
  CHECK(is_sound(made));
  CHECK(targets(made).back() == "aten.index_put.default");
}

TEST_CASE("a part that returns a list of tensors is decomposed, also if a backend takes it whole") {
  static constexpr BackendTable splits{
      .name = "splits", .refuses = [](GraphModuleView graph, NodeId node) -> const char* {
        return graph.target(graph.nodes[node]) == "aten.split_with_sizes.default" ? nullptr : "it splits";
      }};
  const BackendTable* const list[] = {&splits, &BackendList<portable>::tables()[0]};
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", F::float32, {2, 3});
  const ValueId parts[] = {b.tensor("one", F::float32, {2, 1}), b.tensor("two", F::float32, {2, 2})};
  Argument self = GraphBuilder::value(x), sizes = b.ints({1, 2}), dim = GraphBuilder::integer(1);
  self.name = b.intern("self");
  sizes.name = b.intern("split_sizes");
  dim.name = b.intern("dim");
  const Argument inputs[] = {self, sizes, dim}, both[] = {GraphBuilder::value(parts[0]), GraphBuilder::value(parts[1])};
  const Argument out = b.list(both, ArgumentKind::value);
  b.node("aten.split_with_sizes_copy.default", inputs, {&out, 1}, no_id);
  b.end_graph({parts[0], parts[1]});
  const ExportedProgram made =
      run_decompositions(programs::user_program(std::move(b).finish()), {.backends = BackendTables(list)});
  CHECK(is_sound(made));
  CHECK(targets(made) == Texts{"aten.slice.Tensor", "aten.slice.Tensor"});
}

namespace {

constexpr BackendTable table_without_as_strided{
    .name = "small", .refuses = [](GraphModuleView graph, NodeId node) -> const char* {
      return graph.target(graph.nodes[node]) == "aten.as_strided.default" ? "not in its table" : nullptr;
    }};
constexpr const BackendTable* without_as_strided[] = {&table_without_as_strided};

}  // namespace

TEST_CASE("a view that the program writes through is not decomposed into copies") {
  for (const bool writes : {false, true}) {
    GraphBuilder b;
    b.begin_graph();
    const ValueId x = b.input("x", F::float32, {2, 3});
    const ValueId y =
        b.call("aten.as_strided.default", {{"self", b.value(x)}, {"size", b.ints({2})}, {"stride", b.ints({3})}}, "y",
               F::float32, {2});
    const ValueId z = b.call(writes ? "aten.add_.Tensor" : "aten.add.Tensor",
                             {{"self", b.value(y)}, {"other", b.real(1)}}, "z", F::float32, {2});
    b.end_graph({z});
    const Texts all = targets(run_decompositions(programs::user_program(std::move(b).finish()),
                                                 {.backends = BackendTables(without_as_strided)}));
    CHECK((all.front() == "aten.as_strided.default") == writes);
  }
}

TEST_CASE("as_strided counts from the beginning of the storage, its indices from that of the tensor") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", F::float32, {2, 3});
  const ValueId y =
      b.call("aten.as_strided.default",
             {{"self", b.value(x)}, {"size", b.ints({2})}, {"stride", b.ints({3})}, {"storage_offset", b.integer(5)}},
             "y", F::float32, {2});
  b.end_graph({y});
  GraphModule module = std::move(b).finish();
  module.values[x].constant = 4;  // the tensor begins at element 4 of its storage
  const ExportedProgram made =
      run_decompositions(programs::user_program(std::move(module)), {.backends = BackendTables(without_as_strided)});
  const GraphModuleView graph = made.view();
  REQUIRE(graph.target(graph.nodes[0]) == "aten.full.default");
  CHECK(graph.args(graph.nodes[0].inputs)[1].payload == 1);
}

TEST_CASE("a recurrent layer of several layers and directions becomes single ones, if a backend takes these") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", F::float32, {4, 1, 3}), h = b.input("h", F::float32, {4, 1, 2});
  std::vector<Argument> weights;
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    weights.push_back(GraphBuilder::value(b.input("w" + n, F::float32, {6, i < 2 ? 3 : 4})));
    weights.push_back(GraphBuilder::value(b.input("u" + n, F::float32, {6, 2})));
  }
  const ValueId y = b.tensor("y", F::float32, {4, 1, 4}), last = b.tensor("last", F::float32, {4, 1, 2});
  std::vector<Argument> inputs;
  const Argument arguments[] = {GraphBuilder::value(x), GraphBuilder::value(h), b.list(weights, ArgumentKind::value),
                                b.boolean(false),       b.integer(2),           b.real(0),
                                b.boolean(false),       b.boolean(true),        b.boolean(false)};
  const std::string_view names[] = {"input",   "hx",    "params",        "has_biases", "num_layers",
                                    "dropout", "train", "bidirectional", "batch_first"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    inputs.push_back(arguments[i]);
    inputs.back().name = b.intern(names[i]);
  }
  const Argument results[] = {GraphBuilder::value(y), GraphBuilder::value(last)};
  b.node("aten.gru.input", inputs, results);
  b.end_graph({y, last});
  const ExportedProgram program = programs::user_program(std::move(b).finish());
  static constexpr BackendTable table{
      .name = "small", .refuses = [](GraphModuleView graph, NodeId node) -> const char* {
        const Argument* const layers = graph.find_input(graph.nodes[node], "num_layers");
        return layers != nullptr && layers->payload != 1 ? "several layers" : nullptr;
      }};
  const BackendTable* const small[] = {&table};
  const ExportedProgram made = run_decompositions(program, {.backends = BackendTables(small)});
  CHECK(is_sound(made));
  const Texts all = targets(made);
  CHECK(std::ranges::count(all, "aten.gru.input") == 4);
  CHECK(std::ranges::count(all, "aten.flip.default") == 4);
  CHECK(std::ranges::count(all, "aten.tanh.default") == 0);
  CHECK(std::ranges::count(targets(run_decompositions(program)), "aten.tanh.default") == 16);  // four steps each
}

TEST_CASE("operators on complex numbers are computed by their parts; real ones stay") {
  CHECK(!decomposed(one_operator("aten.exp.default", {}, {2, 3})));
  const ExportedProgram made =
      run_decompositions(one_operator("aten.exp.default", {}, {2, 3}, F::complex64, F::complex64));
  REQUIRE(is_sound(made));
  const Texts names = targets(made);
  CHECK(names.back() == "aten.polar.default");
  CHECK(std::ranges::count(names, "aten.view_as_real.default") == 2);
  CHECK(run_decompositions(one_operator("aten.real.default", {}, {2, 3}, F::float64, F::complex128))
            .view()
            .nodes.size() == 2);
  CHECK(!decomposed(run_decompositions(one_operator("aten.tanh.default", {}, {2, 3}, F::complex64, F::complex64))));
}

TEST_CASE("an operator whose rule does not fit its arguments stays as it is") {
  const auto trained = {Arg{"p", GraphBuilder::real(0.5)}, Arg{"train", GraphBuilder::boolean(true)}};
  CHECK(targets(run_decompositions(one_operator("aten.alpha_dropout.default", trained, {2, 3}))) ==
        Texts{"aten.alpha_dropout.default"});
  // sizes and dtypes of the program that contradict the rule
  CHECK(targets(run_decompositions(one_operator("aten.mish.default", {}, {2, 4}))) == Texts{"aten.mish.default"});
  CHECK(targets(run_decompositions(one_operator("aten.mish.default", {}, {2, 3}, F::float64))) ==
        Texts{"aten.mish.default"});
  CHECK(targets(run_decompositions(one_operator(
            "aten.transpose.int", {{"dim0", GraphBuilder::integer(5)}, {"dim1", GraphBuilder::integer(1)}}, {2, 3}))) ==
        Texts{"aten.transpose.int"});
  CHECK(targets(run_decompositions(one_operator("aten.mish.default", {{"beta", GraphBuilder::integer(5)}}, {2, 3}))) ==
        Texts{"aten.mish.default"});
}

TEST_CASE("half precision is computed in float32 where PyTorch's kernels do so") {
  const ExportedProgram made =
      run_decompositions(one_operator("aten.mish.default", {}, {2, 3}, F::bfloat16, F::bfloat16));
  REQUIRE(is_sound(made));
  CHECK(targets(made).front() == "aten._to_copy.default");
  CHECK(targets(made).back() == "aten._to_copy.default");
  const GraphModuleView graph = made.view();
  CHECK(graph.values[graph.outputs(graph.nodes[1])[0].value()].dtype == F::float32);
  // also if a part does so
  const ExportedProgram distance = run_decompositions(
      one_operator("aten.dist.default", {{"other", GraphBuilder::value(0)}}, {}, F::bfloat16, F::bfloat16));
  CHECK(is_sound(distance));
  CHECK(targets(distance).back() == "aten._to_copy.default");
}

TEST_CASE("symbolic sizes become arguments by nodes that ask for them, and expressions of new sizes") {
  GraphBuilder b;
  b.begin_graph();
  const Dim sizes[] = {{4, b.symbol("s0")}, {6}};
  const Dim halves[] = {{4, b.symbol("s0")}, {3}};
  const ValueId x = b.declare({.name = b.text("x"), .sizes = b.dims(sizes), .dtype = F::float32});
  b.input(b.value(x));
  const ValueId y = b.declare({.name = b.text("y"), .sizes = b.dims(halves), .dtype = F::float32});
  Argument in = b.value(x), out = b.value(y);
  in.name = b.intern("self");
  b.node("aten.glu.default", {&in, 1}, {&out, 1});
  const Dim flat[] = {
      {12, b.expr({.op = ExprOp::mul, .a = b.symbol("s0"), .b = b.expr({.op = ExprOp::integer, .value = 3})})}};
  const ValueId z = b.declare({.name = b.text("z"), .sizes = b.dims(flat), .dtype = F::float32});
  in.payload = y;
  out = b.value(z);
  b.node("aten.ravel.default", {&in, 1}, {&out, 1});
  b.end_graph({z});
  const ExportedProgram made = run_decompositions(programs::user_program(std::move(b).finish()));
  REQUIRE(is_sound(made));
  CHECK(targets(made) == Texts{"aten.slice.Tensor", "aten.slice.Tensor", "aten.sigmoid.default", "aten.mul.Tensor",
                               "aten.sym_size.int", "_operator.mul", "aten.clone.default", "aten.view.default"});
  const GraphModuleView graph = made.view();
  const Value& slice = graph.values[graph.outputs(graph.nodes[0])[0].value()];
  CHECK(graph.dims_of(slice.sizes)[0].expr != no_id);
  CHECK(graph.dims_of(slice.sizes)[1].is_static());
}

TEST_CASE("a size that depends on data has no example to be held to") {
  GraphBuilder b;
  b.begin_graph();
  const ExprId u0 = b.symbol("u0");
  const Dim before[] = {{0, u0}, {3}},
            after[] = {{0, b.expr({.op = ExprOp::add, .a = u0, .b = b.expr({.op = ExprOp::integer, .value = 2})})},
                       {3}};
  const ValueId x = b.declare({.name = b.text("x"), .sizes = b.dims(before), .dtype = F::float32});
  b.input(b.value(x));
  const ValueId y = b.declare({.name = b.text("y"), .sizes = b.dims(after), .dtype = F::float32});
  const Argument pads[] = {b.integer(0), b.integer(0), b.integer(1), b.integer(1)};
  Argument in[] = {b.value(x), b.list(pads, ArgumentKind::int_)};
  const Argument out = b.value(y);
  in[0].name = b.intern("self");
  in[1].name = b.intern("pad");
  b.node("aten.pad.default", in, {&out, 1});
  b.end_graph({y});
  const ExportedProgram made = run_decompositions(programs::user_program(std::move(b).finish()));
  CHECK(is_sound(made));
  CHECK(targets(made) == Texts{"aten.constant_pad_nd.default"});
}

TEST_CASE("a symbolic dimension is split, scaled and resized by its size at run time") {
  support::Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const auto number = [&](std::int64_t n) { return d.b.expr({.op = ExprOp::integer, .value = n}); };
  const ExprId more =
      d.b.expr({.op = ExprOp::floor_div, .a = d.b.expr({.op = ExprOp::add, .a = s0, .b = number(1)}), .b = number(2)});
  const ValueId x = d.user("x", s0, 3);
  const ValueId first = d.sized("first", more, 2),
                second = d.sized("second", d.b.expr({.op = ExprOp::floor_div, .a = s0, .b = number(2)}), 1);
  const Argument inputs[] = {d.b.value(x), d.b.integer(2)}, parts[] = {d.b.tensors({first, second})};
  d.b.node("aten.tensor_split.sections", inputs, parts);
  d.output(first);
  d.output(second);
  const ExportedProgram split = run_decompositions(d.finish());
  CHECK(std::ranges::count(targets(split), "aten.tensor_split.sections") == 0);
  const auto lowered = to_backend<portable>(split);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const auto out = session.run("forward", programs::tensor({4}, {1, 2, 3, 4}));
  REQUIRE(out);
  CHECK(support::elements(out->all()[0]) == std::vector<float>{1, 2});
  CHECK(support::elements(out->all()[1]) == std::vector<float>{3, 4});

  const auto made = [](std::string_view target, std::initializer_list<Arg> arguments, bool resized) {
    GraphBuilder b;
    b.begin_graph();
    const Dim sizes[] = {{1}, {1}, {4, b.symbol("s0")}, {4, b.symbol("s0")}}, fixed[] = {{1}, {1}, {2}, {2}};
    const ValueId q = b.declare({.name = b.text("x"), .sizes = b.dims(sizes), .dtype = F::float32});
    b.input(b.value(q));
    std::vector<Argument> in;
    for (const Arg& a : arguments) {
      in.push_back(a.argument);
      in.back().name = b.intern(a.name);
    }
    if (resized) in.insert(in.begin() + 1, b.ints({2, 2}));
    const ValueId y = b.declare({.name = b.text("y"), .sizes = b.dims(resized ? fixed : sizes), .dtype = F::float32});
    const Argument result = b.value(y);
    b.node(target, in, {&result, 1});
    b.end_graph({y});
    const ExportedProgram program = run_decompositions(programs::user_program(std::move(b).finish()));
    CHECK(is_sound(program));
    return targets(program);
  };
  const Argument self = GraphBuilder::value(0);
  CHECK(std::ranges::count(
            made("aten.scaled_dot_product_attention.default", {{"query", self}, {"key", self}, {"value", self}}, false),
            "torch.sym_sqrt") == 1);
  CHECK(std::ranges::count(made("aten._upsample_bilinear2d_aa.default",
                                {{"self", self}, {"align_corners", GraphBuilder::boolean(false)}}, true),
                           "torch.sym_max") == 2);
}

TEST_CASE("the middle of a symbolic dimension is one of its elements") {
  GraphBuilder b;
  b.begin_graph();
  const Dim sizes[] = {{4, b.symbol("s0")}};
  const ValueId x = b.declare({.name = b.text("x"), .sizes = b.dims(sizes), .dtype = F::float32});
  b.input(b.value(x));
  b.end_graph({b.call("aten.median.default", {{"self", b.value(x)}}, "y", F::float32, {})});
  const ExportedProgram made = run_decompositions(programs::user_program(std::move(b).finish()));
  CHECK(is_sound(made));
  CHECK(std::ranges::count(targets(made), "aten.kthvalue.default") == 1);
}

TEST_CASE("a wrapped graph is put where it was called, in the precision of its autocast") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", F::float32, {2, 3});
  const ValueId w = b.input("w", F::float32, {4, 3});
  const GraphId inner = b.begin_graph("submod_1");
  const ValueId a = b.input("x", F::float32, {2, 3});
  const ValueId c = b.input("w", F::float32, {4, 3});
  const ValueId r = b.call("aten.relu.default", {{"self", b.value(a)}}, "r", F::float32, {2, 3});
  const ValueId l =
      b.call("aten.linear.default", {{"input", b.value(r)}, {"weight", b.value(c)}}, "y", F::bfloat16, {2, 4});
  b.end_graph({l});
  const ValueId y = b.tensor("y", F::bfloat16, {2, 4});
  const Argument inputs[] = {b.string("cpu"),  b.scalar_type(F::bfloat16), b.boolean(true),
                             b.boolean(false), b.subgraph(inner),          b.value(x),
                             b.value(w)};
  const Argument out = b.value(y);
  b.node("higher_order.wrap_with_autocast", inputs, {&out, 1});
  b.end_graph({y});
  const ExportedProgram made = run_decompositions(programs::user_program(std::move(b).finish()));
  REQUIRE(is_sound(made));
  CHECK(made.view().graphs.size() == 1);
  CHECK(targets(made) == Texts{"aten.relu.default", "aten._to_copy.default", "aten._to_copy.default",
                               "aten.permute.default", "aten.mm.default", "aten.alias.default"});
}

TEST_CASE("sub-graphs of control flow are decomposed too") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId p = b.input("p", F::bool_, {});
  const ValueId x = b.input("x", F::float32, {2});
  GraphId branches[2];
  for (GraphId& branch : branches) {
    branch = b.begin_graph("branch");
    const ValueId v = b.input("v", F::float32, {2});
    b.end_graph({b.call("aten.square.default", {{"self", b.value(v)}}, "s", F::float32, {2})});
  }
  const ValueId y = b.tensor("y", F::float32, {2});
  const Argument inputs[] = {b.value(p), b.subgraph(branches[0]), b.subgraph(branches[1]), b.tensors({x})};
  const Argument out = b.value(y);
  b.node("higher_order.cond", inputs, {&out, 1});
  b.end_graph({y});
  const ExportedProgram made = run_decompositions(programs::user_program(std::move(b).finish()));
  REQUIRE(is_sound(made));
  CHECK(made.view().graphs.size() == 3);
  CHECK(targets(made) == Texts{"higher_order.cond", "aten.mul.Tensor", "aten.mul.Tensor"});
}

TEST_CASE("products of bytes are exact, however long: in float32 by parts, or in float64") {
  for (const std::int64_t inner : {48, 1500, 2048}) {
    CAPTURE(inner);
    support::Draft d;
    const ValueId x = d.user("x", {1});
    const ValueId a = d.b.tensor("a", F::int8, {20, inner}), b = d.b.tensor("b", F::int8, {inner, 16}),
                  y = d.b.tensor("y", F::int32, {20, 16});
    for (const ValueId v : {a, b})
      d.node("aten.full.default",
             {v == a ? d.b.ints({20, inner}) : d.b.ints({inner, 16}), d.b.integer(v == a ? -128 : 127),
              d.b.scalar_type(F::int8)},
             {v});
    d.node("aten._int_mm.default", {d.b.value(a), d.b.value(b)}, {y});
    d.output(y);
    d.output(x);
    Session session = *Session::make(*to_backend<portable>(d.finish()));
    const auto out = session.run("forward", programs::tensor({1}, {0}));
    REQUIRE(out);
    CHECK(std::ranges::count(*(*out)[0].as<std::int32_t>(), static_cast<std::int32_t>(inner * -128 * 127)) == 320);
  }
}

TEST_CASE("weights that torch packed in a layout that is not read are refused, with a way out") {
  support::Draft d;
  const ValueId x = d.user("x", {1, 64});
  const ValueId w = d.b.tensor("w", F::uint8, {1000}), y = d.b.tensor("y", F::float32, {1, 16});
  d.node("aten.full.default", {d.b.ints({1000}), d.b.integer(3), d.b.scalar_type(F::uint8)}, {w});
  d.node("aten._dyn_quant_matmul_4bit.default",
         {d.b.value(x), d.b.value(w), d.b.integer(32), d.b.integer(64), d.b.integer(16)}, {y});
  d.output(y);
  const auto lowered = to_backend<portable>(d.finish());
  REQUIRE_FALSE(lowered);
  CHECK(lowered.error().code == ErrorCode::unsupported_operator);
  CHECK(lowered.error().fix == "export the model before its weights are packed, or on x86: KleidiAI packed these");
}

TEST_CASE("weights of bytes, scaled by row of results, are multiplied in float32") {
  support::Draft d;
  const ValueId x = d.user("x", {1, 3}), scales = d.user("scales", {2});
  const ValueId w = d.b.tensor("w", F::int8, {2, 3}), y = d.b.tensor("y", F::float32, {1, 2});
  d.node("aten.full.default", {d.b.ints({2, 3}), d.b.integer(-3), d.b.scalar_type(F::int8)}, {w});
  d.node("aten._weight_int8pack_mm.default", {d.b.value(x), d.b.value(w), d.b.value(scales)}, {y});
  d.output(y);
  Session session = *Session::make(*to_backend<portable>(d.finish()));
  const auto out = session.run("forward", programs::tensor({1, 3}, {1, 2, 4}), programs::tensor({2}, {0.5, 2}));
  REQUIRE(out);
  CHECK(support::elements((*out)[0]) == std::vector<float>{-10.5, -42});
}

namespace {

/// The result of one operator on portable for `x`: `make` adds it to a program with the input x, of symbolic size.
template <class Make>
Result<std::vector<float>> of_line(std::initializer_list<float> x, Make&& make) {
  support::Draft d;
  const ValueId input = d.user("x", d.b.symbol("s0"));
  d.output(make(d, input));
  const auto lowered = to_backend<portable>(run_decompositions(d.finish()));
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const auto out = session.run("forward", programs::tensor({static_cast<std::int64_t>(x.size())}, x));
  if (!out) return std::unexpected(out.error());
  return support::elements((*out)[0]);
}

}  // namespace

TEST_CASE("the parts of a composite check their data as torch's kernels do") {
  const auto one_hot = [](support::Draft& d, ValueId x) {
    const ValueId i = d.like(x, "i", F::int64);
    d.node("aten._to_copy.default", {d.b.value(x), d.b.scalar_type(F::int64)}, {i});
    const Dim sizes[] = {{4, d.b.symbol("s0")}, {4}};
    const ValueId rows = d.b.declare({.name = d.b.text("rows"), .sizes = d.b.dims(sizes), .dtype = F::int64});
    d.node("aten.one_hot.default", {d.b.value(i), d.b.integer(4)}, {rows});
    const ValueId y = d.b.declare({.name = d.b.text("y"), .sizes = d.b.dims(sizes), .dtype = F::float32});
    d.node("aten._to_copy.default", {d.b.value(rows), d.b.scalar_type(F::float32)}, {y});
    return y;
  };
  CHECK(of_line({3, 0}, one_hot) == std::vector<float>{0, 0, 0, 1, 1, 0, 0, 0});
  CHECK(!of_line({4, 0}, one_hot));
  CHECK(!of_line({0, -1}, one_hot));
  for (const std::string_view target : {"aten.index_add.default", "aten.index_copy.default"}) {
    const auto indexed = [&](support::Draft& d, ValueId x) {
      const ValueId i = d.like(x, "i", F::int64), zeros = d.b.tensor("zeros", F::float32, {3}),
                    y = d.b.tensor("y", F::float32, {3});
      d.node("aten._to_copy.default", {d.b.value(x), d.b.scalar_type(F::int64)}, {i});
      d.node("aten.zeros.default", {d.b.ints({3})}, {zeros});
      d.node(target, {d.b.value(zeros), d.b.integer(0), d.b.value(i), d.b.value(x)}, {y});
      return y;
    };
    CHECK(of_line({2, 1}, indexed) == std::vector<float>{0, 1, 2});
    CHECK(!of_line({2, -1}, indexed));  // which index_put counts from the end
  }
  const auto entropy = [](support::Draft& d, ValueId x) {
    const ValueId y = d.b.tensor("y", F::float32, {});
    d.node("aten.binary_cross_entropy.default", {d.b.value(x), d.b.value(x)}, {y});
    return y;
  };
  CHECK(of_line({1, 0}, entropy) == std::vector<float>{0});
  CHECK(!of_line({1, 1.5f}, entropy));
  CHECK(!of_line({0, std::numeric_limits<float>::quiet_NaN()}, entropy));
}

TEST_CASE("a dimension that is empty at run time only is reduced as torch does") {
  const auto reduced = [](std::string_view target, bool dims) {
    return [=](support::Draft& d, ValueId x) {
      const ValueId y = d.b.tensor("y", F::float32, {});
      dims ? d.node(target, {d.b.value(x), d.b.ints({0})}, {y}) : d.node(target, {d.b.value(x)}, {y});
      return y;
    };
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(of_line({}, reduced("aten.logsumexp.default", true)) == std::vector<float>{-infinity});
  CHECK(of_line({-infinity, -infinity}, reduced("aten.logsumexp.default", true)) == std::vector<float>{-infinity});
  CHECK((*of_line({1, 1}, reduced("aten.logsumexp.default", true)))[0] == doctest::Approx(1.6931472));
  for (const std::string_view target : {"aten.median.default", "aten.nanmedian.default"}) {
    CHECK(std::isnan((*of_line({}, reduced(target, false)))[0]));
    CHECK(of_line({3, 1, 2, 7}, reduced(target, false)) == std::vector<float>{2});
  }
}

TEST_CASE("a reduction of a dimension that cannot be empty is not padded") {
  support::Draft d;
  const ValueId x = d.user("x", d.b.symbol("s0")), y = d.b.tensor("y", F::float32, {});
  d.node("aten.logsumexp.default", {d.b.value(x), d.b.ints({0})}, {y});
  d.output(y);
  d.program.range_constraints.push_back({"s0", 1, 8});
  CHECK(std::ranges::count(targets(run_decompositions(d.finish())), "aten.constant_pad_nd.default") == 0);
}

TEST_CASE("fill_diagonal_ of any shape, wrapped and with a value of the run") {
  const auto filled = [](std::initializer_list<std::int64_t> sizes, bool wrap, bool item) {
    support::Draft d;
    d.program.dialect = Dialect::training;
    const ValueId x = d.user("x", sizes), y = d.b.tensor("y", F::float32, sizes);
    Argument value = d.b.real(9);
    if (item) {
      const ValueId one = d.b.tensor("one", F::float32, {}),
                    number = d.b.declare({.name = d.b.text("number"), .kind = ValueKind::sym_float});
      d.node("aten.sum.default", {d.b.value(x)}, {one});
      d.node("aten.item.default", {d.b.value(one)}, {number});
      value = d.b.value(number);
    }
    d.node("aten.fill_diagonal_.default", {d.b.value(x), value, d.b.boolean(wrap)}, {y});
    d.output(d.op("aten.mul.Tensor", "z", y, {1.0}));
    const auto lowered = to_backend<portable>(d.finish());
    REQUIRE(lowered);
    Session session = *Session::make(*lowered);
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    Tensor ones = Tensor::zeros(F::float32, sizes);
    for (std::int64_t i = 0; i < count; ++i) ones.view().as<float>()[i] = 1;
    const auto out = session.run("forward", std::move(ones));
    REQUIRE(out);
    std::string places;  // of elements other than 1
    const std::vector<float> elements = support::elements(out->all().back());
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (elements[i] != 1) places += (places.empty() ? "" : " ") + std::to_string(i) + (elements[i] == 9 ? "" : "!");
    return places;
  };
  CHECK(filled({5, 2}, false, false) == "0 3");
  CHECK(filled({5, 2}, true, false) == "0 3 6 9");
  CHECK(filled({2, 5}, true, false) == "0 6");
  CHECK(filled({3, 3, 3}, false, false) == "0 13 26");
  CHECK(filled({9, 1}, true, true) == "0 2 4 6 8");
  CHECK(filled({3, 3}, false, true) == "0 4 8");
}

TEST_CASE("rms_norm also returns its factor") {
  support::Draft d;
  const ValueId x = d.user("x", {2, 3}), w = d.user("w", {3});
  const ValueId y = d.b.tensor("y", F::float32, {2, 3}), r = d.b.tensor("r", F::float32, {2, 1});
  d.node("aten._fused_rms_norm.default", {d.b.value(x), d.b.ints({3}), d.b.value(w), d.b.real(1.0)}, {y, r});
  d.output(y);
  d.output(r);
  Session session = *Session::make(*to_backend<portable>(d.finish()));
  const auto out =
      session.run("forward", programs::tensor({2, 3}, {1, 2, 2, 0, 0, 0}), programs::tensor({3}, {2, 4, 6}));
  REQUIRE(out);
  CHECK(support::elements((*out)[0]) == std::vector<float>{1, 4, 6, 0, 0, 0});
  CHECK(support::elements((*out)[1]) == std::vector<float>{0.5, 1});
}

TEST_CASE("grouped products take rows, columns or parts of the sum up to each group's end") {
  const auto product = [](std::initializer_list<std::int64_t> left, std::initializer_list<std::int64_t> right,
                          std::initializer_list<std::int64_t> result, std::initializer_list<float> a,
                          std::initializer_list<float> b, std::int32_t first_end, std::int32_t end) {
    support::Draft d;
    const ValueId x = d.user("x", left), y = d.user("y", right);
    d.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{"offs"}});
    const ValueId offs = d.b.input("offs", F::int32, {2});
    const ValueId out = d.b.tensor("out", F::float32, result);
    d.node("aten._grouped_mm.default", {d.b.value(x), d.b.value(y), d.b.value(offs)}, {out});
    d.output(out);
    const auto lowered = to_backend<portable>(d.finish());
    REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
    Session session = *Session::make(*lowered);
    Tensor ends = Tensor::zeros(F::int32, std::vector<std::int64_t>{2});
    ends.view().as<std::int32_t>()[0] = first_end;
    ends.view().as<std::int32_t>()[1] = end;
    const auto made = session.run("forward", programs::tensor(left, a), programs::tensor(right, b), ends);
    REQUIRE_MESSAGE(made, (made ? std::string() : to_string(made.error())));
    return support::elements((*made)[0]);
  };
  using Floats = std::vector<float>;
  // rows 0 | 1, 2
  CHECK(product({3, 2}, {2, 2, 1}, {3, 1}, {1, 2, 3, 4, 5, 6}, {1, 1, 10, 100}, 1, 3) == Floats{3, 430, 650});
  // an empty group
  CHECK(product({3, 2}, {2, 2, 1}, {3, 1}, {1, 2, 3, 4, 5, 6}, {1, 1, 10, 100}, 0, 3) == Floats{210, 430, 650});
  // columns 0, 1 | 2
  CHECK(product({2, 1, 2}, {2, 3}, {1, 3}, {1, 1, 10, 100}, {1, 2, 3, 4, 5, 6}, 2, 3) == Floats{5, 7, 630});
  // parts of the sum 0 | 1, 2
  CHECK(product({1, 3}, {3, 1}, {2, 1, 1}, {1, 2, 3}, {4, 5, 6}, 1, 3) == Floats{4, 28});
}

TEST_CASE("whether a tensor is contiguous is known before the program runs") {
  for (const bool is_plain : {true, false}) {
    GraphBuilder b;
    b.begin_graph();
    const Dim sizes[] = {{.value = 2}, {.value = 3}};
    const Dim strides[] = {{.value = is_plain ? 3 : 1}, {.value = is_plain ? 1 : 2}};
    const ValueId x =
        b.declare({.name = b.text("x"), .sizes = b.dims(sizes), .strides = b.dims(strides), .dtype = F::float32});
    b.input(b.value(x));
    const ValueId truth = b.declare({.name = b.text("truth"), .kind = ValueKind::sym_bool});
    const Argument input = b.value(x), output = b.value(truth);
    b.node("aten.sym_is_contiguous.default", {&input, 1}, {&output, 1});
    b.end_graph({truth});
    const ExportedProgram made = run_decompositions(programs::user_program(std::move(b).finish()));
    REQUIRE(is_sound(made));
    REQUIRE(targets(made) == Texts{"_operator.eq"});
    const std::span<const Argument> compared = made.view().inputs(made.view().nodes[0]);
    CHECK((compared[0].payload == compared[1].payload) == is_plain);
  }
}

TEST_CASE("a resize stays one operator, whose kernel reads the taps, and no product with a matrix of weights") {
  const auto resized = [](std::string_view target, std::initializer_list<std::int64_t> sizes,
                          std::initializer_list<std::int64_t> to, std::initializer_list<std::int64_t> result,
                          bool has_corners) {
    support::Draft d;
    const ValueId x = d.user("x", sizes), y = d.b.tensor("y", F::float32, result);
    std::vector<Argument> arguments{d.b.value(x), d.b.ints(to)};
    if (has_corners) arguments.push_back(d.b.boolean(false));
    arguments.push_back(d.b.none());
    d.b.node(target, arguments, std::vector<Argument>{d.b.value(y)}, d.metadata);
    d.output(y);
    Diagnostics diagnostics;
    const auto lowered = to_backend(d.finish(), CapabilityPartitioner<BackendList<portable>>(), {}, &diagnostics);
    REQUIRE(lowered);
    Texts found;
    for (const PartitionReport::Node& node : diagnostics.reports.at(0).nodes)
      found.push_back(std::string(node.target.view()));
    return found;
  };
  for (const char* const target :
       {"aten.upsample_bicubic2d.vec", "aten._upsample_bicubic2d_aa.vec", "aten._upsample_bilinear2d_aa.vec"})
    CHECK(resized(target, {1, 2, 8, 8}, {5, 13}, {1, 2, 5, 13}, true) == Texts{target});
  CHECK(resized("aten._upsample_nearest_exact1d.vec", {1, 2, 8}, {5}, {1, 2, 5}, false) ==
        Texts{"aten._upsample_nearest_exact1d.vec"});
  CHECK(resized("aten._upsample_nearest_exact2d.vec", {1, 2, 8, 8}, {5, 13}, {1, 2, 5, 13}, false) ==
        Texts{"aten._upsample_nearest_exact2d.vec"});
}
