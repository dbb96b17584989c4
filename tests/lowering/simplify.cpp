// SPDX-License-Identifier: MIT
#include "davit/lowering/simplify.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/program/verify.hpp"
#include "support/net.hpp"

using namespace davit;
using support::Net;

namespace {

using Texts = std::vector<std::string>;

Texts targets(const ExportedProgram& program) {
  Texts out;
  for (const Node& node : program.view().nodes) out.emplace_back(program.view().target(node));
  return out;
}
/// The operators of the simplified program, which must verify; composites that portable takes become whole again.
Texts left(const ExportedProgram& program) {
  const DecomposeOptions portable_takes{.backends = BackendList<portable>::tables()};
  const std::optional<ExportedProgram> made = simplified(program, &portable_takes, true);
  if (!made) return targets(program);
  CHECK(verify(*made, {.allow_unknown_operators = true}).empty());
  CHECK(!made->view().graphs.empty());
  return targets(*made);
}

/// An operator with bool results on a value and possibly a number, and where() with them; all of [2, 3].
ValueId tested(Net& n, std::string_view target, std::string_view name, ValueId v, std::optional<double> against) {
  const ValueId made = n.draft.b.tensor(name, ScalarType::bool_, {2, 3});
  Argument in[] = {n.v(v), GraphBuilder::real(against.value_or(0))};
  in[0].name = n.draft.b.text("self");
  in[1].name = n.draft.b.text("other");
  const Argument out = GraphBuilder::value(made);
  n.draft.b.node(target, std::span<const Argument>(in, against ? 2 : 1), {&out, 1}, n.draft.metadata);
  return made;
}
ValueId chosen(Net& n, std::string_view name, ValueId condition, ValueId yes, ValueId no) {
  return n.op("aten.where.self", name, {2, 3}, {{"condition", n.v(condition)}, {"self", n.v(yes)}, {"other", n.v(no)}});
}

}  // namespace

TEST_CASE("a chain of views is one, and none if it ends in the sizes that it began with") {
  Net n;
  const auto x = n.input("x", {2, 3, 4});
  const auto flat = n.op("aten.view.default", "flat", {24}, {{"self", n.v(x)}, {"size", n.ints({24})}});
  const auto line = n.op("aten.unsqueeze.default", "line", {24, 1}, {{"self", n.v(flat)}, {"dim", n.i(1)}});
  const auto copy = n.op("aten.clone.default", "copy", {24, 1}, {{"self", n.v(line)}});
  const auto back = n.op("aten.view.default", "back", {2, 3, 4}, {{"self", n.v(copy)}, {"size", n.ints({2, 3, 4})}});
  const auto other = n.op("aten.view.default", "other", {6, 4}, {{"self", n.v(copy)}, {"size", n.ints({6, 4})}});
  const auto a = n.relu("a", back, {2, 3, 4});
  const auto b = n.relu("b", other, {6, 4});
  CHECK(left(n.finish({a, b})) == Texts{"aten.view.default", "aten.relu.default", "aten.relu.default"});
}

TEST_CASE("a program with arguments in another order, or dimensions that a tensor does not have, is left as it is") {
  const auto is_left = [](auto&& call) {
    Net n;
    const auto x = n.input("x", {2, 3});
    const auto v = n.op("aten.view.default", "v", {6}, {{"self", n.v(x)}, {"size", n.ints({6})}});
    const auto w = n.op("aten.view.default", "w", {2, 3}, {{"self", n.v(v)}, {"size", n.ints({2, 3})}});  // a 2nd node
    return left(n.finish({call(n, w)})).size() == 3;
  };
  const auto transposed = [&](std::int64_t dim) {
    return is_left([dim](Net& n, auto w) {
      return n.op("aten.transpose.int", "y", {3, 2}, {{"self", n.v(w)}, {"dim0", n.i(dim)}, {"dim1", n.i(0)}});
    });
  };
  CHECK_FALSE(transposed(1));
  CHECK_FALSE(transposed(-1));
  for (const std::int64_t dim : {std::int64_t{2}, std::int64_t{-3}, std::int64_t{1} << 40}) {
    CAPTURE(dim);
    CHECK(transposed(dim));
    CHECK(is_left([dim](Net& n, auto w) {
      return n.op("aten.permute.default", "y", {3, 2}, {{"self", n.v(w)}, {"dims", n.ints({0, dim})}});
    }));
    CHECK(is_left([dim](Net& n, auto w) {
      return n.op("aten.slice.Tensor", "y", {1, 3},
                  {{"self", n.v(w)}, {"dim", n.i(dim)}, {"start", n.i(0)}, {"end", n.i(1)}});
    }));
  }
  // an argument in another place, as PyTorch allows; a product with an impossible rank
  CHECK(is_left([](Net& n, auto w) {
    return n.op("aten.transpose.int", "y", {3, 2}, {{"dim0", n.i(0)}, {"self", n.v(w)}, {"dim1", n.i(1)}});
  }));
  CHECK(is_left([](Net& n, auto w) { return n.op("aten.mm.default", "y", {}, {{"self", n.v(w)}, {"mat2", n.v(w)}}); }));
}

TEST_CASE("permutes are merged; a permute that moves only dimensions of size 1 is a view") {
  Net n;
  const auto x = n.input("x", {2, 3, 1});
  const auto p = n.op("aten.permute.default", "p", {3, 2, 1}, {{"self", n.v(x)}, {"dims", n.ints({1, 0, 2})}});
  const auto q = n.op("aten.transpose.int", "q", {2, 3, 1}, {{"self", n.v(p)}, {"dim0", n.i(0)}, {"dim1", n.i(1)}});
  const auto r = n.op("aten.permute.default", "r", {2, 1, 3}, {{"self", n.v(q)}, {"dims", n.ints({0, 2, 1})}});
  const auto y = n.relu("y", q, {2, 3, 1});
  const auto z = n.relu("z", r, {2, 1, 3});
  CHECK(left(n.finish({y, z})) == Texts{"aten.view.default", "aten.relu.default", "aten.relu.default"});
}

TEST_CASE("outputs keep their storage: a copy of an input stays a copy, a view of the copy too") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto copy = n.op("aten.clone.default", "copy", {2, 3}, {{"self", n.v(x)}});
  const auto view = n.op("aten.view.default", "view", {6}, {{"self", n.v(copy)}, {"size", n.ints({6})}});
  const auto same = n.op("aten.view.default", "same", {2, 3}, {{"self", n.v(x)}, {"size", n.ints({2, 3})}});
  CHECK(left(n.finish({view, same})) == Texts{"aten.clone.default", "aten.view.default", "aten.view.default"});
}

