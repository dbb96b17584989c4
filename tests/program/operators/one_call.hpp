// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "davit/backend/embed_graph.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/program/operators/node_arguments.hpp"

/// Helpers of the tests of operators.
namespace one_call {

using davit::Arg;
using davit::GraphBuilder;
using davit::ValueId;

/// A call's view, and why it cannot be read ("" if it can).
template <class View>
struct Reading {
  View view{};
  std::string_view why{};
};

/// Reads the node that `make(builder)` adds, from a program and from a static program; both readings must be equal.
template <class View, class Make, class Read>
[[nodiscard]] constexpr Reading<View> reading(Make&& make, Read&& read) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId y = make(b);
  b.end_graph({y});
  const davit::GraphModule module = std::move(b).finish();
  const auto of = [&](const auto& call) {
    Reading<View> made;
    if (const davit::operators::Refusal wrong = read(call, made.view)) made = {.why = wrong.what};
    return made;
  };
  const Reading<View> plain = of(davit::operators::NodeArguments(module.view(), 0));
  const davit::StaticGraphRows rows(module.view());
  const davit::EmbedGraph graph{.graph = rows.view()};
  const Reading<View> embedded = of(davit::EmbedNode{graph, 0});
  if (embedded.view != plain.view || embedded.why != plain.why) return {.why = "the readers differ"};
  return plain;
}

constexpr ValueId tensor(GraphBuilder& b, std::initializer_list<std::int64_t> sizes) {
  return b.input("x", davit::ScalarType::float32, sizes);
}
constexpr ValueId call(GraphBuilder& b, std::string_view target, std::initializer_list<Arg> arguments) {
  return b.call(target, arguments, "y", davit::ScalarType::float32, {});
}

/// True if davit does not know the operator's schema, or the parameter is at its position.
[[nodiscard]] inline bool stands_there(std::string_view target, davit::operators::Parameter p) {
  const std::string_view text = davit::find_operator(target);
  if (text.empty()) return true;
  const davit::OperatorSchema schema = davit::parse_schema(text);
  return p.position < schema.parameters.size() && schema.parameters[p.position].name == p.name;
}

}  // namespace one_call
