// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "davit/backends/onednn/describe_convolution.hpp"
#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/node_reader.hpp"
#include "davit/backends/onednn/op_row.hpp"

namespace davit::onednn_ops {

namespace detail {

/// Sizes of source and destination that have a batch and channels, and 1 to 3 dimensions to pool over.
[[nodiscard]] inline const char* pool_shape(const NodeReader& in, std::size_t spatial, Operation& op) {
  const ValueId x = in.tensor("self", 0);
  if (x == no_id) return "an operand is no tensor";
  if (in.rank(x) != spatial + 2 || in.rank(in.output()) != spatial + 2) return "the input has no batch dimension";
  op.kind = OpKind::pool;
  op.inputs = {x};
  op.dilates.assign(spatial, 0);
  op.pad_left.assign(spatial, 0);
  op.pad_right.assign(spatial, 0);
  return nullptr;
}
[[nodiscard]] inline std::size_t spatial_of(std::string_view name) noexcept {
  return static_cast<std::size_t>(name[name.find("pool") + 4] - '0');
}

}  // namespace detail

/// max_pool and avg_pool over 1 to 3 dimensions, and max_pool_with_indices whose indices nobody uses.
[[nodiscard]] inline const char* describe_pool(const NodeReader& in, const OpRow& row, Operation& op) {
  const std::size_t spatial = detail::spatial_of(row.name);
  if (const char* wrong = detail::pool_shape(in, spatial, op)) return wrong;
  if (!in.uses_first_output_only()) return "the indices of the maxima are used";
  const bool max = row.algorithm == algorithm::pooling_max;
  if (!in.ints("kernel_size", 1, spatial, 1, op.kernel) || !detail::in_range(op.kernel, 1))
    return "the kernel's sizes are no numbers";
  if (!in.ints("stride", 2, 0, 1, op.strides)) return "the strides are no numbers";
  if (op.strides.empty()) op.strides = op.kernel;
  if (op.strides.size() == 1) op.strides.resize(spatial, op.strides[0]);
  if (op.strides.size() != spatial || !detail::in_range(op.strides, 1)) return "the strides do not fit the rank";
  if (!in.ints("padding", 3, spatial, 0, op.pad_left) || !detail::in_range(op.pad_left, 0))
    return "the padding is no number";
  if (max && (!in.ints("dilation", 4, spatial, 1, op.dilates) || !detail::in_range(op.dilates, 1)))
    return "the dilation is no number";
  if (max)
    for (std::int64_t& d : op.dilates) --d;
  if (!max && in.find("divisor_override", 6) != nullptr) return "the divisor is given";
  const Dims source = in.sizes(op.inputs[0]);
  const Dims destination = in.sizes(in.output());
  bool padded = false;
  bool overhangs = false;
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t reach = (destination[d + 2] - 1) * op.strides[d] + (op.kernel[d] - 1) * (op.dilates[d] + 1) + 1;
    op.pad_right[d] = std::max<std::int64_t>(0, reach - source[d + 2] - op.pad_left[d]);
    padded = padded || op.pad_left[d] > 0;
    overhangs = overhangs || op.pad_right[d] > op.pad_left[d];
    if (op.pad_left[d] >= op.kernel[d] * (op.dilates[d] + 1) || op.pad_right[d] >= op.kernel[d] * (op.dilates[d] + 1))
      return "the padding is as wide as the kernel";
  }
  const bool counts_padding = !max && in.flag("count_include_pad", 5, true);
  if (counts_padding && overhangs) return "ceil_mode reaches over the padding, which counts";
  op.algorithm = max                        ? row.algorithm
                 : counts_padding && padded ? algorithm::pooling_avg_include_padding
                                            : algorithm::pooling_avg_exclude_padding;
  return nullptr;
}

/// adaptive_avg_pool where every output has a window of the same size.
[[nodiscard]] inline const char* describe_adaptive_pool(const NodeReader& in, const OpRow& row, Operation& op) {
  const std::size_t spatial = detail::spatial_of(row.name);
  if (const char* wrong = detail::pool_shape(in, spatial, op)) return wrong;
  const Dims source = in.sizes(op.inputs[0]);
  const Dims destination = in.sizes(in.output());
  for (std::size_t d = 2; d < source.size(); ++d) {
    if (source[d] % destination[d] != 0) return "its windows differ in size";
    op.kernel.push_back(source[d] / destination[d]);
  }
  op.strides = op.kernel;
  op.algorithm = algorithm::pooling_avg_exclude_padding;
  return nullptr;
}

}  // namespace davit::onednn_ops
