// SPDX-License-Identifier: MIT
#include "davit/program/size_text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>

#include "davit/program/graph_builder.hpp"

using namespace davit;

namespace {

constexpr bool check() {
  GraphBuilder b;
  const ExprId s0 = b.symbol("s0"), s1 = b.symbol("s1"), two = b.expr({.value = 2}), one = b.expr({.value = 1});
  const auto of = [&](ExprOp op, ExprId x, ExprId y) { return b.expr({.op = op, .a = x, .b = y}); };
  const ExprId twice = of(ExprOp::mul, two, s0), odd = of(ExprOp::add, twice, one);
  const auto text = [&](ExprId id) {
    const GraphModuleView graph = b.module().view();
    return size_text(graph.exprs, {.value = 8, .expr = id},
                     [&](ExprId symbol) { return Name::own(graph.str(graph.exprs[symbol].name)); });
  };
  ExprId deep = s0;
  for (int i = 0; i < 40; ++i) deep = of(ExprOp::add, deep, deep);
  const struct {
    ExprId id;
    std::string_view text;
  } expected[] = {{s0, "s0"},
                  {two, "2"},
                  {odd, "2*s0 + 1"},
                  {of(ExprOp::mul, odd, s1), "(2*s0 + 1)*s1"},
                  {of(ExprOp::floor_div, odd, twice), "(2*s0 + 1)//(2*s0)"},
                  {of(ExprOp::add, s0, of(ExprOp::add, s1, one)), "s0 + s1 + 1"},
                  {of(ExprOp::max, odd, s1), "max(2*s0 + 1, s1)"},
                  {of(ExprOp::python_mod, s0, two), "s0 % 2"},
                  {of(ExprOp::pow, s0, two), "..."},
                  {of(ExprOp::add, s0, no_id), "s0 + ..."}};
  for (const auto& each : expected) {
    const Name made = text(each.id);
    if (made != each.text) return false;
  }
  const Name fixed = size_text({}, {.value = 3}, [](ExprId) { return Name(); }), nested = text(deep);
  return fixed == "3" && nested.view().find("...") != std::string_view::npos && nested.view().size() < 200;
}
static_assert(check());

constexpr bool check_ranges() {
  const Name both = range_text("s0", 2, 64), least = range_text("s0", 2, INT64_MAX),
             most = range_text("s0", INT64_MIN, 9), none = range_text("s0", INT64_MIN, INT64_MAX);
  return both == "s0=2..64" && least == "s0=2.." && most == "s0=..9" && none.empty();
}
static_assert(check_ranges());

}  // namespace

TEST_CASE("sizes are written as in Python, their bounds as options take them") {
  CHECK(check());
  CHECK(check_ranges());
}
