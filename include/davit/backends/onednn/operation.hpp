// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "davit/backends/kit/int8_patterns.hpp"
#include "davit/backends/onednn/library.hpp"
#include "davit/program/graph.hpp"

namespace davit::onednn_ops {

enum class OpKind : std::uint8_t {
  convolution,  ///< inputs: source, weight, bias or no_id
  linear,       ///< inputs: source, weight, bias or no_id
  matmul,       ///< inputs: a, b
  pool,
  eltwise,     ///< `functions` one after the other
  binary,      ///< inputs: two tensors, or one and no_id with the number `epsilon`
  batch_norm,  ///< inputs: source, mean, variance, weight or no_id, bias or no_id
  layer_norm,  ///< inputs: source, weight or no_id, bias or no_id
  concat,
  view,  ///< the same elements, in row-major order, in other sizes
  permute,
  expand,        ///< broadcasts: dimensions of size 1, or new ones
  resample,      ///< other spatial sizes
  slice,         ///< each output a part of the input along `axis`, by `first` and `step`
  pad,           ///< zeros around the input
  fill,          ///< a constant: every element is `epsilon`
  kernel,        ///< one of portable's kernels, with the node's arguments
  convert,       ///< an elementwise kernel: floats to bytes or back
  int8_product,  ///< a convolution, or linear if `transposed`, of bytes; inputs: source, weight, bias or no_id
  int8_sum,
};

struct Function {
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0;
  float beta = 0;
  friend constexpr bool operator==(const Function&, const Function&) = default;
};

/// A node in oneDNN's terms. Tensors have known sizes, and are float32 or bfloat16 unless the kind says otherwise.
struct Operation {
  OpKind kind = OpKind::view;
  std::string_view name;  ///< of the operator, for traces: a view of the table
  NodeId node = no_id;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  std::vector<Function> functions;
  Dims kernel;
  Dims strides;
  Dims dilates;  ///< 0: no dilation
  Dims pad_left;
  Dims pad_right;
  Dims first;                    ///< slice: per output
  std::vector<int> permutation;  ///< dimension d of the output is dimension permutation[d] of the input
  std::int64_t groups = 1;
  std::int64_t step = 1;
  int axis = 0;
  float epsilon = 0;        ///< normalization: added to the variance; fill and binary: the number
  bool transposed = false;  ///< linear: the weight is [out, in]
  std::shared_ptr<const Int8Parameters> int8{};
};

}  // namespace davit::onednn_ops
