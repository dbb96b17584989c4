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
    {"aten._log_softmax.default", describe_softmax},
    {"aten._native_batch_norm_legit_no_training.default", describe_batch_norm},
    {"aten._prelu_kernel.default", describe_kernel},
    {"aten._safe_softmax.default", describe_softmax},
    {"aten._softmax.default", describe_softmax},
    {.name = "aten._to_copy.default", .describe = describe_cast, .any_dtype = true},
    {.name = "aten._unsafe_view.default", .describe = describe_view, .integers = true},
    {.name = "aten.abs.default", .describe = describe_unary, .algorithm = algorithm::eltwise_abs, .integers = true},
    {"aten.adaptive_avg_pool1d.default", describe_adaptive_pool},
    {"aten.adaptive_avg_pool2d.default", describe_adaptive_pool},
    {.name = "aten.add.Scalar", .describe = describe_binary, .integers = true},
    {.name = "aten.add.Tensor", .describe = describe_binary, .integers = true},
    {"aten.addmm.default", describe_matmul},
    {.name = "aten.alias.default", .describe = describe_view, .integers = true},
    {"aten.amax.default", describe_reduce},
    {"aten.amin.default", describe_reduce},
    {.name = "aten.arange.start_step", .describe = describe_kernel, .any_dtype = true},
    {"aten.avg_pool1d.default", describe_pool},
    {"aten.avg_pool2d.default", describe_pool},
    {"aten.avg_pool3d.default", describe_pool},
    {"aten.batch_norm.default", describe_batch_norm},
    {.name = "aten.bitwise_and.Tensor", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.bitwise_not.default", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.bitwise_or.Tensor", .describe = describe_kernel, .any_dtype = true},
    {"aten.bmm.default", describe_matmul},
    {"aten.cat.default", describe_concat},
    {.name = "aten.clamp.default", .describe = describe_bounds, .integers = true},
    {.name = "aten.clone.default", .describe = describe_view, .integers = true},
    {"aten.constant_pad_nd.default", describe_pad},
    {.name = "aten.contiguous.default", .describe = describe_view, .integers = true},
    {"aten.conv1d.default", describe_convolution},
    {"aten.conv1d.padding", describe_convolution},
    {"aten.conv2d.default", describe_convolution},
    {"aten.conv2d.padding", describe_convolution},
    {"aten.conv3d.default", describe_convolution},
    {"aten.convolution.default", describe_convolution},
    {"aten.cos.default", describe_kernel},
    {"aten.div.Scalar", describe_binary},
    {.name = "aten.div.Tensor", .describe = describe_binary, .integers = true},
    {"aten.dropout.default", describe_view},
    {"aten.elu.default", describe_kernel},  // the library's is exp(x) - 1: it makes 0 of -0, and loses what is small
    {.name = "aten.embedding.default", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.eq.Scalar", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.eq.Tensor", .describe = describe_kernel, .any_dtype = true},
    {"aten.erf.default", describe_kernel},
    {"aten.exp.default", describe_kernel},
    {"aten.expand.default", describe_expand},
    {"aten.expm1.default", describe_kernel},
    {.name = "aten.flatten.using_ints", .describe = describe_view, .integers = true},
    {.name = "aten.full.default", .describe = describe_fill, .integers = true},
    {.name = "aten.full_like.default", .describe = describe_kernel, .any_dtype = true},
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
    {.name = "aten.isnan.default", .describe = describe_kernel, .any_dtype = true},
    {"aten.layer_norm.default", describe_layer_norm},
    {.name = "aten.le.Scalar", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.le.Tensor", .describe = describe_kernel, .any_dtype = true},
    {"aten.leaky_relu.default", describe_activation},
    {"aten.linear.default", describe_matmul},
    {"aten.log.default", describe_kernel},
    {"aten.log1p.default", describe_kernel},
    {"aten.log_softmax.int", describe_softmax},
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
    {.name = "aten.maximum.default", .describe = describe_binary, .integers = true},
    {"aten.mean.default", describe_reduce},
    {"aten.mean.dim", describe_reduce},
    {.name = "aten.minimum.default", .describe = describe_binary, .integers = true},
    {"aten.mish.default", describe_unary, algorithm::eltwise_mish},
    {"aten.mm.default", describe_matmul},
    {.name = "aten.mul.Scalar", .describe = describe_binary, .integers = true},
    {.name = "aten.mul.Tensor", .describe = describe_binary, .integers = true},
    {"aten.native_group_norm.default", describe_group_norm},
    {"aten.native_layer_norm.default", describe_layer_norm},
    {.name = "aten.ne.Scalar", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.ne.Tensor", .describe = describe_kernel, .any_dtype = true},
    {.name = "aten.neg.default",
     .describe = describe_unary,
     .algorithm = algorithm::eltwise_linear,
     .alpha = -1.0f,
     .beta = minus_zero,
     .integers = true},
    {"aten.permute.default", describe_permute},
    {"aten.pow.Tensor_Scalar", describe_activation},
    {"aten.reciprocal.default", describe_unary, algorithm::eltwise_pow, 1.0f, -1.0f},
    {"aten.reflection_pad2d.default", describe_kernel},
    {"aten.relu.default", describe_bounds},
    {"aten.relu6.default", describe_bounds},
    {"aten.replication_pad2d.default", describe_kernel},
    {.name = "aten.reshape.default", .describe = describe_view, .integers = true},
    {"aten.rnn_relu.input", describe_kernel},
    {"aten.rnn_tanh.input", describe_kernel},
    {"aten.roll.default", describe_kernel},
    {"aten.round.default", describe_unary, algorithm::eltwise_round},
    {"aten.rsqrt.default", describe_reciprocal_root},
    {.name = "aten.scaled_dot_product_attention.default", .describe = describe_attention, .any_dtype = true},
    {"aten.select.int", describe_slice},
    {"aten.sigmoid.default", describe_unary, algorithm::eltwise_logistic},
    {"aten.silu.default", describe_unary, algorithm::eltwise_swish, 1.0f},
    {"aten.sin.default", describe_kernel},
    {"aten.slice.Tensor", describe_slice},
    {"aten.softmax.int", describe_softmax},
    {"aten.split_with_sizes.default", describe_split},
    {"aten.sqrt.default", describe_unary, algorithm::eltwise_sqrt},
    {"aten.square.default", describe_unary, algorithm::eltwise_square},
    {.name = "aten.squeeze.dim", .describe = describe_view, .integers = true},
    {.name = "aten.squeeze.dims", .describe = describe_view, .integers = true},
    {.name = "aten.sub.Scalar", .describe = describe_binary, .integers = true},
    {.name = "aten.sub.Tensor", .describe = describe_binary, .integers = true},
    {"aten.sum.default", describe_reduce},
    {"aten.sum.dim_IntList", describe_reduce},
    {"aten.t.default", describe_permute},
    {"aten.tanh.default", describe_unary, algorithm::eltwise_tanh},
    {.name = "aten.to.dtype", .describe = describe_cast, .any_dtype = true},
    {"aten.transpose.int", describe_permute},
    {.name = "aten.unsqueeze.default", .describe = describe_view, .integers = true},
    {"aten.upsample_bilinear2d.lerp", describe_kernel},
    {"aten.upsample_bilinear2d.vec", describe_kernel},
    {"aten.upsample_nearest2d.vec", describe_nearest},
    {.name = "aten.view.default", .describe = describe_view, .integers = true},
    {.name = "aten.where.self", .describe = describe_kernel, .any_dtype = true},
    {.name = "quantized_decomposed.dequantize_per_channel.default",
     .describe = describe_quantization,
     .any_dtype = true},
    {.name = "quantized_decomposed.dequantize_per_tensor.default",
     .describe = describe_quantization,
     .any_dtype = true},
    {.name = "quantized_decomposed.quantize_per_tensor.default", .describe = describe_quantization, .any_dtype = true},
});
static_assert(std::ranges::is_sorted(op_table, {}, &OpRow::name));