TEST_CASE("equal nodes are merged, and unused nodes go; random numbers are drawn as often as before") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto a = n.relu("a", x, {2, 3});
  const auto b = n.relu("b", x, {2, 3});
  const auto unused = n.op("aten.view.default", "unused", {6}, {{"self", n.v(a)}, {"size", n.ints({6})}});
  (void)unused;
  const auto r = n.op("aten.rand_like.default", "r", {2, 3}, {{"self", n.v(x)}});
  const auto s = n.op("aten.rand_like.default", "s", {2, 3}, {{"self", n.v(x)}});
  const auto sum = n.add("sum", n.add("ab", a, b, {2, 3}), n.add("rs", r, s, {2, 3}), {2, 3});
  CHECK(left(n.finish({sum})) == Texts{"aten.relu.default", "aten.rand_like.default", "aten.rand_like.default",
                                       "aten.add.Tensor", "aten.add.Tensor", "aten.add.Tensor"});
}

TEST_CASE("the decomposition of a linear is a linear again") {
  Net n;
  const auto x = n.input("x", {2, 3, 4});
  const auto w = n.weight("w", {5, 4});
  const auto bias = n.weight("bias", {5});
  const auto rows = n.op("aten.view.default", "rows", {6, 4}, {{"self", n.v(x)}, {"size", n.ints({6, 4})}});
  const auto turned = n.op("aten.permute.default", "turned", {4, 5}, {{"self", n.v(w)}, {"dims", n.ints({1, 0})}});
  const auto product =
      n.op("aten.addmm.default", "product", {6, 5}, {{"self", n.v(bias)}, {"mat1", n.v(rows)}, {"mat2", n.v(turned)}});
  const auto y = n.op("aten.view.default", "y", {2, 3, 5}, {{"self", n.v(product)}, {"size", n.ints({2, 3, 5})}});
  const auto z = n.relu("z", y, {2, 3, 5});
  const ExportedProgram program = n.finish({z});
  CHECK(left(program) == Texts{"aten.linear.default", "aten.relu.default"});
  CHECK(targets(simplified(program).value_or(program)).size() > 2);  // no backend takes linears
}

