// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/workspace.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include "davit/program/graph_builder.hpp"

using namespace davit;
using xnnpack_parts::SymbolSizes;

namespace {

/// Expressions of the size s0, each written separately: a part of a program has some of them.
struct Expressions {
  GraphBuilder b;
  [[nodiscard]] ExprId number(std::int64_t n) { return b.expr({.value = n}); }
  [[nodiscard]] ExprId of(ExprOp op, ExprId x, std::int64_t n) { return b.expr({.op = op, .a = x, .b = number(n)}); }
  [[nodiscard]] ExprId half() { return of(ExprOp::floor_div, b.symbol("s0"), 2); }
  [[nodiscard]] ExprId even() { return b.expr({.op = ExprOp::mul, .a = number(2), .b = half()}); }
};

/// The value of `asked`, if known, for a value of `told`.
[[nodiscard]] std::optional<std::int64_t> value_of(const GraphModule& module, ExprId told, std::int64_t value,
                                                   ExprId asked) {
  SymbolSizes sizes(module.exprs, {module.text.data(), module.text.size()});
  for (const bool first : {true, false}) {
    sizes.bind(told, value, first);
    sizes.settle();
  }
  return sizes.value(asked);
}

}  // namespace

TEST_CASE("the value of an input's expression determines other expressions with the same terms") {
  Expressions e;
  e.b.begin_graph();
  const ExprId wide = e.of(ExprOp::add, e.even(), 4), narrow = e.of(ExprOp::add, e.even(), 2), half = e.half(),
               twice = e.of(ExprOp::mul, wide, 2);
  const ExprId sum = e.b.expr({.op = ExprOp::add, .a = e.b.symbol("s1"), .b = e.b.symbol("s2")}),
               more = e.of(ExprOp::add, e.b.expr({.op = ExprOp::add, .a = e.b.symbol("s1"), .b = e.b.symbol("s2")}), 1);
  const ExprId quarter = e.of(ExprOp::floor_div, e.b.symbol("s0"), 4),
               sixth = e.of(ExprOp::floor_div, e.b.symbol("s0"), 6),
               third = e.of(ExprOp::floor_div, e.b.symbol("s0"), 3);
  const ExprId alone = e.b.symbol("s1");
  const ExprId s0 = e.b.symbol("s0");
  e.b.end_graph({});
  const GraphModule module = std::move(e.b).finish();
  CHECK(value_of(module, wide, 14, narrow) == 12);
  CHECK(value_of(module, wide, 14, half) == 5);
  CHECK(value_of(module, wide, 14, twice) == 28);
  CHECK(!value_of(module, wide, 14, s0));    // 10 or 11
  CHECK(!value_of(module, wide, 15, half));  // no such size
  CHECK(value_of(module, s0, 11, wide) == 14);
  CHECK(value_of(module, sum, 9, more) == 10);
  CHECK(!value_of(module, sum, 9, alone));
  CHECK(value_of(module, half, 11, quarter) == 5);
  CHECK(value_of(module, wide, 26, sixth) == 3);
  CHECK(!value_of(module, half, 11, third));
  CHECK(!value_of(module, quarter, 5, half));
}
