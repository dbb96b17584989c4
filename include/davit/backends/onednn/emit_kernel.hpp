// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "davit/backends/onednn/builder.hpp"
#include "davit/backends/onednn/op_row.hpp"
#include "davit/backends/portable/run_time/bind_arguments.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/program/operator_schema.hpp"

namespace davit::onednn_ops {

/// Operators that portable's kernels carry out: of float32 tensors, with one result.
[[nodiscard]] inline const char* describe_kernel(const NodeArguments& in, const OpRow&, Operation& op) {
  if (in.call().outputs.size() != 1) return "it has several outputs";
  op.kind = OpKind::kernel;
  bool all_tensors = true;
  for (const Argument& a : in.call().inputs)
    in.graph().for_each_value(a, [&](ValueId v) {
      all_tensors = all_tensors && in.graph().values[v].kind == ValueKind::tensor;
      if (std::ranges::find(op.inputs, v) == op.inputs.end()) op.inputs.push_back(v);
    });
  return op.inputs.empty() || !all_tensors ? "an operand is no tensor" : nullptr;
}

inline void emit_kernel(Builder& b, const Operation& op) {
  const auto [row, text] = portable_kernels::find_op({}, op.name);
  if (row == nullptr) throw dnnl::error(dnnl_unimplemented, "there is no kernel for this operation");
  const OperatorSchema schema = parse_schema(text);
  KernelStep step{.kernel = row->kernel, .parameters = static_cast<std::uint32_t>(schema.parameters.size()), .arguments = {}, .dims = {}, .ranks = {}};
  portable_kernels::ArgumentBinder binder(b.graph(), b.numbered(op.inputs), step.arguments);
  const Name wrong = binder.bind(operator_call(b.graph(), b.graph().nodes[op.node]).inputs, schema, row->takes_numbers);
  if (!wrong.empty() || !step.arguments.strings.empty()) throw dnnl::error(dnnl_invalid_arguments, "the arguments do not fit the kernel");
  std::vector<Place> operands;
  const auto add = [&](ValueId v) {
    const std::span<const Dim> sizes = b.graph().dims_of(b.graph().values[v].sizes);
    const std::size_t first = step.dims.size(), rank = sizes.size();
    for (const Dim& d : sizes) step.dims.push_back(d.value);
    step.dims.resize(first + 2 * rank);
    contiguous_strides({step.dims.data() + first, rank}, {step.dims.data() + first + rank, rank});
    step.ranks.push_back(static_cast<std::uint8_t>(rank));
  };
  for (const ValueId v : op.inputs) {
    operands.push_back(b.row_major(b.place_of(v)));
    add(v);
  }
  add(op.outputs[0]);
  const Place to = b.add_scratch(plain(b.sizes(op.outputs[0])));
  b.add_kernel(std::move(step), operands, to);
  b.place(op.outputs[0], to);
}

}  // namespace davit::onednn_ops
