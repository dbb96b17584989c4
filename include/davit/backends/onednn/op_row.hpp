// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/backends/onednn/operands.hpp"
#include "davit/backends/onednn/operation.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/program/operators/node_arguments.hpp"

namespace davit::onednn_ops {

/// A row of the op table: an operator, and what reads its nodes; nullptr if it could, else why not.
struct OpRow {
  std::string_view name;
  const char* (*describe)(const operators::NodeArguments& in, const OpRow& row, Operation& op);
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0;
  float beta = 0;
  bool any_dtype = false;  ///< of tensors; else they are all float32, or all bfloat16
  bool integers = false;   ///< tensors of integers and bools are taken, too, and mixed dtypes: by portable's kernel, or
                           ///< as they lie if it is a view
};

/// nullptr if the row takes a tensor of this dtype, else why not.
[[nodiscard]] inline const char* check_tensor_for(const OpRow& row, GraphModuleView graph, ValueId v) noexcept {
  return row.any_dtype || (row.integers && is_integral(graph.values[v].dtype)) ? check_any_tensor(graph, v)
                                                                               : check_tensor(graph, v);
}

}  // namespace davit::onednn_ops