/// The row of that operator, or nullptr. O(log n).
[[nodiscard]] constexpr const OpRow* find_op(std::string_view target) noexcept {
  const auto* row = std::ranges::lower_bound(op_table, target, {}, &OpRow::name);
  return row != op_table.end() && row->name == target ? row : nullptr;
}

/// True for operations that are primitives in that dtype; others are portable's kernels. Products of dtypes without
/// code are computed in float32, convolutions where that pays. The library multiplies pairs of bfloat16: of an odd
/// number of terms oneDNN 2.6 multiplies what lies behind the last of a matrix with zero, which makes NaN of an
/// infinity there.
[[nodiscard]] inline bool has_primitive(GraphModuleView graph, const Operation& op, ScalarType dtype) {
  const bool pairs = dtype == ScalarType::bfloat16 && has_wide_vectors();
  if (dtype == ScalarType::float32 || op.kind == OpKind::view) return true;
  switch (op.kind) {
    case OpKind::linear:
    case OpKind::matmul: return !pairs || sizes_of(graph, op.inputs[0]).back() % 2 == 0;
    case OpKind::convolution:
      return pairs || (op.groups == 1 && count_of(op.kernel) > 1 && sizes_of(graph, op.outputs[0])[1] >= 8);
    case OpKind::resample: return false;
    case OpKind::binary: return pairs && op.inputs[1] != no_id;
    default: return pairs;
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
  bool is_float = true;
  const auto check = [&](const Argument& a) {
    graph.for_each_value(a, [&](ValueId v) {
      if (wrong == nullptr) wrong = check_tensor_for(*row, graph, v);
      if (wrong != nullptr) return;
      is_float = is_float && check_tensor(graph, v) == nullptr &&
                 (dtype == ScalarType::undefined || graph.values[v].dtype == dtype);
      if (!is_float && !row->any_dtype && !row->integers) wrong = "the dtypes of its tensors differ";
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
  const bool by_kernel = !is_float && row->integers && row->describe != describe_view;
  wrong = by_kernel ? describe_kernel(in, *row, op) : row->describe(in, *row, op);
  if (wrong == nullptr && is_float && !row->any_dtype && !has_primitive(graph, op, dtype)) {
    op = empty;
    wrong = describe_kernel(in, *row, op);
  }
  if (wrong == nullptr && op.outputs.empty()) return "its outputs are no tensors";
  return wrong;
}

}  // namespace davit::onednn_ops
