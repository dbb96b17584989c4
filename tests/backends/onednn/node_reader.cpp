// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/node_reader.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/net.hpp"

using namespace davit;
using onednn_ops::NodeReader;
using support::Net;

TEST_CASE("tensors that the backend cannot hold") {
  support::Draft d;
  const auto why = [&](ValueId v) {
    const char* text = onednn_ops::check_tensor(d.b.module().view(), v);
    return text == nullptr ? std::string() : std::string(text);
  };
  CHECK(why(d.user("scalar")) == "");
  CHECK(why(d.user("x", {2, 3})) == "");
  CHECK(why(d.user("none", {2, 0})) == "a tensor has no elements");
  CHECK(why(d.user("negative", {-1})) == "a tensor has no elements");
  CHECK(why(d.user("sized", d.b.symbol("s0"))) == "a size is symbolic");
  CHECK(why(d.new_token("token")) == "an operand is no tensor");
  CHECK(why(d.like(0, "double", ScalarType::float64)) == "a tensor is not float32");
  CHECK(why(d.user("most", {std::int64_t{1} << 20, std::int64_t{1} << 20})) == "");
  CHECK(why(d.user("more", {std::int64_t{1} << 20, std::int64_t{1} << 20, 2})) == "a tensor is too large");
  CHECK(why(d.user("overflowing", {std::int64_t{1} << 33, std::int64_t{1} << 33})) == "a tensor is too large");
  CHECK(why(d.user("deep", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})) == "");
  CHECK(why(d.user("deeper", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})) == "a tensor has too many dimensions");
}

TEST_CASE("no dimensions are one of size 1 to the library, and none to the program") {
  Net n;
  const auto x = n.input("x", {});
  const ExportedProgram program = n.finish({n.relu("y", x, {})});
  const NodeReader in(program.view(), 0);
  CHECK(in.sizes(x) == onednn_ops::Dims{1});
  CHECK(in.rank(x) == 0);
}

TEST_CASE("arguments by name, by position where there are no names, and defaults") {
  Net n;
  const auto x = n.input("x", {2});
  const Argument positional[] = {n.v(x), n.i(3), GraphBuilder::real(0.5), GraphBuilder::none()};
  const Argument outputs[] = {n.v(n.draft.like(x, "a"))};
  n.draft.b.node("toy.op.default", positional, outputs);
  const auto y =
      n.op("toy.op.default", "y", {2}, {{"flag", GraphBuilder::boolean(true)}, {"self", n.v(x)}, {"dim", n.i(-1)}});
  const ExportedProgram program = n.finish({y});
  const NodeReader unnamed(program.view(), 0);
  CHECK(unnamed.tensor("self", 0) == x);
  CHECK(unnamed.integer("dim", 1, 7) == 3);
  CHECK(unnamed.number("alpha", 1, 7) == 3.0);
  CHECK(unnamed.number("alpha", 2, 7) == 0.5);
  CHECK_FALSE(unnamed.integer("alpha", 2, 7));
  CHECK(unnamed.find("other", 3) == nullptr);  // None
  CHECK(unnamed.integer("other", 3, 7) == 7);
  CHECK(unnamed.integer("other", 4, 7) == 7);
  CHECK_FALSE(unnamed.number("self", 0, 7));
  CHECK(unnamed.tensor("dim", 1) == no_id);
  const NodeReader named(program.view(), 1);
  CHECK(named.tensor("self", 0) == x);
  CHECK(named.integer("dim", 1, 7) == -1);
  CHECK(named.flag("flag", 2, false));
  CHECK(named.flag("missing", 0, true));  // what stands at 0 has another name
  CHECK_FALSE(named.flag("missing", 0, false));
}

TEST_CASE("lists of ints") {
  Net n;
  const auto x = n.input("x", {2});
  const Argument mixed[] = {n.i(1), n.v(x)};
  const auto y = n.op("toy.op.default", "y", {2},
                      {{"two", n.ints({4, 5})},
                       {"one", n.ints({6})},
                       {"int", n.i(7)},
                       {"empty", n.ints({})},
                       {"mixed", n.draft.b.list(mixed, ArgumentKind::int_)},
                       {"real", GraphBuilder::real(2)}});
  const ExportedProgram program = n.finish({y});
  const NodeReader in(program.view(), 0);
  onednn_ops::Dims out;
  using onednn_ops::Dims;
  CHECK((in.ints("two", 9, 2, 0, out) && out == Dims{4, 5}));
  CHECK((in.ints("two", 9, 0, 0, out) && out == Dims{4, 5}));
  CHECK_FALSE(in.ints("two", 9, 3, 0, out));
  CHECK((in.ints("one", 9, 3, 0, out) && out == Dims{6, 6, 6}));
  CHECK((in.ints("int", 9, 2, 0, out) && out == Dims{7, 7}));
  CHECK((in.ints("int", 9, 0, 0, out) && out == Dims{7}));
  CHECK((in.ints("missing", 9, 2, 3, out) && out == Dims{3, 3}));
  CHECK((in.ints("missing", 9, 0, 3, out) && out.empty()));
  CHECK((in.ints("empty", 9, 0, 3, out) && out.empty()));
  CHECK_FALSE(in.ints("empty", 9, 2, 3, out));
  CHECK_FALSE(in.ints("mixed", 9, 0, 0, out));
  CHECK_FALSE(in.ints("real", 9, 0, 0, out));
}

TEST_CASE("dimension numbers count from either end") {
  CHECK(NodeReader::dimension(0, 3) == 0);
  CHECK(NodeReader::dimension(2, 3) == 2);
  CHECK(NodeReader::dimension(-1, 3) == 2);
  CHECK(NodeReader::dimension(-3, 3) == 0);
  CHECK_FALSE(NodeReader::dimension(3, 3));
  CHECK_FALSE(NodeReader::dimension(-4, 3));
  CHECK_FALSE(NodeReader::dimension(0, 0));
  CHECK_FALSE(NodeReader::dimension(INT64_MIN, 3));
}

TEST_CASE("which outputs are used: by nodes, in lists, by the graph") {
  const auto first_only = [](std::string_view user) {
    Net n;
    const auto x = n.input("x", {2});
    const auto made = n.many("toy.two.default", {{"a", {2}}, {"b", {2}}}, {{"self", n.v(x)}});
    if (user == "node") (void)n.relu("r", made[1], {2});
    if (user == "list") (void)n.op("aten.cat.default", "c", {4}, {{"tensors", n.draft.b.tensors({made[0], made[1]})}});
    const ExportedProgram program = user == "graph" ? n.finish({made[0], made[1]}) : n.finish({made[0]});
    return NodeReader(program.view(), 0).uses_first_output_only();
  };
  CHECK(first_only("nobody"));
  CHECK_FALSE(first_only("node"));
  CHECK_FALSE(first_only("list"));
  CHECK_FALSE(first_only("graph"));
}
