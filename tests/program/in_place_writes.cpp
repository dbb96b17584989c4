// SPDX-License-Identifier: MIT
#include "davit/program/in_place_writes.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;
using Names = std::vector<Name>;

namespace {

/// b1 and b2 are buffers, p a parameter, k a constant, x an input; `body` adds the nodes.
template <class Body>
Names written(Body&& body) {
  Draft d;
  const ValueId p = d.parameter("p", 1);
  const ValueId b1 = d.buffer("b1", 1);
  const ValueId b2 = d.buffer("b2", 1, false);
  const ValueId k = d.constant("k", 1);
  const ValueId x = d.user("x");
  d.output(body(d, std::vector<ValueId>{p, b1, b2, k, x}));
  return written_in_place(d.finish());
}
enum Attribute { p, b1, b2, k, x };

}  // namespace

TEST_CASE("values that no operator writes are not written") {
  CHECK(written([](Draft& d, const auto& v) { return d.add("s", v[b1], v[x]); }).empty());
  CHECK(written([](Draft& d, const auto& v) { return d.op("aten.__and__.Tensor", "s", v[b1], {v[x]}); }).empty());
}

TEST_CASE("an in-place operator writes to its first argument: buffers, parameters and constants are listed in order") {
  CHECK(written([](Draft& d, const auto& v) { return d.op("aten.add_.Tensor", "s", v[b1], {v[b2]}); }) == Names{"b1"});
  CHECK(written([](Draft& d, const auto& v) {
          d.op("aten.mul_.Tensor", "s", v[k], {v[x]});
          return d.op("my.touch_.default", "t", v[p]);
        }) == Names{"p", "k"});
  CHECK(written([](Draft& d, const auto& v) { return d.op("aten.add_.Tensor", "s", v[x], {v[b1]}); }).empty());
}

TEST_CASE("an out= operator writes to its argument of that name, or to the last") {
  CHECK(written([](Draft& d, const auto& v) { return d.op("aten.atan2.out", "s", v[b1], {v[x], v[b2]}); }) ==
        Names{"b2"});
  CHECK(written([](Draft& d, const auto& v) {
          return d.b.call("aten.atan2.out",
                          {{"out", d.b.value(v[p])}, {"self", d.b.value(v[x])}, {"other", d.b.value(v[b1])}}, "s",
                          ScalarType::float32, {});
        }) == Names{"p"});
}

TEST_CASE("writes through views, and through the result of an in-place operator") {
  CHECK(written([](Draft& d, const auto& v) {
          const ValueId view = d.op("aten.view.default", "view", v[b2]);
          return d.op("aten.add_.Tensor", "s", d.op("aten.t.default", "t", view), {v[x]});
        }) == Names{"b2"});
  CHECK(written([](Draft& d, const auto& v) {
          const ValueId sum = d.op("aten.add.Tensor", "sum", v[b2], {v[x]});
          return d.op("aten.add_.Tensor", "s", sum, {v[b1]});
        }).empty());
  CHECK(written([](Draft& d, const auto& v) {  // the view is made before the write, and reads the written values
          const ValueId view = d.op("aten.view.default", "view", v[b1]);
          d.op("aten.add_.Tensor", "s", v[b1], {v[x]});
          return view;
        }) == Names{"b1"});
}

TEST_CASE("operands of a sub-graph that writes count as written, at any depth") {
  const auto cond = [](bool writes) {
    return written([&](Draft& d, const auto& v) {
      const ValueId flag = d.gt("flag", v[x], 0.0);
      return d.cond(
          "out", flag, {v[b1]},
          [&](auto in) {
            return d.cond(
                "inner", d.gt("deep", in[0], 0.0), {in[0]},
                [&](auto deep) {
                  return writes ? d.op("aten.add_.Tensor", "s", deep[0], {1.0}) : d.add("s", deep[0], 1.0);
                },
                [&](auto deep) { return d.neg("n", deep[0]); });
          },
          [&](auto in) { return d.neg("m", in[0]); });
    });
  };
  CHECK(cond(true) == Names{"b1"});
  CHECK(cond(false).empty());
}

TEST_CASE("a view that a branch returns is written if its operator's result is") {
  Draft d;
  const ValueId t = d.add("t", d.user("x"), 1.0);
  ValueId view = no_id;
  const ValueId made = d.cond(
      "c", d.gt("g", t, 0), {t}, [&](auto in) { return view = d.op("aten.view.default", "view", in[0]); },
      [&](auto in) { return d.relu("r", in[0]); });
  d.op("aten.add_.Tensor", "add_", made, {1.0});
  d.output(made);
  const ExportedProgram program = d.finish();
  detail::InPlaceWrites<> writes(program.view());
  CHECK(writes.is_written(view));
  CHECK(writes.is_written(t));
}
