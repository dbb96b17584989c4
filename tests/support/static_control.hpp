// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/embed/static_program.hpp"
#include "davit/program/graph_builder.hpp"

/// Programs with control flow for tests of static programs.
namespace static_control {

using davit::Argument;
using davit::ArgumentKind;
using davit::GraphBuilder;
using davit::GraphId;
using davit::GraphModule;
using davit::ScalarType;
using davit::ValueId;

inline constexpr auto f32 = ScalarType::float32;
inline constexpr auto b8 = ScalarType::bool_;

constexpr ValueId add(GraphBuilder& b, std::string_view name, ValueId self, ValueId other,
                      std::initializer_list<std::int64_t> sizes = {2}) {
  return b.call("aten.add.Tensor", {{"self", b.value(self)}, {"other", b.value(other)}}, name, f32, sizes);
}
constexpr ValueId scalar(GraphBuilder& b, std::string_view target, std::string_view name, ValueId self, double other,
                         std::initializer_list<std::int64_t> sizes = {2}, ScalarType dtype = f32) {
  return b.call(target, {{"self", b.value(self)}, {"other", b.real(other)}}, name, dtype, sizes);
}
constexpr ValueId plus(GraphBuilder& b, std::string_view name, ValueId self, double other,
                       std::initializer_list<std::int64_t> sizes = {2}) {
  return scalar(b, "aten.add.Scalar", name, self, other, sizes);
}
constexpr ValueId is_positive(GraphBuilder& b, std::string_view name, ValueId self) {
  return scalar(b, "aten.gt.Scalar", name, self, 0, {}, b8);
}
constexpr void node(GraphBuilder& b, std::string_view target, std::initializer_list<Argument> in,
                    std::initializer_list<ValueId> out) {
  std::vector<Argument> outputs;
  for (const ValueId v : out) outputs.push_back(b.value(v));
  b.node(target, {in.begin(), in.size()}, outputs);
}

/// y = p > 0 ? (q > 0 ? x + x : x) + t : x + t, with t = x + 1 computed outside; z is x or t.
constexpr GraphModule make_branches() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId p = b.input("p", f32, {}), q = b.input("q", f32, {}), x = b.input("x", f32, {2});
  const ValueId t = plus(b, "t", x, 1), if_p = is_positive(b, "if_p", p), if_q = is_positive(b, "if_q", q);
  const GraphId yes = b.begin_graph("yes");
  {
    const ValueId q1 = b.input("q1", b8, {}), x1 = b.input("x1", f32, {2}), t1 = b.input("t1", f32, {2});
    const GraphId twice = b.begin_graph("twice");
    const ValueId x2 = b.input("x2", f32, {2});
    b.end_graph({add(b, "xx", x2, x2)});
    const GraphId once = b.begin_graph("once");
    b.end_graph({b.input("x3", f32, {2})});
    const ValueId inner = b.tensor("inner", f32, {2});
    node(b, "higher_order.cond", {b.value(q1), b.subgraph(twice), b.subgraph(once), b.tensors({x1})}, {inner});
    b.end_graph({add(b, "y1", inner, t1), x1});
  }
  const GraphId no = b.begin_graph("no");
  {
    b.input("q4", b8, {});
    const ValueId x4 = b.input("x4", f32, {2}), t4 = b.input("t4", f32, {2});
    b.end_graph({add(b, "y4", x4, t4), t4});
  }
  const ValueId y = b.tensor("y", f32, {2}), z = b.tensor("z", f32, {2});
  node(b, "higher_order.cond", {b.value(if_p), b.subgraph(yes), b.subgraph(no), b.tensors({if_q, x, t})}, {y, z});
  b.end_graph({y, z});
  return std::move(b).finish();
}

/// While n > 0: (n, a, b) = (n - 1, b, a + b + t), with t = a + 1 of the first a; and the last b + t.
constexpr GraphModule make_loop() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId n = b.input("n", f32, {}), a = b.input("a", f32, {2}), c = b.input("b", f32, {2});
  const ValueId t = plus(b, "t", a, 1);
  const GraphId condition = b.begin_graph("condition");
  {
    const ValueId n1 = b.input("n1", f32, {});
    b.input("a1", f32, {2});
    b.input("b1", f32, {2});
    b.input("t1", f32, {2});
    b.end_graph({is_positive(b, "go_on", n1)});
  }
  const GraphId body = b.begin_graph("body");
  {
    const ValueId n2 = b.input("n2", f32, {}), a2 = b.input("a2", f32, {2}), b2 = b.input("b2", f32, {2}),
                  t2 = b.input("t2", f32, {2});
    const ValueId sum = add(b, "sum", a2, b2);
    b.end_graph({plus(b, "less", n2, -1, {}), b2, add(b, "next", sum, t2)});
  }
  const ValueId n3 = b.tensor("n3", f32, {}), a3 = b.tensor("a3", f32, {2}), b3 = b.tensor("b3", f32, {2});
  node(b, "higher_order.while_loop", {b.subgraph(condition), b.subgraph(body), b.tensors({n, a, c}), b.tensors({t})},
       {n3, a3, b3});
  b.end_graph({a3, add(b, "last", b3, t)});
  return std::move(b).finish();
}

