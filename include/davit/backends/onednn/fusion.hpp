// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/onednn/convolution_layout.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/backends/onednn/operation.hpp"
#include "davit/backends/kit/finite_guard.hpp"
#include "davit/program/operators/folds.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/uses.hpp"

namespace davit::onednn_ops {

/// An operation, and the following ones that may become part of its primitive, as indices in the list of operations.
struct Chain {
  std::uint32_t base = 0;
  std::vector<std::uint32_t> epilogue;
};

/// The uses of values: by operations, as their indices, by graph outputs, and by checks.
[[nodiscard]] inline Uses uses_of(GraphModuleView graph, std::span<const Operation> operations,
                                  std::span<const ValueCheck> checks) {
  Uses uses(graph.values.size());
  for (std::uint32_t i = 0; i < operations.size(); ++i)
    for (const ValueId v : operations[i].inputs)
      if (v != no_id) uses.add(v, i);
  uses.keep_outputs(graph);
  for (ValueId v = 0; v < checks.size(); ++v)
    if (checks[v] != ValueCheck::none) uses.keep(v);
  return uses;
}

[[nodiscard]] inline bool takes_epilogue(const Operation& op) noexcept {
  return op.kind == OpKind::convolution || op.kind == OpKind::linear || op.kind == OpKind::matmul ||
         op.kind == OpKind::binary || op.kind == OpKind::batch_norm;
}

/// True if `op` is a depthwise convolution that a pointwise one may take as a post-op: 3 x 3, padded by 1. Source:
/// oneDNN's guide, "Depthwise" post-ops.
[[nodiscard]] inline bool joins_depthwise(GraphModuleView graph, const Operation& base, const Operation& op,
                                          ValueId v) {
  const auto all = [](const Dims& dims, std::int64_t size) {
    return dims.size() == 2 && dims[0] == size && dims[1] == size;
  };
  if (base.kind != OpKind::convolution || op.kind != OpKind::convolution || op.inputs[0] != v) return false;
  if (graph.values[v].dtype != ScalarType::float32) return false;
  if (base.groups != 1 || !all(base.kernel, 1) || !all(base.strides, 1) || !all(base.pad_left, 0) ||
      !all(base.pad_right, 0))
    return false;
  const std::int64_t channels = sizes_of(graph, v)[1];
  return op.groups == channels && sizes_of(graph, op.outputs[0])[1] == channels && all(op.kernel, 3) &&
         all(op.dilates, 0) && all(op.pad_left, 1) && all(op.pad_right, 1) &&
         (all(op.strides, 1) || all(op.strides, 2));
}

/// True if `op`, whose operand `v` is the chain's result so far, can be a post-op of the base.
[[nodiscard]] inline bool joins(GraphModuleView graph, const Operation& base, const Operation& op, ValueId v) {
  if (base.kind == OpKind::batch_norm)
    return op.kind == OpKind::eltwise && base.outputs[0] == v && op.functions.size() == 1 &&
           op.functions[0] == Function{dnnl::algorithm::eltwise_relu};
  if (op.kind == OpKind::eltwise) return true;
  if (op.kind == OpKind::view) return base.kind == OpKind::linear || base.kind == OpKind::matmul;
  if (op.kind != OpKind::binary || op.inputs[0] == op.inputs[1]) return false;
  const bool commutes = op.algorithm != dnnl::algorithm::binary_sub && op.algorithm != dnnl::algorithm::binary_div;
  if (op.inputs[0] != v && !commutes) return false;
  const Dims out = sizes_of(graph, op.outputs[0]);
  return sizes_of(graph, v) == out;
}

/// Folds a zero padding into the convolution that is its only user, unless portable's kernel computes that convolution
/// from its node. Returns the operations that are no longer needed.
[[nodiscard]] inline std::vector<bool> fold_pads(GraphModuleView graph, std::span<Operation> operations,
                                                 const operators::ProgramCalls& calls,
                                                 std::span<const std::uint32_t> producer) {
  std::vector<bool> gone(operations.size(), false);
  for (Operation& op : operations) {
    operators::PadView pad;
    if (op.kind != OpKind::convolution ||
        has_small_groups(op, sizes_of(graph, op.inputs[0])[1], sizes_of(graph, op.outputs[0])[1]))
      continue;
    if (!operators::read_inner_padding(calls, op.inputs[0], pad)) continue;
    for (std::size_t d = 0; d < op.pad_left.size(); ++d) {
      op.pad_left[d] += pad.before[d + 2];
      op.pad_right[d] += pad.after[d + 2];
    }
    gone[producer[op.inputs[0]]] = true;
    op.inputs[0] = pad.input;
  }
  return gone;
}

/// Groups operations into chains, in an executable order. `folds(base, norm)` says whether a batch norm can be folded
/// into a convolution's weights. Folds paddings into convolutions, which changes these operations. O(operations).
template <class Folds>
[[nodiscard]] std::vector<Chain> make_chains(GraphModuleView graph, std::span<Operation> operations, Folds&& folds,
                                             std::span<const ValueCheck> checks = {}) {
  const operators::ProgramCalls calls{graph, uses_of(graph, operations, checks)};
  std::vector<std::uint32_t> producer(graph.values.size(), no_id);
  for (std::uint32_t i = 0; i < operations.size(); ++i)
    for (const ValueId v : operations[i].outputs) producer[v] = i;
  std::vector<bool> gone = fold_pads(graph, operations, calls, producer);
  std::vector<Chain> at(operations.size());  // chains by the index of their last operation
  std::vector<bool> used(operations.size(), false);
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (gone[i]) continue;
    Chain chain{i, {}};
    ValueId v = operations[i].outputs[0];
    const Operation* convolution = &operations[i];  // the chain's last convolution, which a batch norm may follow
    bool depthwise = false;
    while (takes_epilogue(operations[i])) {
      const std::uint32_t next = calls.uses.only_user(v);
      if (next == no_id || gone[next]) break;
      const Operation& op = operations[next];
      const bool norm =
          op.kind == OpKind::batch_norm && convolution != nullptr && op.inputs[0] == v && folds(*convolution, op);
      const bool deeper = !depthwise && joins_depthwise(graph, operations[i], op, v);
      const bool along = joins(graph, operations[i], op, v) && (!depthwise || op.kind == OpKind::eltwise);
      if (!norm && !deeper && !along) break;
      convolution = deeper ? &op : nullptr;
      depthwise = depthwise || deeper;
      gone[next] = true;
      chain.epilogue.push_back(next);
      v = op.outputs[0];
    }
    const std::uint32_t end = chain.epilogue.empty() ? i : chain.epilogue.back();
    at[end] = std::move(chain);
    used[end] = true;
  }
  std::vector<Chain> chains;
  for (std::uint32_t i = 0; i < operations.size(); ++i)
    if (used[i]) chains.push_back(std::move(at[i]));
  return chains;
}

}  // namespace davit::onednn_ops
