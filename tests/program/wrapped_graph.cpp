// SPDX-License-Identifier: MIT
#include "davit/program/wrapped_graph.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "davit/program/graph_builder.hpp"

using namespace davit;

namespace {

/// The dtype that a graph called with these arguments computes in; the calling graph computes in float16.
constexpr ScalarType inside(std::string_view target, std::string_view device, bool has_dtype, bool enabled) {
  GraphBuilder b;
  b.begin_graph();
  const Argument inputs[] = {b.string(device), has_dtype ? b.scalar_type(ScalarType::bfloat16) : b.none(),
                             b.boolean(enabled)};
  b.node(target, inputs, {});
  b.end_graph({});
  const GraphModule module = std::move(b).finish();
  return autocast_of(module.view(), module.nodes[0], ScalarType::float16);
}
constexpr bool check_autocast() {
  constexpr std::string_view autocast = "higher_order.wrap_with_autocast";
  return inside(autocast, "cpu", true, true) == ScalarType::bfloat16 &&
         inside(autocast, "cpu", false, true) == ScalarType::bfloat16 &&
         inside(autocast, "cpu", true, false) == ScalarType::undefined &&
         inside(autocast, "cuda", true, true) == ScalarType::float16 &&
         inside("higher_order.wrap_with_set_grad_enabled", "cpu", true, true) == ScalarType::float16;
}
static_assert(check_autocast());
static_assert(wraps_graph("higher_order.wrap_with_autocast") && wraps_graph("higher_order.invoke_subgraph") &&
              !wraps_graph("higher_order.cond") && !wraps_graph("aten.add.Tensor"));

/// True if davit reads a call of region(p, 3) -> (p, None) by `target`, invoke_subgraph or another operator.
constexpr bool is_called(std::string_view target, bool has_name, bool in_list, std::int64_t number,
                         std::size_t results) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.declare({.name = b.text("x"), .kind = ValueKind::tensor, .dtype = ScalarType::float32});
  const ValueId y = b.declare({.name = b.text("y"), .kind = ValueKind::tensor, .dtype = ScalarType::float32});
  b.input(b.value(x));
  const GraphId region = b.begin_graph("region");
  const ValueId p = b.declare({.name = b.text("p"), .kind = ValueKind::tensor, .dtype = ScalarType::float32});
  b.input(b.value(p));
  b.input(b.integer(3));
  const Argument returned[] = {b.value(p), b.none()};
  b.end_graph(returned);
  const Argument operands[] = {b.value(x), b.integer(number)};
  const Argument listed = b.list(operands, ArgumentKind::value);
  Argument inputs[4] = {b.subgraph(region)};
  std::size_t count = 1;
  if (has_name) inputs[count++] = b.string("region_0");
  if (in_list) inputs[count++] = listed;
  for (std::size_t i = 0; !in_list && i < 2; ++i) inputs[count++] = operands[i];
  const Argument outputs[] = {b.value(y), b.none()};
  b.node(target, std::span(inputs, count), std::span(outputs, results));
  const Argument made[] = {b.value(y)};
  b.end_graph(made);
  const GraphModule module = std::move(b).finish();
  const GraphModuleView view = module.view();
  const std::optional<WrappedCall> call = wrapped_call(view, view.nodes[0]);
  return call && call->graph == region && call->operands.size() == 1 && call->operands[0] == x &&
         call->parameters[0] == p && call->returned.size() == 1 && call->returned[0] == p && call->results[0] == y;
}
constexpr bool check_regions() {
  constexpr std::string_view region = "higher_order.invoke_subgraph";
  return is_called(region, true, false, 3, 2) && is_called(region, true, true, 3, 2) &&
         is_called(region, false, false, 3, 2) && !is_called(region, true, false, 3, 1) &&
         !is_called("higher_order.wrap", true, false, 3, 2) && is_called("higher_order.wrap", false, false, 3, 2);
}
static_assert(check_regions());

}  // namespace

TEST_CASE("a compiled region is called with its operands behind its identifier; constants are passed as such") {
  CHECK(check_regions());
}
TEST_CASE("a wrapped graph computes in its call's dtype, or in that of its surroundings") { CHECK(check_autocast()); }