TEST_CASE("the decompositions of a masked softmax and of an elu are these operators again") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto number = [](double d) { return GraphBuilder::real(d); };
  const auto soft = n.op("aten._softmax.default", "soft", {2, 3},
                         {{"self", n.v(x)}, {"dim", n.i(1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const auto truth = [&](std::string_view target, std::string_view name, support::Sizes sizes,
                         std::initializer_list<Net::Named> more) {
    std::vector<Argument> in;
    for (const auto& [parameter, argument] : more) {
      in.push_back(argument);
      in.back().name = n.draft.b.text(parameter);
    }
    const ValueId made = n.draft.b.tensor(name, ScalarType::bool_, sizes);
    const Argument out = GraphBuilder::value(made);
    n.draft.b.node(target, in, {&out, 1}, n.draft.metadata);
    return made;
  };
  const auto none = truth("aten.eq.Scalar", "none", {2, 3}, {{"self", n.v(x)}, {"other", number(-INFINITY)}});
  const auto some = truth("aten.logical_not.default", "some", {2, 3}, {{"self", n.v(none)}});
  const auto any = truth("aten.any.dim", "any", {2, 1},
                         {{"self", n.v(some)}, {"dim", n.i(1)}, {"keepdim", GraphBuilder::boolean(true)}});
  const auto empty = truth("aten.logical_not.default", "empty", {2, 1}, {{"self", n.v(any)}});
  const auto zeros = n.op("aten.full_like.default", "zeros", {2, 3}, {{"self", n.v(soft)}, {"fill_value", n.i(0)}});
  const auto p =
      n.op("aten.where.self", "p", {2, 3}, {{"condition", n.v(empty)}, {"self", n.v(zeros)}, {"other", n.v(soft)}});
  CHECK(left(n.finish({p})) == Texts{"aten._safe_softmax.default"});
}

TEST_CASE("a filled tensor is one operator, a constant if its sizes are known") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto zeros = n.op("aten.zeros_like.default", "zeros", {2, 3}, {{"self", n.v(x)}});
  const auto ones = n.op("aten.ones.default", "ones", {2, 3}, {{"size", n.ints({2, 3})}});
  const auto twos = n.op("aten.full_like.default", "twos", {2, 3}, {{"self", n.v(x)}, {"fill_value", n.i(2)}});
  const auto again = n.op("aten.zeros.default", "again", {2, 3}, {{"size", n.ints({2, 3})}});
  const auto sum = n.add("sum", n.add("a", zeros, ones, {2, 3}), n.add("b", twos, again, {2, 3}), {2, 3});
  CHECK(left(n.finish({sum})) == Texts{"aten.full.default", "aten.full.default", "aten.full.default", "aten.add.Tensor",
                                       "aten.add.Tensor", "aten.add.Tensor"});
}

TEST_CASE("operators without effect go: factors of 1, copies over the whole of a tensor") {
  Net n;
  const auto x = n.input("x", {2, 3}), y = n.input("y", {2, 3});
  const auto a = n.op("aten.mul.Tensor", "a", {2, 3}, {{"self", n.v(x)}, {"other", GraphBuilder::real(1)}});
  const auto b = n.op("aten.div.Tensor", "b", {2, 3}, {{"self", n.v(a)}, {"other", n.i(1)}});
  const auto c = n.op("aten.sub.Tensor", "c", {2, 3}, {{"self", n.v(b)}, {"other", n.i(0)}});
  const auto copy = n.op("aten.copy.default", "copy", {2, 3}, {{"self", n.v(y)}, {"src", n.v(c)}});
  const auto whole = n.op("aten.slice_scatter.default", "whole", {2, 3},
                          {{"self", n.v(y)}, {"src", n.v(copy)}, {"dim", n.i(1)}, {"start", n.i(0)}, {"end", n.i(3)}});
  const auto half = n.op("aten.mul.Tensor", "half", {2, 3}, {{"self", n.v(whole)}, {"other", GraphBuilder::real(0.5)}});
  const auto none = n.op("aten.sub.Tensor", "none", {2, 3}, {{"self", n.v(x)}, {"other", n.i(1)}});
  CHECK(left(n.finish({half, none})) == Texts{"aten.mul.Tensor", "aten.sub.Tensor"});
}

TEST_CASE("permutes around unsqueeze and squeeze are merged") {
  Net n;
  const auto x = n.input("x", {2, 3, 4});
  const auto wide = n.op("aten.view.default", "wide", {2, 3, 1, 4}, {{"self", n.v(x)}, {"size", n.ints({2, 3, 1, 4})}});
  const auto turned =
      n.op("aten.permute.default", "turned", {3, 2, 4, 1}, {{"self", n.v(wide)}, {"dims", n.ints({1, 0, 3, 2})}});
  const auto y = n.op("aten.view.default", "y", {3, 2, 4}, {{"self", n.v(turned)}, {"size", n.ints({3, 2, 4})}});
  const auto z = n.relu("z", y, {3, 2, 4});
  const ExportedProgram program = n.finish({z});
  CHECK(left(program) == Texts{"aten.permute.default", "aten.relu.default"});
  const ExportedProgram made = simplified(program).value();
  const GraphModuleView graph = made.view();
  std::vector<std::int64_t> dims;
  for (const Argument& d : graph.args(graph.inputs(graph.nodes[0])[1].items)) dims.push_back(d.payload);
  CHECK(dims == std::vector<std::int64_t>{1, 0, 2});
}

TEST_CASE("a permute of a view loses the dimensions of size 1 that come and go around it") {
  Net n;
  const auto x = n.input("x", {6, 2, 12});
  const auto heads =
      n.op("aten.view.default", "heads", {6, 2, 3, 4}, {{"self", n.v(x)}, {"size", n.ints({6, 2, 3, 4})}});
  const auto wide = n.op("aten.unsqueeze.default", "wide", {1, 6, 2, 3, 4}, {{"self", n.v(heads)}, {"dim", n.i(0)}});
  const auto turned =
      n.op("aten.permute.default", "turned", {3, 6, 2, 1, 4}, {{"self", n.v(wide)}, {"dims", n.ints({3, 1, 2, 0, 4})}});
  const auto narrow = n.op("aten.squeeze.dims", "narrow", {3, 6, 2, 4}, {{"self", n.v(turned)}, {"dim", n.ints({-2})}});
  const ExportedProgram program = n.finish({n.relu("out", narrow, {3, 6, 2, 4})});
  CHECK(left(program) == Texts{"aten.view.default", "aten.permute.default", "aten.relu.default"});
  const ExportedProgram made = simplified(program).value();
  const GraphModuleView graph = made.view();
  std::vector<std::int64_t> dims;
  for (const Argument& d : graph.args(graph.inputs(graph.nodes[1])[1].items)) dims.push_back(d.payload);
  CHECK(dims == std::vector<std::int64_t>{2, 0, 1, 3});
}

TEST_CASE(
    "operators are read in every form that they have: a transpose is a permutation, a dimension counts from either "
    "end") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto wide = n.op("aten.view.default", "wide", {2, 1, 3}, {{"self", n.v(x)}, {"size", n.ints({2, 1, 3})}});
  const auto turned =
      n.op("aten.transpose.int", "turned", {3, 1, 2}, {{"self", n.v(wide)}, {"dim0", n.i(0)}, {"dim1", n.i(-1)}});
  const auto y = n.op("aten.squeeze.default", "y", {3, 2}, {{"self", n.v(turned)}});
  const auto same = n.op("aten.detach.default", "same", {3, 2}, {{"self", n.v(y)}});
  const auto first = n.relu("first", same, {3, 2});
  CHECK(left(n.finish({first})) == Texts{"aten.permute.default", "aten.relu.default"});

  Net m;
  const auto a = m.input("a", {4, 3});
  const auto flipped = m.op("aten.flip.default", "flipped", {4, 3}, {{"self", m.v(a)}, {"dims", m.ints({-2})}});
  const auto row = m.op("aten.slice.Tensor", "row", {1, 3},
                        {{"self", m.v(flipped)}, {"dim", m.i(0)}, {"start", m.i(-1)}, {"end", m.i(4)}});
  const auto b = m.relu("b", row, {1, 3});
  const ExportedProgram program = m.finish({b});
  CHECK(left(program) == Texts{"aten.slice.Tensor", "aten.relu.default"});
  const GraphModule made = simplified(program).value().graph_module;
  CHECK(made.view().find_input(made.nodes[0], "start")->payload == 0);
}

TEST_CASE("clone(view(v)) as an output is the view if v is the program's own") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto view = [&](const char* name, ValueId v) {
    return n.op("aten.view.default", name, {6}, {{"self", n.v(v)}, {"size", n.ints({6})}});
  };
  const auto copy = [&](const char* name, ValueId v) {
    return n.op("aten.clone.default", name, {6}, {{"self", n.v(v)}});
  };
  const auto a = n.relu("a", x, {2, 3});
  const auto own = copy("own", view("line", a));
  const auto second = copy("second", view("other", a));  // may not share storage with the first
  const auto input = copy("input", view("passed", x));
  CHECK(left(n.finish({own, second, input})) == Texts{"aten.relu.default", "aten.view.default", "aten.view.default",
                                                      "aten.clone.default", "aten.view.default", "aten.clone.default"});
}

TEST_CASE("a size is asked of the input that has it, and not where the other sizes tell it") {
  Net n;
  const auto x = n.input("x", {4, 6});
  const auto y = n.relu("y", x, {4, 6});
  const auto rows = n.op("aten.sym_size.int", "rows", {}, {{"self", n.v(y)}, {"dim", n.i(0)}});
  const Argument to[] = {n.v(rows), n.i(2), n.i(3)};
  const auto z =
      n.op("aten.view.default", "z", {4, 2, 3}, {{"self", n.v(y)}, {"size", n.draft.b.list(to, ArgumentKind::value)}});
  ExportedProgram program = n.finish({n.relu("w", z, {4, 2, 3}), rows});
  GraphModule& m = program.graph_module;
  m.exprs.push_back({.op = ExprOp::symbol, .name = m.values[x].name});
  const auto symbol = static_cast<ExprId>(m.exprs.size() - 1);
  for (const ValueId v : {x, y, z}) m.dims[m.values[v].sizes.first] = {.value = 4, .expr = symbol};
  m.values[rows].kind = ValueKind::sym_int;
  m.values[rows].expr = symbol;
  const ExportedProgram made = simplified(program).value();
  const GraphModuleView graph = made.view();
  REQUIRE(targets(made) == Texts{"aten.relu.default", "aten.sym_size.int", "aten.view.default", "aten.relu.default"});
  CHECK(graph.name(graph.inputs(graph.nodes[1])[0].value()) == "x");
  CHECK(graph.args(graph.inputs(graph.nodes[2])[1].items)[0].payload == -1);
}

