// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/emit_kernel.hpp"
#include "davit/backends/onednn/op_row.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/program/operators/normalization.hpp"
#include "davit/program/operators/reduction.hpp"
#include "davit/program/operators/softmax.hpp"

namespace davit::onednn_ops {

namespace detail {
/// True if the output has the sizes of that operand, as what normalizes it has.
[[nodiscard]] inline bool keeps_sizes(const NodeArguments& in, ValueId v) {
  return in.output() != no_id && sizes_of(in.graph(), v) == sizes_of(in.graph(), in.output());
}
}  // namespace detail

/// Batch norms with the running statistics.
[[nodiscard]] inline const char* describe_batch_norm(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::BatchNormView view;
  if (const Refusal wrong = operators::read_batch_norm(in, view)) return wrong.what;
  if (view.training) return "it computes the statistics of its input";
  if (!detail::keeps_sizes(in, view.input)) return "the sizes of input and output differ";
  if (!in.uses_first_output_only()) return "the saved statistics are used";
  op.kind = OpKind::batch_norm;
  op.inputs = {view.input, view.mean, view.variance, view.weight, view.bias};
  op.epsilon = static_cast<float>(view.eps);
  return nullptr;
}

/// aten.layer_norm, and aten.native_layer_norm whose statistics nobody uses.
[[nodiscard]] inline const char* describe_layer_norm(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::LayerNormView view;
  if (const Refusal wrong = operators::read_layer_norm(in, view)) return wrong.what;
  if (!in.uses_first_output_only()) return "the statistics are used";
  if (!detail::keeps_sizes(in, view.input)) return "the sizes of input and output differ";
  op.kind = OpKind::layer_norm;
  op.inputs = {view.input, view.weight, view.bias};
  const Dims source = sizes_of(in.graph(), view.input);
  op.kernel.assign(source.end() - static_cast<std::ptrdiff_t>(view.dims), source.end());
  op.epsilon = static_cast<float>(view.eps);
  return nullptr;
}

/// aten.native_group_norm: portable's kernel takes half the time of the library's layer norm and products by channels.
[[nodiscard]] inline const char* describe_group_norm(const NodeArguments& in, const OpRow& row, Operation& op) {
  operators::GroupNormView view;
  const Refusal wrong = operators::read_group_norm(in, view);
  return wrong ? wrong.what : describe_kernel(in, row, op);
}

/// softmax and its logarithm, exported or decomposed: portable's kernel takes a third of the time of the library's, and
/// loses no NaN.
[[nodiscard]] inline const char* describe_softmax(const NodeArguments& in, const OpRow& row, Operation& op) {
  operators::SoftmaxView view;
  const Refusal wrong = operators::read_softmax(in, view);
  return wrong ? wrong.what : describe_kernel(in, row, op);
}

/// mean, sum, amax and amin. The mean over all dimensions behind the channels is a pooling; others are portable's,
/// whose sums are faster than those of oneDNN 2.6, and in double.
[[nodiscard]] inline const char* describe_reduce(const NodeArguments& in, const OpRow& row, Operation& op) {
  operators::ReductionView view;
  if (const Refusal wrong = operators::read_reduction(in, view)) return wrong.what;
  if (view.converts) return "it changes the dtype";
  const Dims source = sizes_of(in.graph(), view.input);
  std::int64_t left = 1;
  bool spatial = source.size() >= 3 && source.size() <= 5 && view.function == operators::ReductionFunction::mean;
  for (std::size_t d = 0; d < source.size(); ++d) {
    const bool reduced = view.reduces(d);
    left *= reduced ? 1 : source[d];
    spatial = spatial && reduced == (d >= 2);
  }
  if (left != count_of(sizes_of(in.graph(), in.output()))) return "the output's sizes do not fit";
  if (!spatial) return describe_kernel(in, row, op);
  op.inputs = {view.input};
  op.kind = OpKind::pool;
  op.algorithm = algorithm::pooling_avg_exclude_padding;
  op.kernel.assign(source.begin() + 2, source.end());
  op.strides = op.kernel;
  op.dilates = op.pad_left = op.pad_right = Dims(op.kernel.size(), 0);
  return nullptr;
}

}  // namespace davit::onednn_ops
