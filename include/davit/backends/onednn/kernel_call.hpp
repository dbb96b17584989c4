// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "davit/backends/onednn/builder.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/backends/portable/run_time/node_kernel.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/program/operator_call.hpp"

namespace davit::onednn_ops {

/// A node as a call of portable's kernel. Without operands its result becomes a constant of the code.
[[nodiscard]] inline const char* describe_kernel(const NodeArguments& in, Operation& op) {
  const portable_kernels::OpRow* const row = portable_kernels::find_op(in.call().target);
  if (row == nullptr) return "there is no kernel for this operation";
  op.kind = OpKind::kernel;
  op.name = row->name;
  op.outputs.clear();
  for (const Argument& output : in.call().outputs) {
    if (!output.is_value()) return "an output is no tensor";
    if (const char* const wrong = check_tensor(in.graph(), output.value())) {
      if (op.outputs.empty() || !in.uses_first_output_only()) return wrong;
      break;  // unsaved statistics are empty
    }
    op.outputs.push_back(output.value());
  }
  bool all_tensors = true;
  for (const Argument& a : in.call().inputs)
    in.graph().for_each_value(a, [&](ValueId v) {
      all_tensors = all_tensors && in.graph().values[v].kind == ValueKind::tensor;
      if (std::ranges::find(op.inputs, v) == op.inputs.end()) op.inputs.push_back(v);
    });
  if (!all_tensors) return "an operand is no tensor";
  if (op.inputs.empty() && (op.outputs.size() != 1 || count_of(sizes_of(in.graph(), op.outputs[0])) > 1 << 20))
    return "the constant would take much memory";
  return nullptr;
}

/// Attention of float32. bfloat16 is faster decomposed, with the library's products.
[[nodiscard]] inline const char* describe_attention(const NodeArguments& in, const OpRow&, Operation& op) {
  return in.output() == no_id || in.graph().values[in.output()].dtype != ScalarType::float32 ? "it is not of float32"
                                                                                             : describe_kernel(in, op);
}

/// Adds the kernel step of an operation; its tensors are in row-major order, or 1d (`all_sizes`).
[[nodiscard]] inline KernelStep kernel_step(Builder& b, const Operation& op, const Dims* all_sizes = nullptr) {
  KernelStep step;
  if (!portable_kernels::bind_node(b.graph(), op.node, op.name, b.numbered(op.inputs), step).empty())
    throw dnnl::error(dnnl_invalid_arguments, "there is no kernel for this operation, or its arguments do not fit");
  for (const std::vector<ValueId>* values : {&op.inputs, &op.outputs})
    for (const ValueId v : *values) {
      Dims sizes;
      for (const Dim& d : b.graph().dims_of(b.graph().values[v].sizes)) sizes.push_back(d.value);
      add_tensor(step, all_sizes == nullptr ? sizes : *all_sizes, b.graph().values[v].dtype);
    }
  step.results = op.outputs.size();
  return step;
}

/// Emits the kernel of an operation, with its tensors in row-major order. Constant results are computed at compile
/// time, unless the kernel refuses: then the run reports the error.
inline void emit_kernel(Builder& b, const Operation& op) {
  KernelStep step = kernel_step(b, op);
  std::vector<Place> operands;
  bool constant = op.outputs.size() == 1 && !b.trial();
  for (const ValueId v : op.inputs) {
    const Place& place = b.place_of(v);
    operands.push_back(data_type_of(b.graph().values[v].dtype) == DataType::undef ? place : b.row_major(place));
    constant = constant && b.is_constant(operands.back());
  }
  // results beyond this limit are not constants: a hostile program may call them huge, and scratch has its own limit
  std::size_t bytes = std::size_t{4} << 20;
  for (const Place& operand : operands) bytes += operand.md.get_size();
  if (constant && plain_of(b.graph(), op.outputs[0]).get_size() <= bytes) {
    const auto run = [&](std::byte* to) {
      KernelState state(step);
      portable_kernels::KernelMemory memory;
      const auto address = [&](std::size_t i) -> void* {
        return i < operands.size() ? b.constant_data(operands[i]) : to;
      };
      if (!state.run(step, memory, address))
        throw dnnl::error(dnnl_invalid_arguments, "the kernel refuses its operands");
    };
    const Place made = attempt(
        [&] { return b.node_constant(operands, plain_of(b.graph(), op.outputs[0]), op.node, run, literals_of(step)); });
    if (made.is_set()) return b.place(op.outputs[0], made);
  }
  std::vector<Place> results;
  for (const ValueId v : op.outputs) results.push_back(b.add_scratch(plain_of(b.graph(), v)));
  b.add_kernel(std::move(step), operands, results);
  for (std::size_t i = 0; i < results.size(); ++i) b.place(op.outputs[i], results[i]);
}

/// Emits one of portable's kernels in place of a primitive. Returns false, and emits nothing, if the operation does not
/// equal its node.
[[nodiscard]] inline bool emit_instead(Builder& b, const Operation& op) {
  bool same = true;
  for (const Argument& a : operator_call(b.graph(), b.graph().nodes[op.node]).inputs)
    b.graph().for_each_value(a, [&](ValueId v) { same = same && std::ranges::find(op.inputs, v) != op.inputs.end(); });
  if (!same || portable_kernels::find_op(op.name) == nullptr) return false;
  Operation given = op;
  std::erase(given.inputs, no_id);
  emit_kernel(b, given);
  return true;
}
/// emit_instead if the library has only its reference implementation, which is far slower; false if it has another.
template <class PrimitiveDesc>
[[nodiscard]] bool emit_instead_of_reference(Builder& b, const Operation& op, const PrimitiveDesc& pd) {
  return (!pd || is_reference(pd)) && emit_instead(b, op);
}

}  // namespace davit::onednn_ops
