// SPDX-License-Identifier: MIT
#include "davit/program/printer.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../programs.hpp"

using namespace davit;

namespace {
constexpr auto f32 = ScalarType::float32;
std::string printed(GraphBuilder b) { return print_graph(std::move(b).finish().view()); }
}  // namespace

TEST_CASE("the example of torch's documentation prints as torch prints it") {
  CHECK(print_graph(programs::seed_graph().view()) ==
        "graph():\n"
        "    %p_my_parameter : [num_users=1] = placeholder[target=p_my_parameter]\n"
        "    %b_my_buffer1 : [num_users=1] = placeholder[target=b_my_buffer1]\n"
        "    %b_my_buffer2 : [num_users=2] = placeholder[target=b_my_buffer2]\n"
        "    %x1 : [num_users=1] = placeholder[target=x1]\n"
        "    %x2 : [num_users=1] = placeholder[target=x2]\n"
        "    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x1, %p_my_parameter), "
        "kwargs = {})\n"
        "    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%add, %b_my_buffer1), "
        "kwargs = {})\n"
        "    %mul_1 : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x2, %b_my_buffer2), "
        "kwargs = {})\n"
        "    %add_1 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul, %mul_1), kwargs = "
        "{})\n"
        "    %add_2 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%b_my_buffer2, 1.0), "
        "kwargs = {})\n"
        "    return (add_2, add_1)\n");
}

TEST_CASE("values are printed with their types on request, and arguments alone") {
  GraphBuilder b;
  b.begin_graph();
  const ExprId s = b.symbol("s0");
  const ExprId twice = b.expr({.op = ExprOp::add, .a = s, .b = s, .name = {}});
  const Dim dims[] = {{.value = 4, .expr = s}, {.value = 8, .expr = twice}, {.value = 2}};
  const ValueId x = b.declare({.name = b.text("x"), .sizes = b.dims(dims), .dtype = ScalarType::int64});
  b.input(b.value(x));
  const ValueId values = b.tensor("values", ScalarType::int64, {2}), indices = b.tensor("i", ScalarType::int64, {2});
  const Argument in[] = {b.value(x), b.integer(-1)};
  const Argument out[] = {b.value(values), b.value(indices)};
  b.node("aten.max.dim", in, out);
  b.end_graph({values});
  const GraphModule module = std::move(b).finish();
  const GraphModuleView graph = module.view();
  CHECK(
      print_graph(graph, PrintTypes::yes) ==
      "graph():\n"
      "    %x : int64[s0, s0 + s0, 2] [num_users=1] = placeholder[target=x]\n"
      "    %values, %i : (int64[2], int64[2]) [num_users=(1, 0)] = call_function[target=torch.ops.aten.max.dim](args = "
      "(%x, -1), kwargs = {})\n"
      "    return (values,)\n");
  CHECK(print_argument(graph, graph.inputs(graph.nodes[0])[1]) == "-1");
  CHECK(print_argument(graph, graph.inputs(graph.nodes[0])[0]) == "%x");
  CHECK(type_text(graph, {.kind = ValueKind::token}) == "token");
}

