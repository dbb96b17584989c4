// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/op_row.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/program/operators/pooling.hpp"
#include "davit/program/operators/resize.hpp"

namespace davit::onednn_ops {

/// max_pool and avg_pool over 1 to 3 dimensions, and max_pool_with_indices whose indices nobody uses.
[[nodiscard]] inline const char* describe_pool(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::PoolView view;
  if (const Refusal wrong = operators::read_pool(in, view)) return wrong.what;
  if (!view.batched || in.rank(in.output()) != view.dims + 2) return "the input has no batch dimension";
  if (!in.uses_first_output_only()) return "the indices of the maxima are used";
  if (view.divisor != 0) return "the divisor is given";
  op.kind = OpKind::pool;
  op.inputs = {view.input};
  op.kernel = spatial_dims(view.kernel, view.dims);
  op.strides = spatial_dims(view.stride, view.dims);
  op.dilates = dilation_dims(view.dilation, view.dims);
  op.pad_left = spatial_dims(view.padding, view.dims);
  operators::Spatial end{};
  bool overhangs = false;
  for (std::size_t d = 3 - view.dims; d < 3; ++d) {
    const std::size_t at = d + view.dims - 1;
    end[d] = view.padding_end(d, in.size(view.input, at), in.size(in.output(), at));
    overhangs = overhangs || end[d] > view.padding[d];
    if (end[d] >= view.kernel[d] * view.dilation[d]) return "the padding is as wide as the kernel";
  }
  op.pad_right = spatial_dims(end, view.dims);
  const bool counts_padding = !view.maximum && view.count_include_pad;
  if (counts_padding && overhangs) return "ceil_mode reaches over the padding, which counts";
  op.algorithm = view.maximum                         ? algorithm::pooling_max
                 : counts_padding && view.is_padded() ? algorithm::pooling_avg_include_padding
                                                      : algorithm::pooling_avg_exclude_padding;
  return nullptr;
}

/// adaptive_avg_pool where every output has a window of the same size.
[[nodiscard]] inline const char* describe_adaptive_pool(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::AdaptivePoolView view;
  if (const Refusal wrong = operators::read_adaptive_pool(in, view)) return wrong.what;
  if (!view.batched || in.rank(in.output()) != view.dims + 2) return "the input has no batch dimension";
  op.kind = OpKind::pool;
  op.inputs = {view.input};
  for (std::size_t d = 3 - view.dims; d < 3; ++d) {
    const std::size_t at = d + view.dims - 1;
    std::int64_t size = in.size(view.input, at);
    if (size < 0 && view.out[d] == 1) size = sizes_of(in.graph(), view.input)[at];  // one window holds all, of any size
    if (view.out[d] < 1 || size % view.out[d] != 0) return "its windows differ in size";
    op.kernel.push_back(size / view.out[d]);
  }
  op.strides = op.kernel;
  op.dilates = op.pad_left = op.pad_right = Dims(view.dims, 0);
  op.algorithm = algorithm::pooling_avg_exclude_padding;
  return nullptr;
}

/// The nearest element, to sizes that are multiples of the input's: there oneDNN's rule and torch's are the same.
[[nodiscard]] inline const char* describe_nearest(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::ResizeView view;
  if (const Refusal wrong = operators::read_resize(in, view)) return wrong.what;
  if (in.rank(view.input) != 4 || in.rank(in.output()) != 4) return "input and output have other than four dimensions";
  const Dims from = sizes_of(in.graph(), view.input), to = sizes_of(in.graph(), in.output());
  if (from[0] != to[0] || from[1] != to[1] || to[2] % from[2] != 0 || to[3] % from[3] != 0)
    return "the new sizes are no multiples";
  if (to[2] > 1 << 20 || to[3] > 1 << 20) return "a size beyond 2^20";  // oneDNN makes tables of them
  for (std::size_t d = 0; d < 2; ++d)
    if (view.factor[d] != 0 && view.factor[d] * static_cast<double>(from[d + 2]) != static_cast<double>(to[d + 2]))
      return "the scale is not that of the sizes";
  op.kind = OpKind::resample;
  op.inputs = {view.input};
  op.algorithm = algorithm::resampling_nearest;
  return nullptr;
}

}  // namespace davit::onednn_ops
