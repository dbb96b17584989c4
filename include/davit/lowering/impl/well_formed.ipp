// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/program/graph.hpp"

/// Whether the calls of a program are as the operators' schemas say. Files may say anything: what reads nodes by
/// position asks first.
namespace davit::detail {

/// True if an argument is what the schema says of a parameter or of a list's item.
[[nodiscard]] bool fits_type(GraphModuleView graph, const Argument& a, std::string_view type, bool or_number) noexcept {
  const bool number = a.kind == ArgumentKind::int_ || a.kind == ArgumentKind::float_ || a.kind == ArgumentKind::bool_;
  const bool is_tensor = a.is_value() && graph.values[a.value()].kind == ValueKind::tensor;
  if (a.kind == ArgumentKind::none) return type.ends_with('?');
  if (type.ends_with('?')) type.remove_suffix(1);
  if (type == "Tensor") return is_tensor || (or_number && (number || a.is_value()));
  if (type == "int" || type == "SymInt" || type == "bool")
    return a.kind == ArgumentKind::int_ || a.kind == ArgumentKind::bool_ || (a.is_value() && !is_tensor);
  if (type == "float" || type == "Scalar" || type == "number")
    return number || a.kind == ArgumentKind::complex_ || (a.is_value() && !is_tensor);
  if (type == "str") return a.kind == ArgumentKind::string;
  return !a.is_list() && !a.is_value();
}

/// True if a list, or one number, is what a schema says.
[[nodiscard]] bool fits_parameter(GraphModuleView graph, const Argument& a, const SchemaParameter& p,
                                  bool takes_number) noexcept {
  if (a.kind == ArgumentKind::none) return p.is_optional() || p.has_default;
  if (!p.is_list()) return fits_type(graph, a, p.type, p.name == "other" || takes_number);
  if (!a.is_list()) return fits_type(graph, a, p.element(), false);
  return std::ranges::all_of(graph.args(a.items),
                             [&](const Argument& item) { return fits_type(graph, item, p.element(), false); });
}

/// True for a call of what `schema` says: with arguments in its order that it has parameters for, of their types, none
/// of those left out that have no default; with dimensions that its first tensor has.
[[nodiscard]] bool is_well_formed(GraphModuleView graph, const Node& node, const OperatorSchema& schema) {
  const OperatorFacts& facts = facts_of(schema.name);
  const bool takes_number = facts.takes_number && schema.name.ends_with(".Tensor");
  const std::span<const Argument> inputs = graph.inputs(node);
  const auto rank_of = [&](const Argument& a) {
    return static_cast<std::int64_t>(graph.values[a.value()].sizes.count);
  };
  std::int64_t rank = -1;
  std::size_t next = 0;  // parameter
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Argument& a = inputs[i];
    const std::string_view name = graph.str(a.name);
    const std::size_t at = name.empty() ? next : schema.index_of(name);
    if (at < next || at >= schema.parameters.size()) return false;
    for (; next < at; ++next)
      if (!schema.parameters[next].has_default) return false;
    const SchemaParameter& p = schema.parameters[next++];
    if (!fits_parameter(graph, a, p, takes_number)) return false;
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
  for (; next < schema.parameters.size(); ++next)
    if (!schema.parameters[next].has_default) return false;
  // ranks that the operator asks for: of its tensors, in order, and of its output
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
    case ShapeRule::joined: return rank > 0 && outputs.size() == 1 && outputs[0].is_value();
    case ShapeRule::sliced:
    case ShapeRule::transposed:
    case ShapeRule::permuted:
    case ShapeRule::same:
    case ShapeRule::tested:
      return rank >= (facts.shape == ShapeRule::sliced || facts.shape == ShapeRule::transposed ? 1 : 0) &&
             outputs.size() == 1 && outputs[0].is_value() && rank_of(outputs[0]) == rank;
    default: return true;
  }
}

/// True if every call of an ATen operator that davit knows is well formed. O(arguments).
[[nodiscard]] bool are_well_formed(GraphModuleView graph) {
  std::map<std::string_view, OperatorSchema> schemas;
  for (const Node& node : graph.nodes) {
    const std::string_view target = graph.target(node);
    const auto [at, fresh] = schemas.try_emplace(target);
    if (const std::string_view text = fresh ? find_operator(target) : std::string_view(); !text.empty())
      at->second = parse_schema(text);
    if (!at->second.name.empty() && !is_well_formed(graph, node, at->second)) return false;
  }
  return true;
}

}  // namespace davit::detail
