// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "davit/core/scalar_type.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/operator_call.hpp"

namespace davit::formats {

namespace detail {

/// True for operators whose dtype does not follow from their operands: indices, counts, factories with an explicit
/// dtype.
[[nodiscard]] constexpr bool makes_own_dtype(GraphModuleView graph, const OperatorCall& call) {
  std::string_view name = call.target.substr(call.target.find('.') + 1);
  name = name.substr(0, name.find('.'));
  for (const std::string_view own : {"_to_copy", "argmax", "argmin", "argsort", "bucketize", "count_nonzero", "nonzero",
                                     "searchsorted", "to", "type_as"})
    if (name == own) return true;
  return std::ranges::any_of(call.inputs, [&](const Argument& a) {
    return a.kind == ArgumentKind::scalar_type && graph.str(a.name) == "dtype";
  });
}

}  // namespace detail

/// Corrects the dtype of integer quotients, and of the values derived from them, to float32.
///
/// For aten.div of two integer tensors with symbolic sizes torch 2.6 records an integer result, because its fast path
/// for fake tensors does not promote to float. O(nodes + arguments). Source:
/// torch._subclasses.fake_impls.make_fast_binary_impl.
inline void correct_quotient_dtypes(ProgramTables& program) {
  GraphModule& module = program.graph_module;
  const GraphModuleView graph = program.view();
  std::vector<ScalarType> recorded(graph.values.size(), ScalarType::undefined);  // recorded dtypes of corrected values
  const auto correct = [&](ValueId v) {
    recorded[v] = module.values[v].dtype;
    module.values[v].dtype = ScalarType::float32;
  };
  for (const Node& node : graph.nodes) {
    const OperatorCall call = operator_call(graph, node);
    if (call.outputs.empty()) continue;
    const Argument& first = call.outputs[0].is_list() && call.outputs[0].items.count != 0
                                ? graph.args(call.outputs[0].items)[0]
                                : call.outputs[0];
    if (!first.is_value() || graph.values[first.value()].kind != ValueKind::tensor ||
        !is_integral(graph.values[first.value()].dtype))
      continue;
    bool all_integers = true;
    ScalarType was = ScalarType::undefined;
    for (const Argument& input : call.inputs) {
      all_integers = all_integers && input.kind != ArgumentKind::float_;
      graph.for_each_value(input, [&](ValueId v) {
        const Value& value = graph.values[v];
        all_integers = all_integers && (value.kind == ValueKind::tensor ? is_integral(value.dtype)
                                                                        : value.kind != ValueKind::sym_float);
        if (recorded[v] != ScalarType::undefined) was = recorded[v];
      });
    }
    const bool divides = (call.target == "aten.div.Tensor" || call.target == "aten.div.Scalar") && all_integers;
    const bool follows = was != ScalarType::undefined && graph.values[first.value()].dtype == was &&
                         !detail::makes_own_dtype(graph, call);
    if (!divides && !follows) continue;
    if (!call.outputs[0].is_list()) {
      correct(first.value());
    } else {
      graph.for_each_value(call.outputs[0], [&](ValueId v) {
        if (graph.values[v].dtype == was) correct(v);
      });
    }
  }
}

}  // namespace davit::formats
