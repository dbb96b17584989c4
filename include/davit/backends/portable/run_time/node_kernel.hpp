// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "davit/backends/portable/run_time/bind_arguments.hpp"
#include "davit/backends/portable/run_time/kernel_step.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/core/name.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/operator_call.hpp"

namespace davit::portable_kernels {

/// Makes a step that calls the kernel of a node's operator with the node's arguments: `number_of_value` maps values to
/// operands. Operands and results are added later. Returns an empty name, or a sentence if there is no kernel, or if
/// the arguments do not fit it. O(arguments).
[[nodiscard]] inline Name bind_node(GraphModuleView graph, NodeId node, std::string_view target,
                                    std::span<const std::uint32_t> number_of_value, KernelStep& step) {
  const auto [row, text, group] = find_op(OpSet{}, graph, node, target);
  if (row == nullptr) return "there is no kernel for this operation";
  const OperatorSchema schema = parse_schema(text);
  step = {.kernel = row->kernel,
          .parameters = static_cast<std::uint32_t>(schema.parameters.size()),
          .arguments = {},
          .dims = {},
          .ranks = {},
          .dtypes = {}};
  ArgumentBinder binder(graph, number_of_value, step.arguments);
  if (Name wrong = binder.bind(operator_call(graph, graph.nodes[node]).inputs, schema, row->takes_numbers);
      !wrong.empty())
    return wrong;
  for (const auto& [argument, word] : step.arguments.strings)
    step.arguments.arguments[argument] = EValue(graph.str(word));  // a view of the body's text
  return {};
}

}  // namespace davit::portable_kernels
