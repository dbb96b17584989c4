// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "davit/backends/onednn/node_reader.hpp"
#include "davit/backends/onednn/op_row.hpp"

namespace davit::onednn_ops {

/// aten.linear: the weight is [out, in].
[[nodiscard]] inline const char* describe_linear(const NodeReader& in, const OpRow&, Operation& op) {
  op.kind = OpKind::linear;
  op.transposed = true;
  op.inputs = {in.tensor("input", 0), in.tensor("weight", 1), in.tensor("bias", 2)};
  if (op.inputs[0] == no_id || op.inputs[1] == no_id) return "an operand is no tensor";
  const Dims weight = in.sizes(op.inputs[1]);
  if (in.rank(op.inputs[1]) != 2 || in.rank(op.inputs[0]) == 0 || in.sizes(op.inputs[0]).back() != weight[1])
    return "the weight does not fit the input";
  if (op.inputs[2] != no_id && in.sizes(op.inputs[2]) != Dims{weight[0]}) return "the bias does not fit the weight";
  return nullptr;
}

/// aten.addmm with a row as bias, and aten.mm: the weight is [in, out].
[[nodiscard]] inline const char* describe_addmm(const NodeReader& in, const OpRow& row, Operation& op) {
  const bool add = row.name == "aten.addmm.default";
  op.kind = OpKind::linear;
  op.inputs = {in.tensor(add ? "mat1" : "self", add ? 1 : 0), in.tensor("mat2", add ? 2 : 1),
               add ? in.tensor("self", 0) : no_id};
  if (op.inputs[0] == no_id || op.inputs[1] == no_id) return "an operand is no tensor";
  if (add && (in.number("beta", 3, 1) != 1.0 || in.number("alpha", 4, 1) != 1.0)) return "alpha or beta is not 1";
  const Dims weight = in.sizes(op.inputs[1]);
  if (in.rank(op.inputs[0]) != 2 || weight.size() != 2 || in.sizes(op.inputs[0])[1] != weight[0])
    return "the matrices do not fit";
  if (op.inputs[2] != no_id && in.sizes(op.inputs[2]) != Dims{weight[1]}) return "the bias is not one row";
  return nullptr;
}

/// aten.bmm, and aten.matmul of two tensors of at least two dimensions.
[[nodiscard]] inline const char* describe_matmul(const NodeReader& in, const OpRow& row, Operation& op) {
  const bool batched = row.name == "aten.bmm.default";
  op.kind = OpKind::matmul;
  op.inputs = {in.tensor("self", 0), in.tensor(batched ? "mat2" : "other", 1)};
  if (op.inputs[0] == no_id || op.inputs[1] == no_id) return "an operand is no tensor";
  if (in.rank(op.inputs[0]) < 2 || in.rank(op.inputs[1]) < 2) return "an operand is a vector";
  const Dims a = in.sizes(op.inputs[0]);
  const Dims b = in.sizes(op.inputs[1]);
  const Dims out = in.sizes(in.output());
  if (out.size() != std::max(a.size(), b.size()) || a[a.size() - 1] != b[b.size() - 2] ||
      a[a.size() - 2] != out[out.size() - 2] || b.back() != out.back())
    return "the matrices do not fit";
  if (b.size() == 2 && a.size() > 2) {  // one matrix for all rows
    op.kind = OpKind::linear;
    op.inputs.push_back(no_id);
  }
  return nullptr;
}

}  // namespace davit::onednn_ops
