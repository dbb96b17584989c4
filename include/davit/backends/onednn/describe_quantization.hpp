// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/onednn/op_row.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/program/operators/quantization.hpp"

namespace davit::onednn_ops {

/// Floats to bytes and back, of one scale or of one per channel: portable's kernels, if nothing of the library's takes
/// them in.
[[nodiscard]] inline const char* describe_quantization(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::QuantizationView view;
  if (const Refusal wrong = operators::read_quantization(in, view)) return wrong.what;
  const auto& values = in.graph().values;
  const ValueId floats = view.quantizes ? view.input : in.output(), bytes = view.quantizes ? in.output() : view.input;
  if (values[floats].dtype != ScalarType::float32) return "a tensor is not float32";
  if (data_type_of(values[bytes].dtype) == DataType::undef || values[bytes].dtype == ScalarType::float32)
    return "a tensor is neither int8 nor uint8";
  op.kind = view.scales == no_id ? OpKind::convert : OpKind::kernel;
  for (const ValueId v : {view.input, view.scales, view.zero_points})
    if (v != no_id) op.inputs.push_back(v);
  return sizes_of(in.graph(), view.input) == sizes_of(in.graph(), in.output()) ? nullptr
                                                                               : "the sizes of input and output differ";
}

}  // namespace davit::onednn_ops
