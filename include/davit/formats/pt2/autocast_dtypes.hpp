// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/core/promote.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/formats/pt2/quotient_dtypes.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/wrapped_graph.hpp"

namespace davit::formats {

namespace detail {

/// Corrects the dtypes of values in graphs that wrap_with_autocast runs in a lower precision.
class AutocastDtypes {
 public:
  explicit AutocastDtypes(ProgramTables& program)
      : values_(program.graph_module.values),
        graph_(program.view()),
        corrected_(graph_.values.size(), 0),
        seen_(graph_.graphs.size(), 0) {}

  void run() { run(root_graph, ScalarType::undefined); }

 private:
  void run(GraphId g, ScalarType autocast) {
    if (std::exchange(seen_[g], 1) != 0) return;
    const Range nodes = graph_.graphs[g].nodes;
    for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) {
      const Node& node = graph_.nodes[n];
      if (wraps_graph(graph_.target(node))) {
        through(node, autocast_of(graph_, node, autocast));
      } else {
        correct(operator_call(graph_, node), autocast);
      }
    }
  }
  /// Passes dtypes through a wrapped graph: from operands to its inputs, and from its outputs to the results.
  void through(const Node& node, ScalarType autocast) {
    const std::optional<WrappedCall> call = wrapped_call(graph_, node);
    if (!call) return;
    pass(call->operands, call->parameters);
    run(call->graph, autocast);
    pass(call->returned, call->results);
  }
  void pass(std::span<const ValueId> from, std::span<const ValueId> to) {
    for (std::size_t i = 0; i < from.size(); ++i)
      if (corrected_[from[i]] != 0) set(to[i], values_[from[i]].dtype);
  }
  void set(ValueId v, ScalarType dtype) {
    if (values_[v].kind != ValueKind::tensor || !is_floating(values_[v].dtype) || values_[v].dtype == dtype) return;
    values_[v].dtype = dtype;
    corrected_[v] = 1;
  }
  void correct(const OperatorCall& call, ScalarType autocast) {
    const AutocastPolicy policy =
        autocast == ScalarType::undefined ? AutocastPolicy::none : facts_of(call.target).autocast;
    PromotedType promoted;
    ScalarType first = ScalarType::undefined;
    bool is_corrected = false, is_double = false;
    for (const Argument& input : call.inputs)
      graph_.for_each_value(input, [&](ValueId v) {
        const Value& value = values_[v];
        if (value.kind != ValueKind::tensor || !is_floating(value.dtype)) return;
        ScalarType& of = value.sizes.count == 0 ? promoted.zero : promoted.dimensioned;
        of = promote(of, value.dtype);
        if (first == ScalarType::undefined) first = value.dtype;
        is_corrected = is_corrected || corrected_[v] != 0;
        is_double = is_double || value.dtype == ScalarType::float64;
      });
    if (first == ScalarType::undefined || is_double ||
        (policy != AutocastPolicy::lower && (!is_corrected || makes_own_dtype(graph_, call))))
      return;
    const ScalarType dtype = policy == AutocastPolicy::lower  ? autocast
                             : policy == AutocastPolicy::full ? ScalarType::float32
                             : call.target.contains("_norm")  ? first  // its weights may have another dtype
                                                              : promoted.get();
    for (const Argument& output : call.outputs) graph_.for_each_value(output, [&](ValueId v) { set(v, dtype); });
  }

  std::vector<Value>& values_;
  GraphModuleView graph_;
  std::vector<std::uint8_t> corrected_;
  std::vector<std::uint8_t> seen_;  ///< per graph
};

}  // namespace detail

/// Corrects the dtypes of values that autocast computes, and of the values derived from them.
///
/// In training IR torch 2.6 traces a graph called by wrap_with_autocast without the mode, so it records float32 instead
/// of the lower precision. O(nodes + arguments). Source: torch._export.passes.replace_autocast_with_hop_pass.
inline void correct_autocast_dtypes(ProgramTables& program) {
  const GraphModuleView graph = program.view();
  if (std::ranges::any_of(graph.nodes, [&](const Node& n) {
        return autocast_of(graph, n, ScalarType::undefined) != ScalarType::undefined;
      }))
    detail::AutocastDtypes(program).run();
}

}  // namespace davit::formats
