// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "davit/core/copy_tensor.hpp"
#include "davit/core/tensor.hpp"

namespace davit::xnnpack_parts {

/// Bytes that XNNPACK may read past the end of its operands.
inline constexpr std::size_t slack = 64;

/// Makes a zeroed tensor with slack behind its end.
[[nodiscard]] inline Tensor padded_zeros(ScalarType dtype, std::span<const std::int64_t> sizes) {
  Tensor t{.dtype = dtype, .sizes = {sizes.begin(), sizes.end()}, .strides = {}, .storage = {}};
  t.strides.resize(sizes.size());
  contiguous_strides(t.sizes, t.strides);
  t.storage = SharedBytes::allocate(static_cast<std::size_t>(t.numel()) * size_of(dtype) + slack);
  return t;
}

/// Makes a row-major copy with slack behind its end.
[[nodiscard]] inline Tensor padded_copy(const Tensor& from) {
  Tensor t = padded_zeros(from.dtype, from.sizes);
  if (!t.storage.empty()) copy_tensor(from.view(), t.view());
  return t;
}

/// The tensor with its dimensions reordered: a view.
[[nodiscard]] inline Tensor permuted(const Tensor& from, std::span<const std::int64_t> order) {
  Tensor t = from;
  for (std::size_t d = 0; d < order.size(); ++d) {
    t.sizes[d] = from.sizes[static_cast<std::size_t>(order[d])];
    t.strides[d] = from.strides[static_cast<std::size_t>(order[d])];
  }
  return t;
}

/// The tensor in other sizes of as many elements: a view, or a copy if it is not contiguous.
[[nodiscard]] inline Tensor reshaped(const Tensor& from, std::vector<std::int64_t> sizes) {
  Tensor t = from.view().is_contiguous() ? from : padded_copy(from);
  t.sizes = std::move(sizes);
  t.strides.resize(t.sizes.size());
  contiguous_strides(t.sizes, t.strides);
  return t;
}

/// An int8 constant with a scale and a zero point per index of dimension `axis`, or one for all.
struct QuantizedTensor {
  Tensor integers;
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
  std::size_t axis = 0;
};

/// scale * (integer - zero_point), in float32.
/// Source: torch.ops.quantized_decomposed.dequantize_per_channel.
[[nodiscard]] inline Tensor dequantize(const QuantizedTensor& q) {
  const Tensor from = padded_copy(q.integers);
  Tensor to = padded_zeros(ScalarType::float32, q.integers.sizes);
  std::int64_t inner = 1;
  for (std::size_t d = q.axis + 1; d < from.sizes.size(); ++d) inner *= from.sizes[d];
  const std::int64_t channels = q.scales.size() == 1 ? 1 : from.sizes[q.axis];
  const auto* x = from.view().as<std::int8_t>();
  auto* y = to.view().as<float>();
  for (std::int64_t i = 0; i < from.numel(); ++i) {
    const auto c = static_cast<std::size_t>(channels == 1 ? 0 : i / inner % channels);
    y[i] = static_cast<float>(x[i] - q.zero_points[c]) * q.scales[c];
  }
  return to;
}

}  // namespace davit::xnnpack_parts