TEST_CASE("an index by computed numbers becomes a padding or a resizing, if the numbers allow it") {
  Net n;
  // a vector, or a tensor with such a dimension, of any dtype
  const auto make = [&](ScalarType type, std::string_view target, std::string_view name, support::Sizes sizes,
                        std::initializer_list<Net::Named> arguments) {
    std::vector<Argument> in;
    for (const auto& [parameter, argument] : arguments) {
      in.push_back(argument);
      in.back().name = n.draft.b.text(parameter);
    }
    const ValueId made = n.draft.b.tensor(name, type, sizes);
    const Argument out = GraphBuilder::value(made);
    n.draft.b.node(target, in, {&out, 1}, n.draft.metadata);
    return made;
  };
  const auto take = [&](std::string_view name, ValueId x, std::initializer_list<Argument> indices,
                        support::Sizes sizes) {
    const Argument list = n.draft.b.list(std::span(indices.begin(), indices.size()), ArgumentKind::value);
    return n.op("aten.index.Tensor", name, sizes, {{"self", n.v(x)}, {"indices", list}});
  };
  const auto whole = ScalarType::int64;
  const auto real = [](double d) { return GraphBuilder::real(d); };
  const Argument all{};

  SUBCASE("edges mirrored and repeated, dimension by dimension") {
    const auto x = n.input("x", {1, 2, 4, 5});
    const auto mirrored = [&](const char* name, std::int64_t size, std::int64_t before, std::int64_t after) {
      const std::string base(name);
      const std::int64_t count = size + before + after;
      const auto range = make(whole, "aten.arange.start_step", base + "_range", {count},
                              {{"start", n.i(-before)}, {"end", n.i(size + after)}});
      const auto up = make(whole, "aten.abs.default", base + "_up", {count}, {{"self", n.v(range)}});
      const auto down =
          make(whole, "aten.sub.Tensor", base + "_down", {count}, {{"self", n.i(size - 1)}, {"other", n.v(up)}});
      const auto back = make(whole, "aten.abs.default", base + "_back", {count}, {{"self", n.v(down)}});
      return make(whole, "aten.sub.Tensor", name, {count}, {{"self", n.i(size - 1)}, {"other", n.v(back)}});
    };
    const auto a = take("a", x, {all, all, n.v(mirrored("rows", 4, 1, 2))}, {1, 2, 7, 5});
    const auto b = take("b", a, {all, all, all, n.v(mirrored("columns", 5, 3, 0))}, {1, 2, 7, 8});
    const auto range = make(whole, "aten.arange.start_step", "range", {11}, {{"start", n.i(-2)}, {"end", n.i(9)}});
    const auto edges =
        make(whole, "aten.clamp.default", "edges", {11}, {{"self", n.v(range)}, {"min", n.i(0)}, {"max", n.i(7)}});
    const auto c = take("c", b, {all, all, all, n.v(edges)}, {1, 2, 7, 11});
    const ExportedProgram program = n.finish({n.relu("d", c, {1, 2, 7, 11})});
    CHECK(left(program) ==
          Texts{"aten.reflection_pad2d.default", "aten.replication_pad2d.default", "aten.relu.default"});
    const DecomposeOptions takes{.backends = BackendList<portable>::tables()};
    const ExportedProgram made = simplified(program, &takes, true).value();
    std::vector<std::int64_t> pads;
    for (const NodeId node : {0u, 1u})
      for (const Argument& p : made.view().args(made.view().inputs(made.view().nodes[node])[1].items))
        pads.push_back(p.payload);
    CHECK(pads == std::vector<std::int64_t>{3, 0, 1, 2, 2, 1, 0, 0});
  }
  SUBCASE("rows in another order stay") {
    const auto x = n.input("x", {1, 2, 4, 5});
    const auto range = make(whole, "aten.arange.start_step", "range", {4}, {{"start", n.i(0)}, {"end", n.i(4)}});
    const auto back = make(whole, "aten.sub.Tensor", "back", {4}, {{"self", n.i(3)}, {"other", n.v(range)}});
    const auto a = take("a", x, {all, all, n.v(back)}, {1, 2, 4, 5});
    CHECK(left(n.finish({n.relu("b", a, {1, 2, 4, 5})})) ==
          Texts{"aten.arange.start_step", "aten.sub.Tensor", "aten.index.Tensor", "aten.relu.default"});
  }
  SUBCASE("resizing, to the nearest element and linearly") {
    const auto x = n.input("x", {1, 2, 4, 6});
    const auto scaled = [&](const std::string& base, std::int64_t count, double scale, double shift,
                            support::Sizes sizes) {
      const auto range = make(ScalarType::float32, "aten.arange.start_step", base + "_range", {count},
                              {{"start", n.i(0)}, {"end", n.i(count)}});
      const auto moved = make(ScalarType::float32, "aten.add.Tensor", base + "_moved", {count},
                              {{"self", n.v(range)}, {"other", real(shift)}});
      const auto there = make(ScalarType::float32, "aten.mul.Tensor", base + "_there", {count},
                              {{"self", n.v(moved)}, {"other", real(scale)}});
      const auto centre = make(ScalarType::float32, "aten.sub.Tensor", base + "_centre", {count},
                               {{"self", n.v(there)}, {"other", real(shift)}});
      const auto from = make(ScalarType::float32, "aten.clamp.default", base + "_from", {count},
                             {{"self", n.v(centre)}, {"min", real(0)}});
      return make(ScalarType::float32, "aten.view.default", base + "_place", sizes,
                  {{"self", n.v(from)}, {"size", n.ints(sizes)}});
    };
    const auto low = [&](const std::string& base, ValueId place, support::Sizes sizes) {
      return make(whole, "aten._to_copy.default", base + "_low", sizes, {{"self", n.v(place)}});
    };
    const auto high = [&](const std::string& base, ValueId index, std::int64_t size, support::Sizes sizes) {
      const auto next =
          make(whole, "aten.add.Tensor", base + "_next", sizes, {{"self", n.v(index)}, {"other", n.i(1)}});
      return make(whole, "aten.clamp.default", base + "_high", sizes, {{"self", n.v(next)}, {"max", n.i(size - 1)}});
    };
    const auto weight = [&](const std::string& base, ValueId place, ValueId index, support::Sizes sizes) {
      return make(ScalarType::float32, "aten.sub.Tensor", base + "_weight", sizes,
                  {{"self", n.v(place)}, {"other", n.v(index)}});
    };
    const auto between = [&](const std::string& base, ValueId a, ValueId b, ValueId w) {
      const auto difference =
          n.op("aten.sub.Tensor", base + "_difference", {1, 2, 8, 9}, {{"self", n.v(b)}, {"other", n.v(a)}});
      const auto part =
          n.op("aten.mul.Tensor", base + "_part", {1, 2, 8, 9}, {{"self", n.v(difference)}, {"other", n.v(w)}});
      return n.add(base, a, part, {1, 2, 8, 9});
    };
    const auto near = take("near", x,
                           {all, all, n.v(low("r", scaled("r", 8, 0.5, 0, {8, 1}), {8, 1})),
                            n.v(low("c", scaled("c", 9, 6.0 / 9, 0, {9}), {9}))},
                           {1, 2, 8, 9});
    const auto rows = scaled("rows", 8, 0.5, 0.5, {8, 1}), columns = scaled("columns", 9, 6.0 / 9, 0.5, {9});
    const auto top = low("top", rows, {8, 1}), left_one = low("left", columns, {9});
    const auto bottom = high("bottom", top, 4, {8, 1}), right = high("right", left_one, 6, {9});
    const auto corner = [&](const char* name, ValueId r, ValueId c) {
      return take(name, x, {all, all, n.v(r), n.v(c)}, {1, 2, 8, 9});
    };
    const auto w = weight("w", columns, left_one, {9}), h = weight("h", rows, top, {8, 1});
    const auto above = between("above", corner("tl", top, left_one), corner("tr", top, right), w);
    const auto below = between("below", corner("bl", bottom, left_one), corner("br", bottom, right), w);
    const auto smooth = between("smooth", above, below, h);
    const auto sum = n.add("sum", near, smooth, {1, 2, 8, 9});
    CHECK(left(n.finish({sum})) ==
          Texts{"aten.upsample_nearest2d.vec", "aten.upsample_bilinear2d.lerp", "aten.add.Tensor"});
  }
}

