// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/windows/window.hpp"
#include "davit/core/next_index.hpp"
#include "davit/program/operators/convolution.hpp"

namespace davit::portable_kernels {

/// A convolution as a linear map from an image (batch, channels, image) to filter responses (batch, filters, places),
/// with weights (filters, channels / groups, kernel). A transposed convolution is its adjoint, from responses to an
/// image.
struct ConvolutionMap {
  std::int64_t batch = 0, groups = 1, channels = 0, filters = 0;
  Spatial image{}, places{}, kernel{}, stride{}, padding{}, dilation{};

  [[nodiscard]] std::int64_t group_channels() const noexcept { return channels / groups; }
  [[nodiscard]] std::int64_t group_filters() const noexcept { return filters / groups; }
  /// Weights per filter.
  [[nodiscard]] std::int64_t taps() const noexcept { return group_channels() * volume(kernel); }
  /// The image index in dimension d that tap `k` reads for place 0.
  [[nodiscard]] std::int64_t offset(std::size_t d, std::int64_t k) const noexcept {
    return k * dilation[d] - padding[d];
  }
};

/// A checked call of a convolution operator.
struct ConvolutionCall {
  ConvolutionMap map;
  bool transposed = false;
  bool batched = true;
  std::size_t dims = 0;

  [[nodiscard]] std::int64_t in_channels() const noexcept { return transposed ? map.filters : map.channels; }
  [[nodiscard]] std::int64_t out_channels() const noexcept { return transposed ? map.channels : map.filters; }
  [[nodiscard]] const Spatial& out_spatial() const noexcept { return transposed ? map.image : map.places; }
  [[nodiscard]] Sizes out_sizes() const noexcept {
    Sizes sizes;
    if (batched) sizes.push(map.batch);
    sizes.push(in_channels() == 0 ? 0 : out_channels());  // the size for no input channels in torch
    for (std::size_t d = 3 - dims; d < 3; ++d) sizes.push(out_spatial()[d]);
    return sizes;
  }
};

namespace detail {

/// A tap of a filter: channel within the group, and kernel indices.
struct Tap {
  std::int64_t channel;
  Spatial k;

  Tap(const ConvolutionMap& m, std::int64_t index) noexcept {
    for (std::size_t d = 3; d-- > 0; index /= m.kernel[d]) k[d] = index % m.kernel[d];
    channel = index;
  }
  void next(const ConvolutionMap& m) noexcept {
    if (!next_index(3, k, m.kernel)) ++channel;
  }
};

/// Consecutive places of a row of the response: the first, and their number.
struct PlaceRun {
  std::int64_t image;  ///< index in the batch
  Spatial at;
  std::int64_t count;

  /// The run from place `index` of all places of the batch, with at most `limit` places.
  PlaceRun(const ConvolutionMap& m, std::int64_t index, std::int64_t limit) noexcept {
    for (std::size_t d = 3; d-- > 0; index /= m.places[d]) at[d] = index % m.places[d];
    image = index;
    count = std::min(limit, m.places[2] - at[2]);
  }
  /// The image row that a tap reads: the index of its first element within a channel, or -1 in the padding.
  [[nodiscard]] std::int64_t row(const ConvolutionMap& m, const Tap& tap) const noexcept {
    const std::int64_t z = at[0] * m.stride[0] + m.offset(0, tap.k[0]);
    const std::int64_t y = at[1] * m.stride[1] + m.offset(1, tap.k[1]);
    if (z < 0 || z >= m.image[0] || y < 0 || y >= m.image[1]) return -1;
    return (z * m.image[1] + y) * m.image[2];
  }
};

[[nodiscard]] inline ErrorCode convolution_sizes(KernelCall& call, const Spatial& in,
                                                 const operators::ConvolutionView& view, ConvolutionCall& c) {
  ConvolutionMap& m = c.map;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t reach = m.dilation[d] * (m.kernel[d] - 1) + 1;
    if (in[d] == 0 && m.batch != 0 && c.in_channels() != 0)
      return call.refuse(ErrorCode::invalid_shape, "convolution: the input has no elements in a spatial dimension");
    if (!c.transposed) {
      const std::int64_t room = in[d] + view.padding[d] + view.padding_end[d] - reach;
      if (room < 0)
        return call.refuse(ErrorCode::invalid_shape, "convolution: the kernel is larger than the padded input");
      m.image[d] = in[d];
      m.places[d] = room / m.stride[d] + 1;
      continue;
    }
    if (view.output_padding[d] >= std::max(m.stride[d], m.dilation[d]))
      return call.refuse(ErrorCode::out_of_range,
                         "convolution: output_padding must be smaller than the stride or the dilation");
    m.places[d] = in[d];
    m.image[d] = (in[d] - 1) * m.stride[d] - 2 * m.padding[d] + reach + view.output_padding[d];
    if (m.image[d] < 0) return call.refuse(ErrorCode::invalid_shape, "convolution: the output size would be negative");
  }
  return ErrorCode::ok;
}

}  // namespace detail

/// Reads a call of a convolution operator and computes its sizes.
[[nodiscard]] inline ErrorCode read_convolution(KernelCall& call, const operators::ConvolutionOperator& op,
                                                ConvolutionCall& c) {
  operators::ConvolutionView view;
  const KernelArguments arguments(call);
  if (const ErrorCode code = answer(call, operators::read_convolution(arguments, op, view)); code != ErrorCode::ok)
    return code;
  const TensorView& input = call.tensor(view.input);
  const TensorView& weight = call.tensor(view.weight);
  if (input.dtype != weight.dtype)
    return call.refuse(ErrorCode::invalid_dtype, "convolution: input and weight must have the same dtype");
  if (checked_numel(input) < 0 || checked_numel(weight) < 0)
    return call.refuse(ErrorCode::out_of_memory, "convolution: an operand is too large");
  c.dims = view.dims;
  c.batched = view.batched;
  c.transposed = view.transposed;
  c.map = {.batch = view.batched ? input.size(0) : 1,
           .groups = view.groups,
           .channels = weight.size(1) * view.groups,
           .filters = weight.size(0),
           .kernel = view.kernel,
           .stride = view.stride,
           .padding = view.padding,
           .dilation = view.dilation};
  return detail::convolution_sizes(call, operators::spatial_sizes(arguments, view.input, view.dims), view, c);
}

}  // namespace davit::portable_kernels
