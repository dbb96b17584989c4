// SPDX-License-Identifier: MIT
#include "davit/program/wrapped_graph.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "davit/program/graph_builder.hpp"

using namespace davit;

namespace {

/// What a graph computes in that is called with these arguments, within one that computes in float16.
constexpr ScalarType inside(std::string_view target, std::string_view device, bool has_dtype, bool enabled) {
  GraphBuilder b;
  b.begin_graph();
  const Argument inputs[] = {b.string(device), has_dtype ? b.scalar_type(ScalarType::bfloat16) : b.none(), b.boolean(enabled)};
  b.node(target, inputs, {});
  b.end_graph({});
  const GraphModule module = std::move(b).finish();
  return autocast_of(module.view(), module.nodes[0], ScalarType::float16);
}
constexpr bool check_autocast() {
  constexpr std::string_view autocast = "higher_order.wrap_with_autocast";
  return inside(autocast, "cpu", true, true) == ScalarType::bfloat16 && inside(autocast, "cpu", false, true) == ScalarType::bfloat16 &&
         inside(autocast, "cpu", true, false) == ScalarType::undefined && inside(autocast, "cuda", true, true) == ScalarType::float16 &&
         inside("higher_order.wrap_with_set_grad_enabled", "cpu", true, true) == ScalarType::float16;
}
static_assert(check_autocast());
static_assert(wraps_graph("higher_order.wrap_with_autocast") && !wraps_graph("higher_order.cond") && !wraps_graph("aten.add.Tensor"));
static_assert(autocast_policy("aten.linear.default") == AutocastPolicy::lower && autocast_policy("aten.prod.dim_int") == AutocastPolicy::full &&
              autocast_policy("aten.softmax.int") == AutocastPolicy::none && autocast_policy("toy.linear.default") == AutocastPolicy::none);

}  // namespace

TEST_CASE("a wrapped graph computes in what its call says, or in what is around it") {
  CHECK(check_autocast());
}
