// SPDX-License-Identifier: MIT
#include "davit/program/operators/node_arguments.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "support/net.hpp"

using namespace davit;
using operators::NodeArguments;
using support::Net;

TEST_CASE("arguments by name, by position where there are no names, and defaults") {
  Net n;
  const auto x = n.input("x", {2});
  const Argument positional[] = {n.v(x), n.i(3), GraphBuilder::real(0.5), GraphBuilder::none()};
  const Argument outputs[] = {n.v(n.draft.like(x, "a"))};
  n.draft.b.node("toy.op.default", positional, outputs);
  const auto y =
      n.op("toy.op.default", "y", {2}, {{"flag", GraphBuilder::boolean(true)}, {"self", n.v(x)}, {"dim", n.i(-1)}});
  const ExportedProgram program = n.finish({y});
  const NodeArguments unnamed(program.view(), 0);
  CHECK(unnamed.is("toy.op.default"));
  CHECK(unnamed.value({"self", 0}) == x);
  CHECK(unnamed.integer({"dim", 1}, 7) == 3);
  CHECK(unnamed.number({"alpha", 1}, 7) == 3.0);
  CHECK(unnamed.number({"alpha", 2}, 7) == 0.5);
  CHECK_FALSE(unnamed.integer({"alpha", 2}, 7));
  CHECK(unnamed.find({"other", 3}) == nullptr);  // None
  CHECK(unnamed.integer({"other", 3}, 7) == 7);
  CHECK(unnamed.integer({"other", 4}, 7) == 7);
  CHECK_FALSE(unnamed.number({"self", 0}, 7));
  CHECK(unnamed.value({"dim", 1}) == no_id);
  const NodeArguments named(program.view(), 1);
  CHECK(named.value({"self", 0}) == x);
  CHECK(named.integer({"dim", 1}, 7) == -1);
  CHECK(named.flag({"flag", 2}, false));
  CHECK(named.flag({"missing", 0}, true));  // position 0 has another name
  CHECK_FALSE(named.flag({"missing", 0}, false));
}

TEST_CASE("lists of ints") {
  Net n;
  const auto x = n.input("x", {2});
  const Argument mixed[] = {n.i(1), n.v(x)};
  const auto y = n.op("toy.op.default", "y", {2},
                      {{"two", n.ints({4, 5})},
                       {"int", n.i(7)},
                       {"empty", n.ints({})},
                       {"mixed", n.draft.b.list(mixed, ArgumentKind::int_)},
                       {"real", GraphBuilder::real(2)}});
  const ExportedProgram program = n.finish({y});
  const NodeArguments in(program.view(), 0);
  using Ints = std::vector<std::int64_t>;
  Ints out;
  CHECK((in.ints({"two", 9}, out) && out == Ints{4, 5}));
  CHECK((in.ints({"int", 9}, out) && out == Ints{7}));
  CHECK((in.ints({"missing", 9}, out) && out.empty()));
  CHECK((in.ints({"empty", 9}, out) && out.empty()));
  CHECK_FALSE(in.ints({"mixed", 9}, out));
  CHECK_FALSE(in.ints({"real", 9}, out));
}

TEST_CASE("sizes, and the example of a symbolic one") {
  support::Draft d;
  const ValueId x = d.user("x", {2, 3});
  const ValueId y = d.user("y", d.b.symbol("s0"));
  d.output(d.add("z", x, y));
  const ExportedProgram program = d.finish();
  const NodeArguments in(program.view(), 0);
  CHECK(in.rank(x) == 2);
  CHECK(in.size(x, 1) == 3);
  CHECK(in.size(y, 0) == -1);
}

TEST_CASE("which outputs are used: by nodes, in lists, by the graph") {
  const auto first_only = [](std::string_view user) {
    Net n;
    const auto x = n.input("x", {2});
    const auto made = n.many("toy.two.default", {{"a", {2}}, {"b", {2}}}, {{"self", n.v(x)}});
    if (user == "node") (void)n.relu("r", made[1], {2});
    if (user == "list") (void)n.op("aten.cat.default", "c", {4}, {{"tensors", n.draft.b.tensors({made[0], made[1]})}});
    const ExportedProgram program = user == "graph" ? n.finish({made[0], made[1]}) : n.finish({made[0]});
    return NodeArguments(program.view(), 0).uses_first_output_only();
  };
  CHECK(first_only("nobody"));
  CHECK_FALSE(first_only("node"));
  CHECK_FALSE(first_only("list"));
  CHECK_FALSE(first_only("graph"));
}