TEST_CASE("mutated buffers and inputs: arguments after a gap go by keyword, lists may be empty") {
  GraphBuilder b;
  b.begin_graph();
  const auto w = b.input("p_w", f32, {3});
  const auto count = b.input("b_count", ScalarType::int64, {});
  const auto hist = b.input("b_hist", f32, {3});
  const auto x = b.input("x", f32, {3});
  const auto call = [&](std::string_view target, std::initializer_list<Arg> in, std::string_view name) {
    return b.call(target, in, name, f32, {3});
  };
  const auto add = call("aten.add.Tensor", {{"self", b.value(count)}, {"other", b.integer(1)}}, "add");
  const auto mul = call("aten.mul.Tensor", {{"self", b.value(hist)}, {"other", b.real(0.5)}}, "mul");
  const auto add_1 = call("aten.add.Tensor", {{"self", b.value(mul)}, {"other", b.value(x)}}, "add_1");
  const auto clamp = call("aten.clamp.default", {{"self", b.value(x)}, {"min", b.real(0)}}, "clamp");
  const auto mul_1 = call("aten.mul.Tensor", {{"self", b.value(clamp)}, {"other", b.value(w)}}, "mul_1");
  const auto sum = call("aten.sum.dim_IntList", {{"self", b.value(mul_1)}, {"dim", b.ints({})}}, "sum_1");
  const auto add_2 = call("aten.add.Tensor", {{"self", b.value(sum)}, {"other", b.value(add)}}, "add_2");
  b.end_graph({add, add_1, clamp, add_2});
  CHECK(
      printed(std::move(b)) ==
      "graph():\n"
      "    %p_w : [num_users=1] = placeholder[target=p_w]\n"
      "    %b_count : [num_users=1] = placeholder[target=b_count]\n"
      "    %b_hist : [num_users=1] = placeholder[target=b_hist]\n"
      "    %x : [num_users=2] = placeholder[target=x]\n"
      "    %add : [num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%b_count, 1), kwargs = {})\n"
      "    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%b_hist, 0.5), kwargs = {})\n"
      "    %add_1 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul, %x), kwargs = {})\n"
      "    %clamp : [num_users=2] = call_function[target=torch.ops.aten.clamp.default](args = (%x,), kwargs = {min: "
      "0.0})\n"
      "    %mul_1 : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%clamp, %p_w), kwargs = "
      "{})\n"
      "    %sum_1 : [num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%mul_1, []), kwargs = "
      "{})\n"
      "    %add_2 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%sum_1, %add), kwargs = "
      "{})\n"
      "    return (add, add_1, clamp, add_2)\n");
}

TEST_CASE("constant outputs and keyword arguments of every kind print as torch prints them") {
  GraphBuilder b;
  b.begin_graph();
  const auto x = b.input("x", f32, {});
  const Argument layout{.payload = static_cast<std::int64_t>(Layout::strided), .kind = ArgumentKind::layout};
  const auto range = b.call("aten.arange.start_step",
                            {{"start", b.integer(0)},
                             {"end", b.integer(4)},
                             {"dtype", b.scalar_type(f32)},
                             {"layout", layout},
                             {"device", b.string("cpu", ArgumentKind::device)},
                             {"pin_memory", b.boolean(false)}},
                            "arange", f32, {4});
  const Argument format{.payload = static_cast<std::int64_t>(MemoryFormat::contiguous),
                        .kind = ArgumentKind::memory_format};
  const auto clone = b.call("aten.clone.default", {{"self", b.value(x)}, {"memory_format", format}}, "clone", f32, {});
  const auto infinite =
      b.call("aten.scalar_tensor.default", {{"s", b.real(-std::numeric_limits<double>::infinity())}}, "inf", f32, {});
  const auto gelu =
      b.call("aten.gelu.default", {{"self", b.value(clone)}, {"approximate", b.string("tanh")}}, "gelu", f32, {});
  const Argument outputs[] = {b.value(range),    b.integer(3),  b.real(2.5),  b.none(),
                              b.value(infinite), b.value(gelu), b.integer(-7)};
  b.end_graph(outputs);
  CHECK(printed(std::move(b)) ==
        "graph():\n"
        "    %x : [num_users=1] = placeholder[target=x]\n"
        "    %arange : [num_users=1] = call_function[target=torch.ops.aten.arange.start_step](args = (0, 4), kwargs = "
        "{dtype: "
        "torch.float32, layout: torch.strided, device: cpu, pin_memory: False})\n"
        "    %clone : [num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%x,), kwargs = "
        "{memory_format: "
        "torch.contiguous_format})\n"
        "    %inf : [num_users=1] = call_function[target=torch.ops.aten.scalar_tensor.default](args = (-inf,), kwargs "
        "= {})\n"
        "    %gelu : [num_users=1] = call_function[target=torch.ops.aten.gelu.default](args = (%clone,), kwargs = "
        "{approximate: "
        "tanh})\n"
        "    return (arange, 3, 2.5, None, inf, gelu, -7)\n");
}

