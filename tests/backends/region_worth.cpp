// SPDX-License-Identifier: MIT
#include "davit/backends/region_worth.hpp"

#include <doctest/doctest.h>

#include <array>

#include "support/net.hpp"

using namespace davit;

TEST_CASE("products and functions are worth a library's while; views and arithmetic alone are not") {
  support::Net n;
  const auto x = n.input("x", {2, 3});
  const auto sum = n.add("sum", x, x, {2, 3});
  const auto view = n.op("aten.view.default", "view", {6}, {{"self", n.v(sum)}, {"size", n.ints({6})}});
  const auto tanh = n.op("aten.tanh.default", "tanh", {6}, {{"self", n.v(view)}});
  const ExportedProgram program = n.finish({tanh});
  const std::array<NodeId, 3> nodes{0, 1, 2};
  CHECK(!computes_more_than_moves(program.view(), std::span(nodes).first(2)));
  CHECK(computes_more_than_moves(program.view(), nodes));
  CHECK(!computes_more_than_moves(program.view(), {}));
}
