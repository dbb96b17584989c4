// SPDX-License-Identifier: MIT
#include "davit/backends/region_worth.hpp"

#include <doctest/doctest.h>

#include "support/net.hpp"

using namespace davit;

TEST_CASE("products are worth a library's while, and what it says; other operators are not") {
  support::Net n;
  const auto x = n.input("x", {2, 3});
  const auto view = n.op("aten.view.default", "view", {3, 2}, {{"self", n.v(x)}, {"size", n.ints({3, 2})}});
  const auto product = n.op("aten.mm.default", "product", {2, 2}, {{"self", n.v(x)}, {"mat2", n.v(view)}});
  const auto tanh = n.op("aten.tanh.default", "tanh", {2, 2}, {{"self", n.v(product)}});
  const ExportedProgram program = n.finish({n.op("tanh.own.default", "own", {2, 2}, {{"self", n.v(tanh)}})});
  CHECK(!is_worth_a_library(program.view(), 0));
  CHECK(is_worth_a_library(program.view(), 1));
  CHECK(!is_worth_a_library(program.view(), 2));
  CHECK(is_worth_a_library(program.view(), 2, {"exp", "tanh"}));
  CHECK(!is_worth_a_library(program.view(), 3, {"own", "tanh"}));
}
