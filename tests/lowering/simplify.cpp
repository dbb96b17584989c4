// SPDX-License-Identifier: MIT
#include "davit/lowering/simplify.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/lowering/backend_list.hpp"
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
/// The operators that are left, of a program that is sound afterwards; composites that portable takes are whole again.
Texts left(const ExportedProgram& program) {
  const DecomposeOptions portable_takes{.backends = BackendList<portable>::tables()};
  const std::optional<ExportedProgram> made = simplified(program, &portable_takes, true);
  if (!made) return targets(program);
  CHECK(verify(*made, {.allow_unknown_operators = true}).empty());
  CHECK(!made->view().graphs.empty());
  return targets(*made);
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

TEST_CASE("transposes are joined; what moves only dimensions of one is a view") {
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

TEST_CASE("equal nodes are one, and what nothing needs goes; random numbers are drawn as often as they were") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto a = n.relu("a", x, {2, 3});
  const auto b = n.relu("b", x, {2, 3});
  const auto unused = n.op("aten.view.default", "unused", {6}, {{"self", n.v(a)}, {"size", n.ints({6})}});
  (void)unused;
  const auto r = n.op("aten.rand_like.default", "r", {2, 3}, {{"self", n.v(x)}});
  const auto s = n.op("aten.rand_like.default", "s", {2, 3}, {{"self", n.v(x)}});
  const auto sum = n.add("sum", n.add("ab", a, b, {2, 3}), n.add("rs", r, s, {2, 3}), {2, 3});
  CHECK(left(n.finish({sum})) == Texts{"aten.relu.default", "aten.rand_like.default", "aten.rand_like.default", "aten.add.Tensor",
                                       "aten.add.Tensor", "aten.add.Tensor"});
}

TEST_CASE("what run_decompositions leaves of a linear is a linear again") {
  Net n;
  const auto x = n.input("x", {2, 3, 4});
  const auto w = n.weight("w", {5, 4});
  const auto bias = n.weight("bias", {5});
  const auto rows = n.op("aten.view.default", "rows", {6, 4}, {{"self", n.v(x)}, {"size", n.ints({6, 4})}});
  const auto turned = n.op("aten.permute.default", "turned", {4, 5}, {{"self", n.v(w)}, {"dims", n.ints({1, 0})}});
  const auto product = n.op("aten.addmm.default", "product", {6, 5}, {{"self", n.v(bias)}, {"mat1", n.v(rows)}, {"mat2", n.v(turned)}});
  const auto y = n.op("aten.view.default", "y", {2, 3, 5}, {{"self", n.v(product)}, {"size", n.ints({2, 3, 5})}});
  const auto z = n.relu("z", y, {2, 3, 5});
  const ExportedProgram program = n.finish({z});
  CHECK(left(program) == Texts{"aten.linear.default", "aten.relu.default"});
  CHECK(targets(simplified(program).value_or(program)).size() > 2);  // nobody says that he takes linears
}

TEST_CASE("what it leaves of a masked softmax and of an elu is that again") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto number = [](double d) { return GraphBuilder::real(d); };
  const auto soft = n.op("aten._softmax.default", "soft", {2, 3}, {{"self", n.v(x)}, {"dim", n.i(1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const auto truth = [&](std::string_view target, std::string_view name, support::Sizes sizes, std::initializer_list<Net::Named> more) {
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
  const auto any = truth("aten.any.dim", "any", {2, 1}, {{"self", n.v(some)}, {"dim", n.i(1)}, {"keepdim", GraphBuilder::boolean(true)}});
  const auto empty = truth("aten.logical_not.default", "empty", {2, 1}, {{"self", n.v(any)}});
  const auto zeros = n.op("aten.full_like.default", "zeros", {2, 3}, {{"self", n.v(soft)}, {"fill_value", n.i(0)}});
  const auto p = n.op("aten.where.self", "p", {2, 3}, {{"condition", n.v(empty)}, {"self", n.v(zeros)}, {"other", n.v(soft)}});
  CHECK(left(n.finish({p})) == Texts{"aten._safe_softmax.default"});
}

TEST_CASE("sizes of any depth are not compared to their ends") {
  Net n;
  const auto x = n.input("x", {4});
  const auto y = n.op("aten.view.default", "y", {4}, {{"self", n.v(x)}, {"size", n.ints({4})}});
  const auto size = n.op("aten.sym_size.int", "size", {}, {{"self", n.v(y)}, {"dim", n.i(0)}});
  ExportedProgram program = n.finish({n.op("aten.relu.default", "z", {4}, {{"self", n.v(y)}}), size});
  GraphModule& m = program.graph_module;
  const auto deep = [&] {  // as Add(1, 1, ...) is read, and as no file says it: each level twice the one before
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
  (void)simplified(program);
}
