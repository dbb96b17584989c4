// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "davit/backends/kit/kernel_nodes.hpp"
#include "davit/backends/onednn/products.hpp"
#include "davit/backends/onednn/elementwise.hpp"
#include "davit/backends/onednn/movement.hpp"
#include "davit/backends/onednn/normalization.hpp"
#include "davit/backends/onednn/pooling.hpp"
#include "davit/backends/onednn/int8.hpp"
#include "davit/backends/onednn/kernel_call.hpp"
#include "davit/backends/onednn/specialize.hpp"

namespace davit::onednn_ops {

/// Operators that are primitives of the library, or layouts, sorted by name: the table of the partitioner, preprocess
/// and compile.
inline constexpr auto op_table = std::to_array<OpRow>({
    {"aten._adaptive_avg_pool2d.default", describe_adaptive_pool},
    {"aten._adaptive_avg_pool3d.default", describe_adaptive_pool},
    {"aten._native_batch_norm_legit_no_training.default", describe_batch_norm},
    {.name = "aten._unsafe_view.default", .describe = describe_view, .any_dtype = true},
    {.name = "aten.abs.default", .describe = describe_unary, .algorithm = algorithm::eltwise_abs},
    {"aten.adaptive_avg_pool1d.default", describe_adaptive_pool},
    {"aten.adaptive_avg_pool2d.default", describe_adaptive_pool},
    {.name = "aten.add.Scalar", .describe = describe_binary},
    {.name = "aten.add.Tensor", .describe = describe_binary},
    {"aten.addmm.default", describe_matmul},
    {.name = "aten.alias.default", .describe = describe_view, .any_dtype = true},
    {"aten.avg_pool1d.default", describe_pool},
    {"aten.avg_pool2d.default", describe_pool},
    {"aten.avg_pool3d.default", describe_pool},
    {"aten.batch_norm.default", describe_batch_norm},
    {"aten.bmm.default", describe_matmul},
    {"aten.cat.default", describe_concat},
    {.name = "aten.clamp.default", .describe = describe_bounds},
    {.name = "aten.clone.default", .describe = describe_view, .any_dtype = true},
    {"aten.constant_pad_nd.default", describe_pad},
    {.name = "aten.contiguous.default", .describe = describe_view, .any_dtype = true},
    {"aten.conv1d.default", describe_convolution},
    {"aten.conv1d.padding", describe_convolution},
    {"aten.conv2d.default", describe_convolution},
    {"aten.conv2d.padding", describe_convolution},
    {"aten.conv3d.default", describe_convolution},
    {"aten.convolution.default", describe_convolution},
    {"aten.div.Scalar", describe_binary},
    {.name = "aten.div.Tensor", .describe = describe_binary},
    {"aten.dropout.default", describe_view},
    {"aten.expand.default", describe_expand},
    {.name = "aten.flatten.using_ints", .describe = describe_view, .any_dtype = true},
    {.name = "aten.full.default", .describe = describe_fill},
    {"aten.gelu.default", describe_activation},
    {"aten.hardsigmoid.default", describe_hardsigmoid},
    {"aten.hardswish.default", describe_unary, algorithm::eltwise_hardswish, hardswish_alpha, hardswish_beta},
    {"aten.hardtanh.default", describe_bounds},
    {"aten.layer_norm.default", describe_layer_norm},
    {"aten.leaky_relu.default", describe_activation},
    {"aten.linear.default", describe_matmul},
    {"aten.matmul.default", describe_matmul},
    {"aten.max_pool1d.default", describe_pool},
    {"aten.max_pool2d.default", describe_pool},
    {"aten.max_pool2d_with_indices.default", describe_pool},
    {"aten.max_pool3d_with_indices.default", describe_pool},
    {.name = "aten.maximum.default", .describe = describe_binary},
    {"aten.mean.default", describe_mean},
    {"aten.mean.dim", describe_mean},
    {.name = "aten.minimum.default", .describe = describe_binary},
    {"aten.mish.default", describe_unary, algorithm::eltwise_mish},
    {"aten.mm.default", describe_matmul},
    {.name = "aten.mul.Scalar", .describe = describe_binary},
    {.name = "aten.mul.Tensor", .describe = describe_binary},
    {"aten.native_layer_norm.default", describe_layer_norm},
    {.name = "aten.neg.default",
     .describe = describe_unary,
     .algorithm = algorithm::eltwise_linear,
     .alpha = -1.0f,
     .beta = minus_zero},
    {"aten.permute.default", describe_permute},
    {"aten.pow.Tensor_Scalar", describe_activation},
    {"aten.reciprocal.default", describe_unary, algorithm::eltwise_pow, 1.0f, -1.0f},
    {"aten.relu.default", describe_bounds},
    {"aten.relu6.default", describe_bounds},
    {.name = "aten.reshape.default", .describe = describe_view, .any_dtype = true},
    {"aten.round.default", describe_unary, algorithm::eltwise_round},
    {"aten.rsqrt.default", describe_reciprocal_root},
    {.name = "aten.scaled_dot_product_attention.default", .describe = describe_attention, .any_dtype = true},
    {"aten.select.int", describe_slice},
    {"aten.sigmoid.default", describe_unary, algorithm::eltwise_logistic},
    {"aten.silu.default", describe_unary, algorithm::eltwise_swish, 1.0f},
    {"aten.slice.Tensor", describe_slice},
    {"aten.split_with_sizes.default", describe_split},
    {"aten.sqrt.default", describe_unary, algorithm::eltwise_sqrt},
    {"aten.square.default", describe_unary, algorithm::eltwise_square},
    {.name = "aten.squeeze.dim", .describe = describe_view, .any_dtype = true},
    {.name = "aten.squeeze.dims", .describe = describe_view, .any_dtype = true},
    {.name = "aten.sub.Scalar", .describe = describe_binary},
    {.name = "aten.sub.Tensor", .describe = describe_binary},
    {"aten.t.default", describe_permute},
    {"aten.tanh.default", describe_unary, algorithm::eltwise_tanh},
    {"aten.transpose.int", describe_permute},
    {.name = "aten.unsqueeze.default", .describe = describe_view, .any_dtype = true},
    {"aten.upsample_nearest2d.vec", describe_nearest},
    {.name = "aten.view.default", .describe = describe_view, .any_dtype = true},
    {.name = "quantized_decomposed.dequantize_per_channel.default",
     .describe = describe_quantization,
     .any_dtype = true},
    {.name = "quantized_decomposed.dequantize_per_tensor.default",
     .describe = describe_quantization,
     .any_dtype = true},
    {.name = "quantized_decomposed.quantize_per_tensor.default", .describe = describe_quantization, .any_dtype = true},
});
static_assert(std::ranges::is_sorted(op_table, {}, &OpRow::name));

/// Returns the row of that operator, or nullptr. O(log n).
[[nodiscard]] constexpr const OpRow* find_op(std::string_view target) noexcept {
  const auto* row = std::ranges::lower_bound(op_table, target, {}, &OpRow::name);
  return row != op_table.end() && row->name == target ? row : nullptr;
}

/// True for operators that run on portable's kernels alone, which keep NaN and infinities.
[[nodiscard]] constexpr bool runs_as_kernel(std::string_view target) noexcept { return find_op(target) == nullptr; }

/// True for operations that are primitives in that dtype; others are portable's kernels. Products of dtypes without
/// code are computed in float32, convolutions only if that pays. The library multiplies pairs of bfloat16: for an odd
/// number of terms oneDNN 2.6 multiplies the element behind the end of a matrix by zero, which makes NaN of an infinity
/// there.
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

/// Reads a call of an operator with a row: returns nullptr and fills `op`, or returns the reason why the row refuses
/// it.
[[nodiscard]] inline const char* describe_by_row(const OpRow& row, const NodeArguments& in, Operation& op) {
  ScalarType dtype = ScalarType::undefined;
  const char* wrong = nullptr;
  const auto check = [&](const Argument& a) {
    in.graph().for_each_value(a, [&](ValueId v) {
      const ScalarType own = in.graph().values[v].dtype;
      if (dtype == ScalarType::undefined) dtype = own;
      if (!row.any_dtype && !is_computed(own)) wrong = "a tensor is neither float32, bfloat16 nor float16";
      if (!row.any_dtype && wrong == nullptr && own != dtype) wrong = "the dtypes of its tensors differ";
    });
  };
  for (const Argument& a : in.call().inputs) check(a);
  check(in.call().outputs[0]);
  if (wrong != nullptr) return wrong;
  op.name = row.name;
  if (in.output() != no_id) op.outputs = {in.output()};
  const Operation empty = op;
  wrong = row.describe(in, row, op);
  if (wrong == nullptr && op.outputs.empty()) return "its outputs are no tensors";
  if (wrong != nullptr || row.any_dtype || has_primitive(in.graph(), op, dtype)) return wrong;
  op = empty;
  return describe_kernel(in, op);
}

/// Reads a node: returns nullptr and fills `op`, or returns the reason why the backend refuses it. It does not ask
/// whether the library has the primitive. A node that no row takes may be a call of portable's kernel
/// (refuses_as_kernel).
[[nodiscard]] inline const char* describe_node(GraphModuleView whole, NodeId node, Operation& op) {
  const ExampleNode example(whole, node);
  if (!example.knows_uses()) return "an argument is symbolic";
  const GraphModuleView graph = example.view();
  const NodeArguments in(graph, example.node());
  if (in.call().token != nullptr) return "the operator has an effect";
  if (in.call().outputs.empty()) return "it has no output";
  if (in.output() == no_id && !in.call().outputs[0].is_list()) return "its output is no tensor";
  const char* wrong = nullptr;
  const auto check = [&](const Argument& a) {
    graph.for_each_value(a, [&](ValueId v) {
      if (wrong == nullptr) wrong = check_tensor(graph, v);
    });
  };
  for (const Argument& a : in.call().inputs) check(a);
  check(in.call().outputs[0]);  // the row checks that other outputs are unused
  if (wrong != nullptr) return wrong;
  op.node = node;
  const Operation empty = op;
  if (const OpRow* const row = find_op(in.call().target)) {
    wrong = describe_by_row(*row, in, op);
    if (wrong == nullptr || row->any_dtype) return wrong;
    op = empty;
  }
  const char* const refused = refuses_as_kernel(graph, example.node());
  if (refused != nullptr) return wrong != nullptr ? wrong : refused;
  return describe_kernel(in, op);
}

}  // namespace davit::onednn_ops