/// Over the columns of x [2, 3], from the last if `reverse`: s = s + x_i; rows: the sum before, and the slice + u.
template <bool reverse>
constexpr GraphModule make_scan() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId s = b.input("s", f32, {2}), x = b.input("x", f32, {2, 3}), u = b.input("u", f32, {2});
  const GraphId body = b.begin_graph("body");
  {
    const ValueId s1 = b.input("s1", f32, {2}), x1 = b.input("x1", f32, {2}), u1 = b.input("u1", f32, {2});
    b.end_graph({add(b, "sum", s1, x1), s1, add(b, "shifted", x1, u1)});
  }
  const ValueId last = b.tensor("last", f32, {2}), sums = b.tensor("sums", f32, {3, 2}),
                rows = b.tensor("rows", f32, {3, 2});
  node(b, "higher_order.scan",
       {b.subgraph(body), b.tensors({s}), b.tensors({x}), b.integer(1), b.boolean(reverse), b.tensors({u})},
       {last, sums, rows});
  b.end_graph({last, sums, rows});
  return std::move(b).finish();
}

/// Over the rows of x [3, 2]: (a, b) = (b, a); rows: a + x_i. Later nodes read its results.
constexpr GraphModule make_swap() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId a = b.input("a", f32, {2}), c = b.input("b", f32, {2}), x = b.input("x", f32, {3, 2});
  const GraphId body = b.begin_graph("body");
  {
    const ValueId a1 = b.input("a1", f32, {2}), b1 = b.input("b1", f32, {2}), x1 = b.input("x1", f32, {2});
    b.end_graph({b1, a1, add(b, "row", a1, x1)});
  }
  const ValueId a2 = b.tensor("a2", f32, {2}), b2 = b.tensor("b2", f32, {2}), rows = b.tensor("rows", f32, {3, 2});
  node(b, "higher_order.scan",
       {b.subgraph(body), b.tensors({a, c}), b.tensors({x}), b.integer(0), b.boolean(false), b.tensors({})},
       {a2, b2, rows});
  const ValueId sum = add(b, "sum", rows, x, {3, 2});
  b.end_graph({plus(b, "a3", a2, 0), plus(b, "b3", b2, 0), sum});
  return std::move(b).finish();
}

/// Over the rows of x [3, 2] and w [3, 2]: while the first number of the row is positive, x_i = x_i - w_i; in a map.
constexpr GraphModule make_map() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {3, 2}), w = b.input("w", f32, {3, 2});
  const GraphId body = b.begin_graph("body");
  {
    const ValueId x1 = b.input("x1", f32, {2}), w1 = b.input("w1", f32, {2});
    const GraphId condition = b.begin_graph("condition");
    {
      const ValueId x2 = b.input("x2", f32, {2});
      b.input("w2", f32, {2});
      const ValueId first = b.call(
          "aten.select.int", {{"self", b.value(x2)}, {"dim", b.integer(0)}, {"index", b.integer(0)}}, "first", f32, {});
      b.end_graph({is_positive(b, "go_on", first)});
    }
    const GraphId less = b.begin_graph("less");
    {
      const ValueId x3 = b.input("x3", f32, {2}), w3 = b.input("w3", f32, {2});
      b.end_graph({b.call("aten.sub.Tensor", {{"self", b.value(x3)}, {"other", b.value(w3)}}, "difference", f32, {2})});
    }
    const ValueId rest = b.tensor("rest", f32, {2});
    node(b, "higher_order.while_loop", {b.subgraph(condition), b.subgraph(less), b.tensors({x1}), b.tensors({w1})},
         {rest});
    b.end_graph({rest});
  }
  const ValueId y = b.tensor("y", f32, {3, 2});
  node(b, "higher_order.map_impl", {b.subgraph(body), b.tensors({x, w}), b.tensors({})}, {y});
  b.end_graph({y});
  return std::move(b).finish();
}

/// Asserts p > 0, then y = x + x.
constexpr GraphModule make_asserting() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId p = b.input("p", f32, {}), x = b.input("x", f32, {2});
  const ValueId holds = is_positive(b, "holds", p);
  node(b, "aten._assert_async.msg", {b.value(holds), b.string("p is positive")}, {});
  b.end_graph({add(b, "y", x, x)});
  return std::move(b).finish();
}

}  // namespace static_control
