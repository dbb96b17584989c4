// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "davit/backends/onednn/describe_convolution.hpp"
#include "davit/backends/onednn/describe_elementwise.hpp"
#include "davit/backends/onednn/describe_layout.hpp"
#include "davit/backends/onednn/describe_matmul.hpp"
#include "davit/backends/onednn/describe_normalization.hpp"
#include "davit/backends/onednn/describe_pooling.hpp"
#include "davit/backends/onednn/describe_quantization.hpp"
#include "davit/backends/onednn/emit_kernel.hpp"
#include "davit/backends/onednn/specialize.hpp"

namespace davit::onednn_ops {

/// What the backend takes, sorted by name: the partitioner, preprocess and compile all go by it.
inline constexpr auto op_table = std::to_array<OpRow>({
    {"aten._adaptive_avg_pool2d.default", describe_adaptive_pool},
    {"aten._adaptive_avg_pool3d.default", describe_adaptive_pool},
    {"aten._log_softmax.default", describe_kernel},
    {"aten._native_batch_norm_legit_no_training.default", describe_batch_norm},
    {"aten._safe_softmax.default", describe_softmax},
    {"aten._softmax.default", describe_softmax},
    {.name = "aten._to_copy.default", .describe = describe_cast, .any_dtype = true},
    {"aten._unsafe_view.default", describe_view},
    {"aten.abs.default", describe_unary, algorithm::eltwise_abs},
    {"aten.adaptive_avg_pool1d.default", describe_adaptive_pool},
    {"aten.adaptive_avg_pool2d.default", describe_adaptive_pool},
    {"aten.add.Scalar", describe_binary},
    {"aten.add.Tensor", describe_binary},
    {"aten.addmm.default", describe_matmul},
    {"aten.alias.default", describe_view},
    {"aten.amax.default", describe_reduce, algorithm::reduction_max},
    {"aten.amin.default", describe_reduce, algorithm::reduction_min},
    {"aten.avg_pool1d.default", describe_pool},
    {"aten.avg_pool2d.default", describe_pool},
    {"aten.avg_pool3d.default", describe_pool},
    {"aten.batch_norm.default", describe_batch_norm},
    {"aten.bmm.default", describe_matmul},
    {"aten.cat.default", describe_concat},
    {"aten.clamp.default", describe_bounds},
    {"aten.clone.default", describe_view},
    {"aten.constant_pad_nd.default", describe_pad},
    {"aten.contiguous.default", describe_view},
    {"aten.conv1d.default", describe_convolution},
    {"aten.conv1d.padding", describe_convolution},
    {"aten.conv2d.default", describe_convolution},
    {"aten.conv2d.padding", describe_convolution},
    {"aten.conv3d.default", describe_convolution},
    {"aten.convolution.default", describe_convolution},
    {"aten.cos.default", describe_kernel},
    {"aten.div.Scalar", describe_binary},
    {"aten.div.Tensor", describe_binary},
    {"aten.dropout.default", describe_view},
    {"aten.elu.default", describe_kernel},  // the library's is exp(x) - 1: it makes 0 of -0, and loses what is small
    {.name = "aten.embedding.default", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.eq.Scalar", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.eq.Tensor", .describe = describe_kernel, .any_dtype = true},
    {"aten.erf.default", describe_kernel},
    {"aten.exp.default", describe_unary, algorithm::eltwise_exp},
    {"aten.expand.default", describe_expand},
    {"aten.expm1.default", describe_kernel},
    {"aten.flatten.using_ints", describe_view},
    {"aten.full.default", describe_fill},
    {.name = "aten.ge.Scalar", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.ge.Tensor", .describe = describe_kernel, .any_dtype = true},
    {"aten.gelu.default", describe_activation},
    {"aten.grid_sampler_2d.default", describe_kernel},
    {"aten.gru.input", describe_kernel},
    {.name = "aten.gt.Scalar", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.gt.Tensor", .describe = describe_kernel, .any_dtype = true},
    {"aten.hardsigmoid.default", describe_hardsigmoid},
    {"aten.hardswish.default", describe_unary, algorithm::eltwise_hardswish, hardswish_alpha, hardswish_beta},
    {"aten.hardtanh.default", describe_bounds},
    {"aten.layer_norm.default", describe_layer_norm},
    {.name = "aten.le.Scalar", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.le.Tensor", .describe = describe_kernel, .any_dtype = true},
    {"aten.leaky_relu.default", describe_activation},
    {"aten.linear.default", describe_matmul},
    {"aten.log.default", describe_kernel},
    {"aten.log1p.default", describe_kernel},
    {"aten.log_softmax.int", describe_kernel},
    {.name = "aten.logical_and.default", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.logical_not.default", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.logical_or.default", .describe = describe_kernel, .any_dtype = true},
    {"aten.lstm.input", describe_kernel},
    {.name = "aten.lt.Scalar", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.lt.Tensor", .describe = describe_kernel, .any_dtype = true},
    {"aten.matmul.default", describe_matmul},
    {"aten.max_pool1d.default", describe_pool},
    {"aten.max_pool2d.default", describe_pool},
    {"aten.max_pool2d_with_indices.default", describe_pool},
    {"aten.max_pool3d_with_indices.default", describe_pool},
    {"aten.maximum.default", describe_binary},
    {"aten.mean.default", describe_reduce, algorithm::reduction_mean},
    {"aten.mean.dim", describe_reduce, algorithm::reduction_mean},
    {"aten.minimum.default", describe_binary},
    {"aten.mish.default", describe_unary, algorithm::eltwise_mish},
    {"aten.mm.default", describe_matmul},
    {"aten.mul.Scalar", describe_binary},
    {"aten.mul.Tensor", describe_binary},
    {"aten.native_group_norm.default", describe_group_norm},
    {"aten.native_layer_norm.default", describe_layer_norm},
    {.name = "aten.ne.Scalar", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.ne.Tensor", .describe = describe_kernel, .any_dtype = true},
    {"aten.neg.default", describe_unary, algorithm::eltwise_linear, -1.0f, minus_zero},
    {"aten.permute.default", describe_permute},
    {"aten.pow.Tensor_Scalar", describe_activation},
    {"aten.reciprocal.default", describe_unary, algorithm::eltwise_pow, 1.0f, -1.0f},
    {"aten.reflection_pad2d.default", describe_kernel},
    {"aten.relu.default", describe_bounds},
    {"aten.relu6.default", describe_bounds},
    {"aten.replication_pad2d.default", describe_kernel},
    {"aten.reshape.default", describe_view},
    {"aten.rnn_relu.input", describe_kernel},
    {"aten.rnn_tanh.input", describe_kernel},
    {"aten.roll.default", describe_kernel},
    {"aten.round.default", describe_unary, algorithm::eltwise_round},
    {"aten.rsqrt.default", describe_reciprocal_root},
    {"aten.select.int", describe_slice},
    {"aten.sigmoid.default", describe_unary, algorithm::eltwise_logistic},
    {"aten.silu.default", describe_unary, algorithm::eltwise_swish, 1.0f},
    {"aten.sin.default", describe_kernel},
    {"aten.slice.Tensor", describe_slice},
    {"aten.softmax.int", describe_softmax},
    {"aten.split_with_sizes.default", describe_split},
    {"aten.sqrt.default", describe_unary, algorithm::eltwise_sqrt},
    {"aten.square.default", describe_unary, algorithm::eltwise_square},
    {"aten.squeeze.dim", describe_view},
    {"aten.squeeze.dims", describe_view},
    {"aten.sub.Scalar", describe_binary},
    {"aten.sub.Tensor", describe_binary},
    {"aten.sum.default", describe_reduce, algorithm::reduction_sum},
    {"aten.sum.dim_IntList", describe_reduce, algorithm::reduction_sum},
    {"aten.t.default", describe_permute},
    {"aten.tanh.default", describe_unary, algorithm::eltwise_tanh},
    {.name = "aten.to.dtype", .describe = describe_cast, .any_dtype = true},
    {"aten.transpose.int", describe_permute},
    {"aten.unsqueeze.default", describe_view},
    {"aten.upsample_bilinear2d.vec", describe_kernel},
    {"aten.upsample_nearest2d.vec", describe_nearest},
    {"aten.view.default", describe_view},
    {.name = "aten.where.self", .describe = describe_kernel, .any_dtype = true},
    {.name = "quantized_decomposed.dequantize_per_channel.default", .describe = describe_quantization, .any_dtype = true},
    {.name = "quantized_decomposed.dequantize_per_tensor.default", .describe = describe_quantization, .any_dtype = true},
    {.name = "quantized_decomposed.quantize_per_tensor.default", .describe = describe_quantization, .any_dtype = true},
});
static_assert(std::ranges::is_sorted(op_table, {}, &OpRow::name));

/// The row of that operator, or nullptr. O(log n).
[[nodiscard]] constexpr const OpRow* find_op(std::string_view target) noexcept {
  const auto* row = std::ranges::lower_bound(op_table, target, {}, &OpRow::name);
  return row != op_table.end() && row->name == target ? row : nullptr;
}

/// True for operations that are primitives in bfloat16 too; others are portable's kernels there. The library multiplies pairs: of an odd
/// number of terms oneDNN 2.6 multiplies what lies behind the last of a matrix with zero, which makes NaN of an infinity there.
[[nodiscard]] inline bool has_bfloat16(GraphModuleView graph, const Operation& op) {
  switch (op.kind) {
    case OpKind::linear:
    case OpKind::matmul: return sizes_of(graph, op.inputs[0]).back() % 2 == 0;
    case OpKind::deconvolution:
    case OpKind::group_norm:
    case OpKind::reduce:
    case OpKind::resample: return false;
    case OpKind::binary: return op.inputs[1] != no_id;
    default: return true;
  }
}

/// Reads a node: nullptr, and `op` filled, or why the backend does not take it. Whether the library has a primitive for
/// it is another question.
[[nodiscard]] inline const char* describe_node(GraphModuleView whole, NodeId node, Operation& op) {
  const ExampleNode example(whole, node);
  if (!example.knows_uses()) return "an argument is symbolic";
  const GraphModuleView graph = example.view();
  const NodeArguments in(graph, example.node());
  const OpRow* row = find_op(in.call().target);
  if (row == nullptr) return "oneDNN has no such operator";
  if (in.call().token != nullptr) return "the operator has an effect";
  const char* wrong = nullptr;
  ScalarType dtype = ScalarType::undefined;
  const auto check = [&](const Argument& a) {
    graph.for_each_value(a, [&](ValueId v) {
      if (wrong == nullptr) wrong = row->any_dtype ? check_any_tensor(graph, v) : check_tensor(graph, v);
      if (wrong == nullptr && !row->any_dtype && dtype != ScalarType::undefined && graph.values[v].dtype != dtype) wrong = "the dtypes of its tensors differ";
      dtype = graph.values[v].dtype;
    });
  };
  if (in.call().outputs.empty()) return "it has no output";
  for (const Argument& a : in.call().inputs) check(a);
  check(in.call().outputs[0]);  // the others must be unused, which is the row's affair
  if (wrong != nullptr) return wrong;
  op.name = row->name;
  op.node = node;
  const bool parts = row->name.starts_with("aten.split") && in.call().outputs[0].is_list();
  if (in.output() == no_id && !parts) return "its output is no tensor";
  if (in.output() != no_id) op.outputs = {in.output()};
  const Operation empty = op;
  wrong = row->describe(in, *row, op);
  if (wrong == nullptr && dtype == ScalarType::bfloat16 && !row->any_dtype && !has_bfloat16(graph, op)) {
    op = empty;
    wrong = describe_kernel(in, *row, op);
  }
  if (wrong == nullptr && op.outputs.empty()) return "its outputs are no tensors";
  return wrong;
}

}  // namespace davit::onednn_ops