TEST_CASE("the decompositions of mish, elu, prelu and a product are these operators again") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto number = [](double d) { return GraphBuilder::real(d); };
  const auto above = [&](const char* name, double limit) { return tested(n, "aten.gt.Scalar", name, x, limit); };
  const auto unary = [&](std::string_view target, const char* name, ValueId v) {
    return n.op(target, name, {2, 3}, {{"self", n.v(v)}});
  };
  const auto times = [&](const char* name, ValueId v, Argument by) {
    return n.op("aten.mul.Tensor", name, {2, 3}, {{"self", n.v(v)}, {"other", by}});
  };
  const auto plus =
      chosen(n, "plus", above("large", 20), x, unary("aten.log1p.default", "log", unary("aten.exp.default", "exp", x)));
  const auto mish = times("mish", x, n.v(unary("aten.tanh.default", "tanh", plus)));
  const auto below = unary("aten.expm1.default", "below", times("in", x, number(1)));
  const auto elu = chosen(n, "elu", above("positive", 0), times("up", x, number(1)), times("down", below, number(1)));
  const auto weight = n.input("weight", {3}), wide = n.input("wide", {4, 2, 3});
  const auto prelu = chosen(n, "prelu", above("over", 0), x, times("slope", x, n.v(weight)));
  const auto wider =
      n.op("aten.where.self", "wider", {4, 2, 3},
           {{"condition", n.v(above("on", 0))},
            {"self", n.v(x)},
            {"other", n.v(n.op("aten.mul.Tensor", "w", {4, 2, 3}, {{"self", n.v(x)}, {"other", n.v(wide)}}))}});
  const auto a = n.op("aten.view.default", "a", {2, 3, 1}, {{"self", n.v(mish)}, {"size", n.ints({2, 3, 1})}});
  const auto m = n.input("m", {1, 1, 3, 4});
  const auto product = n.op("aten.mul.Tensor", "product", {1, 2, 3, 4}, {{"self", n.v(a)}, {"other", n.v(m)}});
  const auto sum = n.op("aten.sum.dim_IntList", "sum", {1, 2, 4}, {{"self", n.v(product)}, {"dim", n.ints({-2})}});
  CHECK(left(n.finish({n.relu("y", sum, {1, 2, 4}), n.relu("z", elu, {2, 3}), prelu, wider})) ==
        Texts{"aten.mish.default", "aten.gt.Scalar", "aten.elu.default", "aten._prelu_kernel.default",
              "aten.mul.Tensor", "aten.where.self", "aten.view.default", "aten.view.default", "aten.matmul.default",
              "aten.relu.default", "aten.relu.default"});
}

TEST_CASE("torch's decomposition of nan_to_num is that again, if each number is tested for once") {
  const auto texts = [](double high_for, double low_for, bool other) {
    Net n;
    const auto x = n.input("x", {2, 3}), y = n.input("y", {2, 3});
    const auto number = [&](const char* name, double d) {
      return n.op("aten.scalar_tensor.default", name, {}, {{"s", GraphBuilder::real(d)}});
    };
    const auto kept =
        chosen(n, "kept", tested(n, "aten.isnan.default", "is_nan", x, std::nullopt), number("zero", 0), x);
    const auto low = chosen(n, "low", tested(n, "aten.eq.Scalar", "is_low", x, low_for), number("least", -5), kept);
    return left(n.finish(
        {chosen(n, "high", tested(n, "aten.eq.Scalar", "is_high", other ? y : x, high_for), number("most", 7), low)}));
  };
  const auto whole = [](const Texts& all) { return all.back() == "aten.nan_to_num.default"; };
  CHECK(whole(texts(INFINITY, -INFINITY, false)));
  CHECK(!whole(texts(INFINITY, -INFINITY, true)));
  CHECK(!whole(texts(1, -INFINITY, false)));
  CHECK(!whole(texts(INFINITY, INFINITY, false)));
}

