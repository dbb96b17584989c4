// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "davit/backends/onednn/op_row.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/program/operators/matmul.hpp"

namespace davit::onednn_ops {

/// linear, mm, addmm with a row as bias, bmm, and matmul of two tensors of at least two dimensions.
[[nodiscard]] inline const char* describe_matmul(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::MatmulView view;
  if (const Refusal wrong = operators::read_matmul(in, view)) return wrong.what;
  if (!view.is_plain()) return "alpha or beta is not 1";
  if (in.rank(view.right) < 2 || (!view.transposed && in.rank(view.left) < 2)) return "an operand is a vector";
  const Dims a = sizes_of(in.graph(), view.left);
  const Dims b = sizes_of(in.graph(), view.right);
  const bool one = view.transposed || b.size() == 2;  // one matrix for all rows
  op.kind = one ? OpKind::linear : OpKind::matmul;
  op.transposed = view.transposed;
  op.inputs = {view.left, view.right};
  if (op.kind == OpKind::linear) op.inputs.push_back(view.addend);
  const std::int64_t columns = view.transposed ? b[0] : b.back();
  if (view.addend != no_id && sizes_of(in.graph(), view.addend) != Dims{columns}) return "the bias is not one row";
  const Dims out = sizes_of(in.graph(), in.output());
  if (view.transposed) {
    Dims made = a;
    made.back() = columns;
    if (in.rank(view.right) != 2 || out != made) return "the output's sizes do not fit";
  }
  if (view.rank != 0 || view.transposed)
    return in.rank(view.left) == in.rank(in.output()) ? nullptr : "the output's sizes do not fit";
  return out.size() == std::max(a.size(), b.size()) && a[a.size() - 2] == out[out.size() - 2] && columns == out.back()
             ? nullptr
             : "the matrices do not fit";
}

}  // namespace davit::onednn_ops
