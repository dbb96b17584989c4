// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string_view>

#include "davit/lowering/detail/call_shapes.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"

namespace davit::detail {

/// Checks one call.
[[nodiscard]] bool fits_shapes(GraphModuleView graph, const Node& node, const OperatorSchema& schema) {
  const OperatorFacts& facts = facts_of(schema.name);
  const std::span<const Argument> inputs = graph.inputs(node);
  const auto rank_of = [&](const Argument& a) {
    return static_cast<std::int64_t>(graph.values[a.value()].sizes.count);
  };
  std::int64_t rank = -1;
  std::size_t next = 0;  // index of the parameter
  for (const Argument& a : inputs) {
    const std::string_view name = graph.str(a.name);
    const std::size_t at = name.empty() ? next : schema.index_of(name);
    if (at < next || at >= schema.parameters.size()) return false;
    const SchemaParameter& p = schema.parameters[at];
    next = at + 1;
    if (rank < 0 && p.element() == "Tensor") {
      const Argument& first = a.is_list() && a.items.count != 0 ? graph.args(a.items)[0] : a;
      if (first.is_value()) rank = rank_of(first);
    }
    if (!p.name.starts_with("dim") || rank < 0) continue;
    const bool grows = facts.shape == ShapeRule::unsqueezed || facts.shape == ShapeRule::stacked;
    const std::int64_t dims = std::max<std::int64_t>(rank + (grows ? 1 : 0), 1);
    const auto is_dim = [&](const Argument& d) {
      return d.kind == ArgumentKind::none || (d.kind == ArgumentKind::int_ && d.payload >= -dims && d.payload < dims);
    };
    if (a.is_list() ? !std::ranges::all_of(graph.args(a.items), is_dim) : !is_dim(a)) return false;
  }
  // the ranks that the operator requires of its tensors, in order, and of its output
  const std::span<const Argument> outputs = graph.outputs(node);
  const auto ranks = [&](std::initializer_list<std::int64_t> of_inputs, std::int64_t of_output) {
    std::size_t i = 0;
    for (const std::int64_t wanted : of_inputs)
      if (i >= inputs.size() || !inputs[i].is_value() || rank_of(inputs[i++]) < wanted) return false;
    return outputs.size() == 1 && outputs[0].is_value() && rank_of(outputs[0]) >= of_output;
  };
  switch (facts.shape) {
    case ShapeRule::matrix_product: return ranks({2, 2}, 2);
    case ShapeRule::batched_product: return ranks({3, 3}, 3);
    case ShapeRule::product_added: return ranks({0, 2, 2}, 2);
    case ShapeRule::linear:
    case ShapeRule::product: return ranks({1, 1}, 0);
    case ShapeRule::concatenated: return rank > 0 && outputs.size() == 1 && outputs[0].is_value();
    case ShapeRule::sliced:
    case ShapeRule::transposed:
    case ShapeRule::permuted:
    case ShapeRule::same:
    case ShapeRule::predicate:
      return rank >= (facts.shape == ShapeRule::sliced || facts.shape == ShapeRule::transposed ? 1 : 0) &&
             outputs.size() == 1 && outputs[0].is_value() && rank_of(outputs[0]) == rank;
    default: return true;
  }
}

bool calls_fit_shapes(GraphModuleView graph) {
  std::map<std::string_view, OperatorSchema> schemas;
  for (const Node& node : graph.nodes) {
    const std::string_view target = graph.target(node);
    const auto [at, fresh] = schemas.try_emplace(target);
    if (const std::string_view text = fresh ? find_operator(target) : std::string_view(); !text.empty())
      at->second = parse_schema(text);
    if (!at->second.name.empty() && !fits_shapes(graph, node, at->second)) return false;
  }
  return true;
}

}  // namespace davit::detail