TEST_CASE(
    "a product of stacks under other sizes is one of more dimensions only where its rows, columns and stacks are as "
    "large") {
  const auto texts = [](std::initializer_list<std::int64_t> to, bool expanded) {
    Net n;
    const auto a = n.input("a", {1, 1, 2, 3}), b = n.input("b", {1, 1, 3, 2});
    const std::int64_t stacks = expanded ? 4 : 1;
    const auto stacked = [&](std::string name, ValueId v, std::int64_t rows, std::int64_t columns) {
      if (expanded)
        v = n.op("aten.expand.default", name + "_wide", {4, 1, rows, columns},
                 {{"self", n.v(v)}, {"size", n.ints({4, 1, rows, columns})}});
      return n.op("aten.view.default", name, {stacks, rows, columns},
                  {{"self", n.v(v)}, {"size", n.ints({stacks, rows, columns})}});
    };
    const auto product = n.op("aten.bmm.default", "p", {stacks, 2, 2},
                              {{"self", n.v(stacked("x", a, 2, 3))}, {"mat2", n.v(stacked("y", b, 3, 2))}});
    const ValueId y = n.draft.b.tensor("out", ScalarType::float32, to);
    Argument in[] = {n.v(product), n.draft.b.ints(to)};
    in[0].name = n.draft.b.text("self");
    in[1].name = n.draft.b.text("size");
    const Argument out = GraphBuilder::value(y);
    n.draft.b.node("aten.view.default", in, {&out, 1}, n.draft.metadata);
    return left(n.finish({y}));
  };
  CHECK(texts({1, 1, 2, 2}, false) == Texts{"aten.matmul.default"});
  const auto stays = [](const Texts& all) { return std::ranges::count(all, "aten.bmm.default") == 1; };
  CHECK(stays(texts({1, 2, 1, 2}, false)));
  CHECK(stays(texts({2, 1, 1, 2}, false)));
  CHECK(stays(texts({4, 1, 2, 2}, true)));
}

TEST_CASE("sizes of any depth are not compared to their ends") {
  Net n;
  const auto x = n.input("x", {4});
  const auto y = n.op("aten.view.default", "y", {4}, {{"self", n.v(x)}, {"size", n.ints({4})}});
  const auto size = n.op("aten.sym_size.int", "size", {}, {{"self", n.v(y)}, {"dim", n.i(0)}});
  ExportedProgram program = n.finish({n.op("aten.relu.default", "z", {4}, {{"self", n.v(y)}}), size});
  GraphModule& m = program.graph_module;
  const auto deep = [&] {  // as Add(1, 1, ...) is read, and deeper than any file: each level has the one before twice
    m.exprs.push_back({.op = ExprOp::integer, .value = 1});
    for (int i = 0; i < 300'000; ++i) {
      const auto last = static_cast<ExprId>(m.exprs.size() - 1);
      m.exprs.push_back({.op = ExprOp::add, .a = last, .b = last});
    }
    return static_cast<ExprId>(m.exprs.size() - 1);
  };
  m.dims[m.values[x].sizes.first] = {.value = 4, .expr = deep()};
  m.dims[m.values[y].sizes.first] = {.value = 4, .expr = deep()};
  m.values[size].kind = ValueKind::sym_int;
  m.values[size].expr = deep();
  CHECK(targets(simplified(program).value_or(program)) ==
        Texts{"aten.view.default", "aten.sym_size.int", "aten.relu.default"});
}

TEST_CASE("a merged operator has the source lines of all its parts, each once") {
  Net n;
  const auto line = [&](int number) {
    n.draft.metadata = n.draft.b.metadata(concat("File \"m.py\", line ", number, ", in forward\n    code\n").view());
  };
  const auto x = n.input("x", {2, 3, 4});
  const auto w = n.weight("w", {5, 4});
  const auto bias = n.weight("bias", {5});
  line(1);
  const auto rows = n.op("aten.view.default", "rows", {6, 4}, {{"self", n.v(x)}, {"size", n.ints({6, 4})}});
  const auto turned = n.op("aten.permute.default", "turned", {4, 5}, {{"self", n.v(w)}, {"dims", n.ints({1, 0})}});
  line(2);
  const auto product =
      n.op("aten.addmm.default", "product", {6, 5}, {{"self", n.v(bias)}, {"mat1", n.v(rows)}, {"mat2", n.v(turned)}});
  line(3);
  const auto y = n.op("aten.view.default", "y", {2, 3, 5}, {{"self", n.v(product)}, {"size", n.ints({2, 3, 5})}});
  line(4);
  const ExportedProgram program = n.finish({n.relu("z", y, {2, 3, 5})});
  const DecomposeOptions portable_takes{.backends = BackendList<portable>::tables()};
  const std::optional<ExportedProgram> made = simplified(program, &portable_takes, true);
  REQUIRE(made);
  REQUIRE(verify(*made).empty());
  const auto places = [&](const ExportedProgram& of, NodeId node) {
    Texts out;
    for (std::uint32_t row = of.view().nodes[node].metadata; row != no_id; row = of.view().metadata[row].merged) {
      const std::string_view trace = of.view().str(of.view().metadata[row].stack_trace);
      out.emplace_back(trace.substr(trace.find("line"), 6));
    }
    return out;
  };
  CHECK(targets(*made) == Texts{"aten.linear.default", "aten.relu.default"});
  CHECK(places(*made, 0) == Texts{"line 3", "line 2", "line 1"});
  CHECK(places(*made, 1) == Texts{"line 4"});
  CHECK(places(program, 1) == Texts{"line 1"});
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", made->view());
  const std::string source(map.explain({.debug_handle = recorder.handle(0)}).source.view());
  CHECK(source.find("line 3") < source.find("line 2"));
  CHECK(source.find("line 2") < source.find("line 1"));
  CHECK(source.find("line 1") != std::string::npos);
  DebugInfo info;
  CHECK((map.find(recorder.handle(1), info) && info.target == "aten.relu.default"));
}

