// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/backends/onednn/operation.hpp"
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
  bool integers = false;   ///< tensors of other dtypes are taken, too: by portable's kernel, or as they lie if it is a view
};

}  // namespace davit::onednn_ops
