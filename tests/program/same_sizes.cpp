// SPDX-License-Identifier: MIT
#include "davit/program/same_sizes.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "davit/program/graph_builder.hpp"

using namespace davit;

namespace {

/// Expressions of one program, each made twice.
constexpr bool check() {
  GraphBuilder b;
  const auto alike = [&](ExprId x, ExprId y) { return same_expr(b.module().exprs, b.module().view().text, x, y); };
  std::vector<ExprId> made[2];
  for (std::vector<ExprId>& all : made) {
    const ExprId s0 = b.expr({.op = ExprOp::symbol, .name = b.intern("s0")});
    const ExprId s1 = b.expr({.op = ExprOp::symbol, .name = b.intern("s1")});
    const ExprId two = b.expr({.value = 2});
    all = {s0,
           s1,
           two,
           b.expr({.op = ExprOp::mul, .a = two, .b = s0}),
           b.expr({.op = ExprOp::mul, .a = two, .b = s1}),
           b.expr({.op = ExprOp::add, .a = two, .b = s0}),
           b.expr({.op = ExprOp::rational, .c = 2, .value = 7}),
           b.expr({.op = ExprOp::rational, .c = 3, .value = 7})};
  }
  for (std::size_t i = 0; i < made[0].size(); ++i)
    for (std::size_t j = 0; j < made[1].size(); ++j)
      if (alike(made[0][i], made[1][j]) != (i == j)) return false;
  return alike(no_id, no_id) && !alike(made[0][0], no_id);
}
static_assert(check());

constexpr bool check_large() {  // a tree of 2^20 leaves in a table of 20 rows, twice
  GraphBuilder b;
  ExprId tops[2];
  for (ExprId& top : tops) {
    top = b.expr({.op = ExprOp::symbol, .name = b.intern("s0")});
    for (int i = 0; i < 20; ++i) top = b.expr({.op = ExprOp::add, .a = top, .b = top});
  }
  return same_expr(b.module().exprs, b.module().view().text, tops[0], tops[0]) &&
         !same_expr(b.module().exprs, b.module().view().text, tops[0], tops[1]);
}
static_assert(check_large());

}  // namespace

TEST_CASE("expressions are the same if they are written alike") {
  CHECK(check());
  CHECK(check_large());
}

TEST_CASE("sizes are the same as numbers or as expressions") {
  GraphBuilder b;
  const ExprId s0 = b.symbol("s0");
  const GraphModuleView graph = b.module().view();
  CHECK(same_size(graph, Dim{3}, Dim{3}));
  CHECK_FALSE(same_size(graph, Dim{3}, Dim{4}));
  CHECK_FALSE(same_size(graph, Dim{3}, Dim{3, s0}));
  CHECK(same_size(graph, Dim{3, s0}, Dim{4, s0}));
  const std::vector<Dim> two{Dim{3}, Dim{4, s0}}, other{Dim{3}, Dim{4}}, three{Dim{3}, Dim{4, s0}, Dim{1}};
  CHECK(same_sizes(graph, two, two));
  CHECK_FALSE(same_sizes(graph, two, other));
  CHECK_FALSE(same_sizes(graph, two, three));
}