namespace {

/// Programs with tensors of any dtype.
struct Typed : Net {
  ValueId of(ScalarType type, std::string_view target, std::string_view name, support::Sizes sizes,
             std::initializer_list<Named> arguments) {
    std::vector<Argument> in;
    for (const auto& [parameter, argument] : arguments) {
      in.push_back(argument);
      in.back().name = draft.b.text(parameter);
    }
    const ValueId made = draft.b.tensor(name, type, sizes);
    const Argument out = GraphBuilder::value(made);
    draft.b.node(target, in, {&out, 1}, draft.metadata);
    return made;
  }
  ValueId user(ScalarType type, std::string_view name, support::Sizes sizes) {
    const ValueId made = draft.user(name, sizes);
    draft.b.module().values[made].dtype = type;
    return made;
  }
  Argument values(std::initializer_list<Argument> list) {
    return draft.b.list(std::span(list.begin(), list.size()), ArgumentKind::value);
  }
  ValueId expand(std::string_view name, ValueId x, support::Sizes sizes) {
    return op("aten.expand.default", name, sizes, {{"self", v(x)}, {"size", ints(sizes)}});
  }
  ValueId view(std::string_view name, ValueId x, support::Sizes sizes) {
    return op("aten.view.default", name, sizes, {{"self", v(x)}, {"size", ints(sizes)}});
  }
};

std::size_t count(const Texts& all, std::string_view target) {
  return static_cast<std::size_t>(std::ranges::count(all, target));
}

}  // namespace

TEST_CASE("an index of rows is not the same index of columns") {
  Typed n;
  const auto x = n.input("x", {4, 4});
  const auto i = n.user(ScalarType::int64, "i", {4});
  const Argument all{};
  const auto rows = n.op("aten.index.Tensor", "rows", {4, 4}, {{"self", n.v(x)}, {"indices", n.values({n.v(i)})}});
  const auto columns =
      n.op("aten.index.Tensor", "columns", {4, 4}, {{"self", n.v(x)}, {"indices", n.values({all, n.v(i)})}});
  const auto again =
      n.op("aten.index.Tensor", "again", {4, 4}, {{"self", n.v(x)}, {"indices", n.values({all, n.v(i)})}});
  CHECK(left(n.finish({n.add("a", rows, columns, {4, 4}), n.add("b", rows, again, {4, 4})})) ==
        Texts{"aten.index.Tensor", "aten.index.Tensor", "aten.add.Tensor", "aten.add.Tensor"});
}

TEST_CASE("equal calls with results of other sizes are not merged") {
  Typed n;
  const auto x = n.input("x", {1, 3});
  const auto a = n.op("aten.expand.default", "a", {2, 3}, {{"self", n.v(x)}, {"size", n.ints({-1, 3})}});
  const auto b = n.op("aten.expand.default", "b", {4, 3}, {{"self", n.v(x)}, {"size", n.ints({-1, 3})}});
  CHECK(count(left(n.finish({n.relu("c", a, {2, 3}), n.relu("d", b, {4, 3})})), "aten.expand.default") == 2);
}

TEST_CASE("an operand that is expanded though the other has the sizes of the result is taken as it was") {
  const auto divided = [](support::Sizes other, support::Sizes to, std::string_view target) {
    Typed n;
    const auto wide = n.expand("wide", n.input("x", {2, 1, 3}), {2, 4, 3});
    const auto y = n.input("y", other);
    return left(n.finish({n.op(target, "z", to, {{"self", n.v(y)}, {"other", n.v(wide)}})}));
  };
  for (const std::string_view target : {"aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor"}) {
    CHECK(divided({2, 4, 3}, {2, 4, 3}, target) == Texts{std::string(target)});
    CHECK(divided({2, 1, 3}, {2, 4, 3}, target) == Texts{"aten.expand.default", std::string(target)});
    CHECK(divided({5, 2, 4, 3}, {5, 2, 4, 3}, target) == Texts{std::string(target)});
  }
}

TEST_CASE("graphs that are nearly a hardswish, an attention or a product of more dimensions stay") {
  Typed n;
  const auto number = [](double d) { return GraphBuilder::real(d); };
  SUBCASE("a sum with another factor, or of integers, is before no hardswish") {
    const auto swish = [&](ScalarType type, std::optional<std::int64_t> alpha) {
      Typed t;
      const auto x = t.user(type, "x", {2, 3});
      const auto sum = alpha ? t.of(type, "aten.add.Tensor", "sum", {2, 3},
                                    {{"self", t.v(x)}, {"other", t.i(3)}, {"alpha", t.i(*alpha)}})
                             : t.of(type, "aten.add.Tensor", "sum", {2, 3}, {{"self", t.v(x)}, {"other", t.i(3)}});
      const auto low = t.of(type, "aten.clamp.default", "low", {2, 3}, {{"self", t.v(sum)}, {"min", t.i(0)}});
      const auto high =
          t.of(type, "aten.clamp.default", "high", {2, 3}, {{"self", t.v(low)}, {"min", {}}, {"max", t.i(6)}});
      const auto product = t.of(type, "aten.mul.Tensor", "product", {2, 3}, {{"self", t.v(x)}, {"other", t.v(high)}});
      const auto y = t.op("aten.div.Tensor", "y", {2, 3}, {{"self", t.v(product)}, {"other", t.i(6)}});
      return count(left(t.finish({t.relu("z", t.view("flat", y, {6}), {6})})), "aten.hardswish.default");
    };
    CHECK(swish(ScalarType::float32, {}) == 1);
    CHECK(swish(ScalarType::float32, 2) == 0);
    CHECK(swish(ScalarType::int64, {}) == 0);
  }
  SUBCASE("a softmax of columns is in no attention") {
    for (const std::int64_t dim : {-1, 2, -2, 1}) {
      CAPTURE(dim);
      Typed t;
      const auto q = t.input("q", {2, 3, 3}), k = t.input("k", {2, 3, 3}), v = t.input("v", {2, 3, 3});
      const auto scaled = [&](const char* name, ValueId x) {
        return t.op("aten.mul.Scalar", name, {2, 3, 3}, {{"self", t.v(x)}, {"other", number(0.5)}});
      };
      const auto turned =
          t.op("aten.permute.default", "turned", {2, 3, 3}, {{"self", t.v(k)}, {"dims", t.ints({0, 2, 1})}});
      const auto scores = t.op("aten.matmul.default", "scores", {2, 3, 3},
                               {{"self", t.v(scaled("a", q))}, {"other", t.v(scaled("b", turned))}});
      const auto p = t.op("aten._safe_softmax.default", "p", {2, 3, 3}, {{"self", t.v(scores)}, {"dim", t.i(dim)}});
      const auto y = t.op("aten.matmul.default", "y", {2, 3, 3}, {{"self", t.v(p)}, {"other", t.v(v)}});
      CHECK(count(left(t.finish({y})), "aten.scaled_dot_product_attention.default") == (dim == -1 || dim == 2 ? 1 : 0));
    }
  }
  SUBCASE("stacks that were expanded along another dimension than the result has") {
    const auto a = n.view("a6", n.expand("wide", n.input("a", {2, 1, 4, 5}), {2, 3, 4, 5}), {6, 4, 5});
    const auto b = n.view("b6", n.input("b", {3, 2, 1, 5, 7}), {6, 5, 7});
    const auto product = n.op("aten.bmm.default", "p", {6, 4, 7}, {{"self", n.v(a)}, {"mat2", n.v(b)}});
    CHECK(count(left(n.finish({n.view("y", product, {3, 2, 1, 4, 7})})), "aten.bmm.default") == 1);
  }
  SUBCASE("stacks that were expanded along the result's own dimensions") {
    const auto a = n.view("a6", n.expand("wide", n.input("a", {2, 1, 4, 5}), {2, 3, 4, 5}), {6, 4, 5});
    const auto b = n.view("b6", n.input("b", {2, 3, 5, 7}), {6, 5, 7});
    const auto product = n.op("aten.bmm.default", "p", {6, 4, 7}, {{"self", n.v(a)}, {"mat2", n.v(b)}});
    CHECK(left(n.finish({n.view("y", product, {2, 3, 4, 7})})) == Texts{"aten.matmul.default"});
  }
  SUBCASE("a column with elements repeated one by one is not one matrix for all") {
    const auto a = n.input("a", {6, 2, 4});
    const auto b = n.view("b6", n.expand("wide", n.input("b", {4, 1}), {4, 6}), {6, 4, 1});
    CHECK(count(left(n.finish({n.op("aten.bmm.default", "p", {6, 2, 1}, {{"self", n.v(a)}, {"mat2", n.v(b)}})})),
                "aten.bmm.default") == 1);
  }
}

