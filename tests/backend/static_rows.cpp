// SPDX-License-Identifier: MIT
#include "davit/backend/static_rows.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "davit/program/graph_builder.hpp"

namespace {

using namespace davit;

/// y = pool(x) + pool(x), and a node without users.
constexpr GraphModule pools() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {1, 1, 4, 4});
  const auto pool = [&](std::string_view name, std::string_view mode) {
    return b.call("aten.pool.default",
                  {{"self", b.value(x)}, {"kernel", b.ints({2, 2})}, {"mode", b.string(mode)}, {"scale", b.real(0.5)}},
                  name, ScalarType::float32, {1, 1, 2, 2});
  };
  const ValueId first = pool("first", "sum"), second = pool("second", "mean"), dead = pool("dead", "sum");
  static_cast<void>(dead);
  b.end_graph({b.call("aten.add.Tensor", {{"self", b.value(first)}, {"other", b.value(second)}}, "y",
                      ScalarType::float32, {1, 1, 2, 2})});
  return std::move(b).finish();
}

constexpr bool has_names() {
  const GraphModule module = pools();
  const StaticGraphRows rows(module.view());
  const StaticGraph g = rows.view();
  return g.value_count == 5 && g.node_count == 4 && g.input_count == 1 && g.name(0) == "x" && g.name(4) == "y" &&
         g.target(3) == "aten.add.Tensor" && g.first_output(3) == 4 && g.inputs[0] == 0 && g.outputs[0] == 4;
}
static_assert(has_names());

constexpr bool counts_what_can_be_counted() {
  const GraphModule module = pools();
  const StaticGraphRows rows(module.view());
  return rows.values[0].users == 2 && rows.values[1].users == 1 &&
         rows.values[3].users == 0 &&  // dead nodes do not count as users
         rows.values[4].users == 1 && rows.values[0].numel == 16 && rows.values[0].source == -1 &&
         rows.values[4].source == 3;
}
static_assert(counts_what_can_be_counted());

constexpr bool keeps_equal_lists_once() {
  const GraphModule module = pools();
  const StaticGraphRows rows(module.view());
  const auto kernel = [&](NodeId n) { return rows.arguments[rows.nodes[n].first_input + 1]; };
  return kernel(0).is_list() && kernel(0).count == 2 && kernel(0).payload == kernel(1).payload &&
         rows.sizes.size() == 8 && rows.values[1].first_size == rows.values[4].first_size &&
         rows.arguments[static_cast<std::size_t>(kernel(0).payload)].payload == 2;
}
static_assert(keeps_equal_lists_once());

constexpr bool has_strings_and_floats() {
  const GraphModule module = pools();
  const StaticGraphRows rows(module.view());
  const StaticArgument* const second = rows.arguments.data() + rows.nodes[1].first_input;
  return second[2].kind == ArgumentKind::string &&
         std::string_view(rows.strings[static_cast<std::size_t>(second[2].payload)]) == "mean" &&
         second[3].float_value() == 0.5;
}
static_assert(has_strings_and_floats());

}  // namespace

TEST_CASE("rows are made at run time as in constant evaluation") {
  CHECK(has_names());
  CHECK(counts_what_can_be_counted());
  CHECK(keeps_equal_lists_once());
  CHECK(has_strings_and_floats());
}

TEST_CASE("names stay where they are when nodes share their arguments") {
  GraphModule module = pools();
  for (Node& node : module.nodes) node.inputs = module.nodes[0].inputs;
  const StaticGraphRows rows(module.view());
  CHECK(rows.text.size() == rows.text.capacity());
  CHECK(std::string_view(rows.values[0].name) == "x");
  for (const StaticNode& node : rows.nodes) CHECK(std::string_view(rows.arguments[node.first_input].name) == "self");
}

TEST_CASE("floats that the program computes become numbers if they are known; float inputs do not") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {2});
  const ValueId given = b.declare({.name = b.intern("given"), .kind = ValueKind::sym_float});
  b.input(b.value(given));
  const ValueId quotient = b.declare({.name = b.intern("quotient"), .kind = ValueKind::sym_float});
  const Argument out = GraphBuilder::value(quotient);
  const Argument ins[] = {GraphBuilder::integer(3), GraphBuilder::integer(2)};
  b.node("_operator.truediv", ins, {&out, 1});
  const ValueId y =
      b.call("aten.mul.Scalar", {{"self", b.value(x)}, {"other", b.value(quotient)}}, "y", ScalarType::float32, {2});
  b.end_graph(
      {b.call("aten.mul.Scalar", {{"self", b.value(y)}, {"other", b.value(given)}}, "z", ScalarType::float32, {2})});
  const GraphModule module = std::move(b).finish();
  const std::vector<std::int64_t> dims(module.dims.size(), 2);
  std::vector<std::int64_t> symbols(module.values.size(), std::bit_cast<std::int64_t>(1.5));
  const auto other = [&](std::size_t node) {
    const StaticGraphRows rows(module.view(), dims, symbols);
    return rows.arguments[rows.nodes[node].first_input + 1];
  };
  CHECK(other(1).kind == ArgumentKind::float_);
  CHECK(other(1).float_value() == 1.5);
  CHECK(other(2).kind == ArgumentKind::value);
  symbols[quotient] = std::bit_cast<std::int64_t>(std::numeric_limits<double>::quiet_NaN());
  CHECK(other(1).kind == ArgumentKind::value);
}

TEST_CASE("symbolic numbers become numbers") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {2, 3});
  const ValueId n = b.declare({.name = b.intern("n"), .constant = 7, .kind = ValueKind::sym_int});
  b.input(b.value(n));
  b.end_graph(
      {b.call("aten.mul.Scalar", {{"self", b.value(x)}, {"other", b.value(n)}}, "y", ScalarType::float32, {2, 3})});
  const GraphModule module = std::move(b).finish();
  const std::vector<std::int64_t> dims(module.dims.size(), std::numeric_limits<std::int32_t>::max());
  const std::vector<std::int64_t> symbols(module.values.size(), 9);
  const StaticGraphRows rows(module.view(), dims, symbols);
  const StaticArgument& other = rows.arguments[rows.nodes[0].first_input + 1];
  CHECK(other.kind == ArgumentKind::int_);
  CHECK(other.payload == 9);
  CHECK(rows.values[n].dtype == ScalarType::undefined);
  CHECK(rows.values[x].numel == std::int64_t{2147483647} * 2147483647);
}
