// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/pattern.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>

#include "davit/program/graph_builder.hpp"

using namespace davit;
using namespace davit::int8_fold;

TEST_CASE("the byte that stands for a number") {
  constexpr Quantized q{.value = 0, .dtype = ScalarType::int8, .scale = 0.5, .zero_point = -10};
  static_assert(q.byte_of(0) == -10 && q.byte_of(1) == -8 && q.byte_of(0.25) == -10 && q.byte_of(0.75) == -8);
  static_assert(q.byte_of(1e30) == 127 && q.byte_of(-1e30) == -128);
  CHECK(q.same_numbers({.value = 7, .dtype = ScalarType::int8, .scale = 0.5, .zero_point = -10}));
  CHECK(!q.same_numbers({.value = 0, .dtype = ScalarType::uint8, .scale = 0.5, .zero_point = -10}));
}

namespace {
constexpr bool keeps(std::string_view target) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {4});
  b.end_graph({b.call(target, {{"self", b.value(x)}}, "y", ScalarType::float32, {4})});
  const GraphModule module = std::move(b).finish();
  const StaticGraphRows rows(module.view());
  const EmbedGraph graph{.graph = rows.view()};
  return keeps_order(EmbedNode{graph, 0});
}
}  // namespace

TEST_CASE("operators that keep the order of the elements") {
  static_assert(keeps("aten.view.default") && keeps("aten.clone.default") && !keeps("aten.permute.default"));
  CHECK(!keeps("aten.relu.default"));
  CHECK(keeps("aten.dropout.default"));
}