TEST_CASE("an index of integers stays an index, and is not resized; vectors are not padded") {
  const auto gathered = [](ScalarType type, bool rows) {
    Typed t;
    const Argument all{};
    const auto x = rows ? t.user(type, "x", {1, 2, 4}) : t.user(type, "x", {4});
    const auto range = t.of(ScalarType::int64, "aten.arange.start_step", "range", {8},
                            {{"start", t.i(rows ? 0 : -2)}, {"end", t.i(rows ? 8 : 6)}});
    const auto at = rows ? t.of(ScalarType::int64, "aten._to_copy.default", "at", {8},
                                {{"self", t.v(t.of(ScalarType::float32, "aten.mul.Tensor", "half", {8},
                                                   {{"self", t.v(range)}, {"other", GraphBuilder::real(0.5)}}))}})
                         : t.of(ScalarType::int64, "aten.clamp.default", "at", {8},
                                {{"self", t.v(range)}, {"min", t.i(0)}, {"max", t.i(3)}});
    const auto y =
        rows ? t.of(type, "aten.index.Tensor", "y", {1, 2, 8},
                    {{"self", t.v(x)}, {"indices", t.values({all, all, t.v(at)})}})
             : t.of(type, "aten.index.Tensor", "y", {8}, {{"self", t.v(x)}, {"indices", t.values({t.v(at)})}});
    return left(t.finish({y}));
  };
  CHECK(gathered(ScalarType::float32, true) == Texts{"aten.upsample_nearest1d.vec"});
  CHECK(count(gathered(ScalarType::int64, true), "aten.index.Tensor") == 1);
  CHECK(count(gathered(ScalarType::bool_, true), "aten.index.Tensor") == 1);
  CHECK(count(gathered(ScalarType::float32, false), "aten.index.Tensor") == 1);
}

TEST_CASE("a softmax that is chosen for more rows than it has stays one") {
  Typed n;
  const auto x = n.input("x", {1, 4});
  const auto truth = [&](std::string_view target, std::string_view name, support::Sizes sizes,
                         std::initializer_list<Net::Named> more) {
    return n.of(ScalarType::bool_, target, name, sizes, more);
  };
  const auto soft = n.op("aten._softmax.default", "soft", {1, 4},
                         {{"self", n.v(x)}, {"dim", n.i(1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const auto none =
      truth("aten.eq.Scalar", "none", {1, 4}, {{"self", n.v(x)}, {"other", GraphBuilder::real(-INFINITY)}});
  const auto any = truth("aten.any.dim", "any", {1, 1},
                         {{"self", n.v(truth("aten.logical_not.default", "some", {1, 4}, {{"self", n.v(none)}}))},
                          {"dim", n.i(1)},
                          {"keepdim", GraphBuilder::boolean(true)}});
  const auto zeros = n.op("aten.full.default", "zeros", {3, 4}, {{"size", n.ints({3, 4})}, {"fill_value", n.i(0)}});
  const auto p = n.op("aten.where.self", "p", {3, 4},
                      {{"condition", n.v(truth("aten.logical_not.default", "empty", {1, 1}, {{"self", n.v(any)}}))},
                       {"self", n.v(zeros)},
                       {"other", n.v(soft)}});
  CHECK(count(left(n.finish({p})), "aten._safe_softmax.default") == 0);
}

TEST_CASE(
    "clone(x) as an output is x if nothing else uses x; of an input, and of a value with other uses, it stays a copy") {
  const auto copy_of = [](Net& n, ValueId v) { return n.op("aten.clone.default", "copy", {2, 3}, {{"self", n.v(v)}}); };
  Net n;
  CHECK(left(n.finish({copy_of(n, n.relu("r", n.input("x", {2, 3}), {2, 3}))})) == Texts{"aten.relu.default"});
  Net given;
  CHECK(left(given.finish({copy_of(given, given.input("x", {2, 3}))})) == Texts{"aten.clone.default"});
  Net used;
  const ValueId r = used.relu("r", used.input("x", {2, 3}), {2, 3});
  CHECK(left(used.finish({copy_of(used, r), r})) == Texts{"aten.relu.default", "aten.clone.default"});
}
