// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "davit/backends/kit/offload_cost.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/ops/rules.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators/node_arguments.hpp"

/// Nodes that a library's partition runs on portable's kernels, so that it need not end at an operator that the library
/// lacks.
namespace davit {

namespace detail {

/// True if a node can only return a view of its argument. `to` computes if the dtype changes.
[[nodiscard]] inline bool returns_view(const OperatorFacts& facts, const operators::NodeArguments& in) noexcept {
  if (facts.view == ViewKind::none) return false;
  const ValueId x = in.value({"self", 0}), made = in.output();
  return facts.view != ViewKind::maybe_same || x == no_id || made == no_id ||
         in.graph().values[x].dtype == in.graph().values[made].dtype;
}

}  // namespace detail

/// Returns nullptr if a library's partition takes the node as a call of portable's kernel, else the reason.
/// OperatorFacts decide: the result's shape and bound follow from the arguments (ShapeRule, RangeBound), and the
/// operator writes no argument, draws no random number, and is neither a view nor a product. A composite is taken whole
/// if portable takes it whole. O(arguments).
[[nodiscard]] inline const char* refuses_as_kernel(GraphModuleView graph, NodeId node) {
  const operators::NodeArguments in(graph, node);
  const std::string_view target = in.call().target;
  const OperatorFacts& facts = facts_of(target);
  const auto [row, schema, group] = portable_kernels::find_op(portable_kernels::OpSet{}, target);
  if (row == nullptr || has_complex(graph, graph.nodes[node])) return "the library has no such operator";
  if (in.call().token != nullptr || facts.random || row->updates || schema.contains("!)"))
    return "the operator has an effect, or updates an argument";
  if (detail::returns_view(facts, in)) return "a view in a form that the library does not have";
  if (is_product(facts) || facts.range == RangeBound::batch_norm)
    return "a product in a form that the library does not have";
  const std::string_view rule = find_decomposition(target);
  const bool is_composite = !rule.empty() && !is_rule_of_core(rule);
  const bool is_known =
      facts.shape != ShapeRule::unknown || facts.range != RangeBound::unknown || facts.keeps_nonfinite;
  if (is_composite ? facts.shape == ShapeRule::stacked : !is_known) return "the library has no such operator";
  for (const Argument& output : in.call().outputs)
    if (!output.is_value() || graph.values[output.value()].kind != ValueKind::tensor) return "an output is no tensor";
  return nullptr;
}

/// True for an operator whose results depend, at each index, on the operands' elements at that index, so that tensors
/// may have any one layout. No parameter names dimensions: `softmax(x, dim)` is not elementwise. O(parameters).
[[nodiscard]] inline bool is_elementwise(GraphModuleView graph, NodeId node) {
  const OperatorCall call = operator_call(graph, graph.nodes[node]);
  std::size_t tensors = 0;
  for (const Argument& a : call.inputs) graph.for_each_value(a, [&](ValueId) { ++tensors; });
  switch (facts_of(call.target).shape) {
    case ShapeRule::promoted:
    case ShapeRule::quotient:
    case ShapeRule::comparison:
    case ShapeRule::where: break;
    case ShapeRule::same:
    case ShapeRule::absolute:
    case ShapeRule::floating:
    case ShapeRule::predicate:
      if (tensors == 1) break;
      return false;
    default: return false;
  }
  for (const SchemaParameter& parameter : parse_schema(find_operator(call.target)).parameters)
    if (parameter.is_list() || parameter.base() == "int" || parameter.base() == "SymInt") return false;
  return call.outputs.size() == 1;
}

/// True for reductions over dimensions: sum, mean, amax and the like.
[[nodiscard]] constexpr bool is_reduction(std::string_view target) noexcept {
  const ShapeRule rule = facts_of(target).shape;
  return rule == ShapeRule::reduced || rule == ShapeRule::summed || rule == ShapeRule::reduced_to_bool ||
         rule == ShapeRule::reduced_to_index || rule == ShapeRule::reduced_with_index;
}

}  // namespace davit
