// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/node_reader.hpp"
#include "davit/backends/onednn/op_row.hpp"

namespace davit::onednn_ops {

/// aten.batch_norm and _native_batch_norm_legit_no_training, with the running statistics.
[[nodiscard]] inline const char* describe_batch_norm(const NodeReader& in, const OpRow& row, Operation& op) {
  const bool full = row.name == "aten.batch_norm.default";
  const ValueId x = in.tensor("input", 0);
  op.kind = OpKind::batch_norm;
  op.inputs = {x, in.tensor("running_mean", 3), in.tensor("running_var", 4), in.tensor("weight", 1),
               in.tensor("bias", 2)};
  if (full && in.flag("training", 5, true)) return "it computes the statistics of its input";
  if (x == no_id || op.inputs[1] == no_id || op.inputs[2] == no_id) return "it has no running statistics";
  if (!in.uses_first_output_only()) return "the saved statistics are used";
  if (in.rank(x) < 2) return "the input has no channels";
  const Dims channels{in.sizes(x)[1]};
  for (std::size_t i = 1; i < op.inputs.size(); ++i)
    if (op.inputs[i] != no_id && in.sizes(op.inputs[i]) != channels) return "a parameter does not fit the channels";
  const std::optional<double> epsilon = in.number("eps", full ? 7 : 6, 1e-5);
  if (!epsilon) return "epsilon is no number";
  op.epsilon = static_cast<float>(*epsilon);
  return nullptr;
}

/// aten.layer_norm, and aten.native_layer_norm whose statistics nobody uses.
[[nodiscard]] inline const char* describe_layer_norm(const NodeReader& in, const OpRow& row, Operation& op) {
  const bool native = row.name == "aten.native_layer_norm.default";
  const ValueId x = in.tensor("input", 0);
  op.kind = OpKind::layer_norm;
  op.inputs = {x, in.tensor("weight", 2), in.tensor("bias", 3)};
  if (x == no_id) return "an operand is no tensor";
  if (native && !in.uses_first_output_only()) return "the statistics are used";
  if (!in.ints("normalized_shape", 1, 0, 0, op.kernel)) return "the normalized sizes are symbolic";
  const Dims source = in.sizes(x);
  if (op.kernel.empty() || op.kernel.size() > in.rank(x) ||
      !std::equal(op.kernel.rbegin(), op.kernel.rend(), source.rbegin()))
    return "the normalized sizes do not fit";
  for (std::size_t i = 1; i < op.inputs.size(); ++i)
    if (op.inputs[i] != no_id && in.sizes(op.inputs[i]) != op.kernel)
      return "a parameter does not fit the normalized sizes";
  const std::optional<double> epsilon = in.number("eps", 4, 1e-5);
  if (!epsilon) return "epsilon is no number";
  op.epsilon = static_cast<float>(*epsilon);
  return nullptr;
}

/// softmax and log_softmax, exported or decomposed.
[[nodiscard]] inline const char* describe_softmax(const NodeReader& in, const OpRow& row, Operation& op) {
  const ValueId x = in.tensor("self", 0);
  if (x == no_id) return "an operand is no tensor";
  const bool core = row.name.starts_with("aten._");
  if (core ? in.flag("half_to_float", 2, false) : in.find("dtype", 2) != nullptr) return "it changes the dtype";
  const std::optional<std::int64_t> dim = in.integer("dim", 1, 0);
  const std::optional<int> axis = dim ? NodeReader::dimension(*dim, in.sizes(x).size()) : std::nullopt;
  if (!axis) return "the dimension is out of range";
  op.kind = OpKind::softmax;
  op.inputs = {x};
  op.algorithm = row.algorithm;
  op.axis = *axis;
  return nullptr;
}

/// mean, sum, amax and amin. The mean over all dimensions behind the channels is a pooling.
[[nodiscard]] inline const char* describe_reduce(const NodeReader& in, const OpRow& row, Operation& op) {
  const ValueId x = in.tensor("self", 0);
  if (x == no_id) return "an operand is no tensor";
  const bool all = row.name == "aten.mean.default" || row.name == "aten.sum.default";
  const bool typed = row.name.starts_with("aten.mean") || row.name.starts_with("aten.sum");
  if (typed && in.find("dtype", all ? 1 : 3) != nullptr) return "it changes the dtype";
  const Dims source = in.sizes(x);
  Dims over;
  if (!all && !in.ints("dim", 1, 0, 0, over)) return "the dimensions are symbolic";
  op.kernel.assign(source.size(), over.empty() ? 1 : 0);
  for (const std::int64_t d : over) {
    const std::optional<int> axis = NodeReader::dimension(d, source.size());
    if (!axis) return "a dimension is out of range";
    op.kernel[static_cast<std::size_t>(*axis)] = 1;
  }
  std::int64_t left = 1;
  for (std::size_t d = 0; d < source.size(); ++d) left *= op.kernel[d] != 0 ? 1 : source[d];
  if (left != count_of(in.sizes(in.output()))) return "the output's sizes do not fit";
  op.inputs = {x};
  op.kind = OpKind::reduce;
  op.algorithm = row.algorithm;
  bool spatial = source.size() >= 3 && source.size() <= 5 && row.algorithm == algorithm::reduction_mean;
  for (std::size_t d = 0; d < source.size(); ++d) spatial = spatial && (op.kernel[d] != 0) == (d >= 2);
  if (!spatial) return nullptr;
  op.kind = OpKind::pool;
  op.algorithm = algorithm::pooling_avg_exclude_padding;
  op.kernel.assign(source.begin() + 2, source.end());
  op.strides = op.kernel;
  op.dilates = op.pad_left = op.pad_right = Dims(op.kernel.size(), 0);
  return nullptr;
}

}  // namespace davit::onednn_ops
