// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/onednn/emit_kernel.hpp"
#include "davit/backends/onednn/op_row.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/program/operators/convolution.hpp"

namespace davit::onednn_ops {

/// Convolutions of inputs with a batch dimension. Transposed ones are portable's, whose kernel is faster than the
/// library's primitive.
[[nodiscard]] inline const char* describe_convolution(const NodeArguments& in, const OpRow& row, Operation& op) {
  operators::ConvolutionView view;
  if (const Refusal wrong = operators::read_convolution(in, view)) return wrong.what;
  if (view.transposed) return describe_kernel(in, row, op);
  if (!view.batched) return "the input has no batch dimension";
  for (const ValueId v : {view.input, view.weight, in.output()})
    if (in.rank(v) != view.dims + 2) return "the sizes of input, weight and output differ in number";
  op.kind = OpKind::convolution;
  op.kernel = spatial_dims(view.kernel, view.dims);
  op.strides = spatial_dims(view.stride, view.dims);
  op.dilates = dilation_dims(view.dilation, view.dims);
  op.pad_left = spatial_dims(view.padding, view.dims);
  op.pad_right = spatial_dims(view.padding_end, view.dims);
  op.groups = view.groups;
  op.inputs = {view.input, view.weight, view.bias};
  return nullptr;
}

}  // namespace davit::onednn_ops