TEST_CASE("sub-graphs follow the graph that uses them, indented, and symbolic arithmetic is Python's") {
  GraphBuilder b;
  b.begin_graph();
  const auto x = b.input("x", f32, {4});
  const ValueId size = b.declare({.name = b.text("sym_size_int_1"), .kind = ValueKind::sym_int});
  const Argument size_in[] = {{.name = b.text("self"), .payload = x, .kind = ArgumentKind::value},
                              {.name = b.text("dim"), .kind = ArgumentKind::int_}};
  const Argument size_out[] = {b.value(size)};
  b.node("aten.sym_size.int", size_in, size_out);
  const ValueId gt = b.declare({.name = b.text("gt"), .kind = ValueKind::sym_bool});
  const Argument gt_in[] = {b.value(size), b.integer(4)};
  const Argument gt_out[] = {b.value(gt)};
  b.node("_operator.gt", gt_in, gt_out);
  const GraphId yes = b.begin_graph("true_graph_0");
  b.end_graph({b.call("aten.sin.default", {{"self", b.value(b.input("x", f32, {4}))}}, "sin", f32, {4})});
  const GraphId no = b.begin_graph("false_graph_0");
  b.end_graph({b.call("aten.cos.default", {{"self", b.value(b.input("x", f32, {4}))}}, "cos", f32, {4})}, true);
  const auto out =
      b.call("higher_order.cond",
             {{"", b.value(gt)}, {"", b.subgraph(yes)}, {"", b.subgraph(no)}, {"", b.tensors({x})}}, "cond", f32, {4});
  b.end_graph({out});
  CHECK(printed(std::move(b)) ==
        "graph():\n"
        "    %x : [num_users=2] = placeholder[target=x]\n"
        "    %sym_size_int_1 : [num_users=1] = call_function[target=torch.ops.aten.sym_size.int](args = (%x, 0), "
        "kwargs = {})\n"
        "    %gt : [num_users=1] = call_function[target=operator.gt](args = (%sym_size_int_1, 4), kwargs = {})\n"
        "    %true_graph_0 : [num_users=1] = get_attr[target=true_graph_0]\n"
        "    %false_graph_0 : [num_users=1] = get_attr[target=false_graph_0]\n"
        "    %cond : [num_users=1] = call_function[target=torch.ops.higher_order.cond](args = (%gt, %true_graph_0, "
        "%false_graph_0, "
        "[%x]), kwargs = {})\n"
        "    return (cond,)\n"
        "    true_graph_0 = graph():\n"
        "        %x : [num_users=1] = placeholder[target=x]\n"
        "        %sin : [num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%x,), kwargs = {})\n"
        "        return (sin,)\n"
        "    false_graph_0 = graph():\n"
        "        %x : [num_users=1] = placeholder[target=x]\n"
        "        %cos : [num_users=1] = call_function[target=torch.ops.aten.cos.default](args = (%x,), kwargs = {})\n"
        "        return cos\n");
}

TEST_CASE(
    "a node with several outputs names them all; one without has no name; unknown operators follow the file's "
    "keywords") {
  GraphBuilder b;
  b.begin_graph();
  const auto x = b.input("x", f32, {4});
  const auto values = b.tensor("values", f32, {2});
  const auto indices = b.tensor("indices", ScalarType::int64, {2});
  const Argument in[] = {{.name = b.text("self"), .payload = x, .kind = ArgumentKind::value},
                         {.name = b.text("k"), .payload = 2, .kind = ArgumentKind::int_}};
  const Argument out[] = {b.value(values), b.value(indices)};
  b.node("aten.topk.default", in, out);
  Argument keyword = b.string("hi");
  keyword.name = b.text("msg");
  keyword.keyword = 1;
  const Argument custom[] = {b.value(values), keyword};
  b.node("my.print.default", custom, {});
  b.end_graph({values});
  CHECK(printed(std::move(b)) ==
        "graph():\n"
        "    %x : [num_users=1] = placeholder[target=x]\n"
        "    %values, %indices : [num_users=(2, 0)] = call_function[target=torch.ops.aten.topk.default](args = (%x, "
        "2), kwargs = {})\n"
        "    call_function[target=torch.ops.my.print.default](args = (%values,), kwargs = {msg: hi})\n"
        "    return (values,)\n");
}
