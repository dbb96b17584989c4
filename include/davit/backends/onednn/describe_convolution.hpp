// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "davit/backends/onednn/node_reader.hpp"
#include "davit/backends/onednn/op_row.hpp"

namespace davit::onednn_ops {

namespace detail {

/// Fills the padding of a convolution: numbers, or "valid" and "same". Source: at::native::_convolution_same.
[[nodiscard]] inline bool read_padding(const NodeReader& in, std::size_t spatial, Operation& op) {
  const Argument* a = in.find("padding", 4);
  if (a == nullptr || a->kind != ArgumentKind::string) {
    if (!in.ints("padding", 4, spatial, 0, op.pad_left)) return false;
    op.pad_right = op.pad_left;
    return true;
  }
  op.pad_left.assign(spatial, 0);
  op.pad_right.assign(spatial, 0);
  if (in.graph().string(*a) == "valid") return true;
  if (in.graph().string(*a) != "same") return false;
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t total = (op.dilates[d] + 1) * (op.kernel[d] - 1);
    op.pad_left[d] = total / 2;
    op.pad_right[d] = total - total / 2;
  }
  return true;
}

[[nodiscard]] inline bool in_range(const Dims& dims, std::int64_t least, std::int64_t most = 1 << 20) noexcept {
  return std::ranges::all_of(dims, [&](std::int64_t d) { return d >= least && d <= most; });
}

}  // namespace detail

/// aten.conv1d, conv2d, conv3d (with numbers or words for the padding) and aten.convolution.
[[nodiscard]] inline const char* describe_convolution(const NodeReader& in, const OpRow& row, Operation& op) {
  const bool general = row.name == "aten.convolution.default";
  const ValueId x = in.tensor("input", 0);
  const ValueId w = in.tensor("weight", 1);
  if (x == no_id || w == no_id) return "an operand is no tensor";
  const Dims weight = in.sizes(w);
  const Dims source = in.sizes(x);
  if (in.rank(x) != in.rank(w) || weight.size() < 3 || weight.size() > 5)
    return "the input has no batch dimension, or is not 1-d, 2-d or 3-d";
  if (general && in.flag("transposed", 6, false)) return "the convolution is transposed";
  const std::size_t spatial = weight.size() - 2;
  op.kind = OpKind::convolution;
  op.kernel.assign(weight.begin() + 2, weight.end());
  const std::optional<std::int64_t> groups = in.integer("groups", general ? 8 : 6, 1);
  if (!groups || *groups < 1 || weight[0] % *groups != 0 || source[1] != weight[1] * *groups)
    return "the groups do not fit the channels";
  op.groups = *groups;
  if (!in.ints("stride", 3, spatial, 1, op.strides) || !detail::in_range(op.strides, 1))
    return "the strides are symbolic or no strides";
  if (!in.ints("dilation", 5, spatial, 1, op.dilates) || !detail::in_range(op.dilates, 1))
    return "the dilation is symbolic or none";
  for (std::int64_t& d : op.dilates) --d;
  if (!detail::read_padding(in, spatial, op) || !detail::in_range(op.pad_left, 0) || !detail::in_range(op.pad_right, 0))
    return "the padding is symbolic or negative";
  op.inputs = {x, w, in.tensor("bias", 2)};
  if (op.inputs[2] != no_id && in.sizes(op.inputs[2]) != Dims{weight[0]}) return "the bias does not fit the channels";
  return nullptr;
}

}  // namespace davit::onednn_ops
