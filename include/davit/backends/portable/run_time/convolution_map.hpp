// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/window.hpp"

namespace davit::portable_kernels {

/// A convolution as a linear map from an image (batch, channels, image) to filter responses (batch, filters, places),
/// with weights (filters, channels / groups, kernel). A transposed convolution is its adjoint: it takes responses to an
/// image.
struct ConvolutionMap {
  std::int64_t batch = 0, groups = 1, channels = 0, filters = 0;
  Spatial image{}, places{}, kernel{}, stride{}, padding{}, dilation{};

  [[nodiscard]] std::int64_t group_channels() const noexcept { return channels / groups; }
  [[nodiscard]] std::int64_t group_filters() const noexcept { return filters / groups; }
  /// Weights per filter.
  [[nodiscard]] std::int64_t taps() const noexcept { return group_channels() * volume(kernel); }
  /// The image index in dimension d that tap `k` meets at place 0.
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
    sizes.push(in_channels() == 0 ? 0 : out_channels());  // as torch answers for no input channels
    for (std::size_t d = 3 - dims; d < 3; ++d) sizes.push(out_spatial()[d]);
    return sizes;
  }
};

/// Where the operators have their arguments; `output_padding` and `transposed` are 0 where the operator has none.
struct ConvolutionArguments {
  std::size_t stride, padding, dilation, groups, transposed, output_padding;
};

namespace detail {

[[nodiscard]] inline ErrorCode convolution_sizes(KernelCall& call, const Spatial& in, const Spatial& output_padding,
                                                 ConvolutionCall& c) {
  ConvolutionMap& m = c.map;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t reach = m.dilation[d] * (m.kernel[d] - 1) + 1;
    if (in[d] == 0 && m.batch != 0 && c.in_channels() != 0)
      return call.refuse(ErrorCode::invalid_shape, "convolution: the input has no elements in a spatial dimension");
    if (!c.transposed) {
      if (in[d] + 2 * m.padding[d] < reach)
        return call.refuse(ErrorCode::invalid_shape, "convolution: the kernel is larger than the padded input");
      m.image[d] = in[d];
      m.places[d] = (in[d] + 2 * m.padding[d] - reach) / m.stride[d] + 1;
      continue;
    }
    if (output_padding[d] >= std::max(m.stride[d], m.dilation[d]))
      return call.refuse(ErrorCode::out_of_range,
                         "convolution: output_padding must be smaller than the stride or the dilation");
    m.places[d] = in[d];
    m.image[d] = (in[d] - 1) * m.stride[d] - 2 * m.padding[d] + reach + output_padding[d];
    if (m.image[d] < 0) return call.refuse(ErrorCode::invalid_shape, "convolution: the output size would be negative");
  }
  return ErrorCode::ok;
}

}  // namespace detail

/// Checks the operands and arguments of a convolution and works out its sizes. An input without batch dimension is
/// taken if `allow_unbatched`. Source: the checks of at::convolution.
[[nodiscard]] inline ErrorCode read_convolution(KernelCall& call, const TensorView& input, const TensorView& weight,
                                                const ConvolutionArguments& at, bool allow_unbatched,
                                                ConvolutionCall& c) {
  if (weight.rank < 3 || weight.rank > 5)
    return call.refuse(ErrorCode::invalid_shape, "convolution: the weight needs one to three spatial dimensions");
  c.dims = weight.rank - 2u;
  c.batched = input.rank == weight.rank;
  if (!c.batched && !(allow_unbatched && input.rank + 1 == weight.rank))
    return call.refuse(ErrorCode::invalid_shape,
                       "convolution: input and weight must have the same number of dimensions");
  if (input.dtype != weight.dtype)
    return call.refuse(ErrorCode::invalid_dtype, "convolution: input and weight must have the same dtype");
  if (checked_numel(input) < 0 || checked_numel(weight) < 0)
    return call.refuse(ErrorCode::out_of_memory, "convolution: an operand is too large");
  ConvolutionMap& m = c.map;
  c.transposed = at.transposed != 0 && call.boolean(at.transposed);
  Spatial output_padding{};
  if (const ErrorCode code = read_spatial(call, at.stride, c.dims, 1, 1, m.stride); code != ErrorCode::ok) return code;
  if (const ErrorCode code = read_spatial(call, at.padding, c.dims, 0, 0, m.padding); code != ErrorCode::ok)
    return code;
  if (const ErrorCode code = read_spatial(call, at.dilation, c.dims, 1, 1, m.dilation); code != ErrorCode::ok)
    return code;
  if (at.output_padding != 0)
    if (const ErrorCode code = read_spatial(call, at.output_padding, c.dims, 0, 0, output_padding);
        code != ErrorCode::ok)
      return code;
  m.groups = call.integer(at.groups, 1);
  m.batch = c.batched ? input.size(0) : 1;
  m.kernel = spatial_sizes(weight, c.dims);
  if (m.groups < 1 || weight.size(0) < m.groups || weight.size(0) % m.groups != 0)
    return call.refuse(ErrorCode::invalid_shape, "convolution: the weight's filters do not divide into the groups");
  if (*std::ranges::min_element(m.kernel) < 1)
    return call.refuse(ErrorCode::invalid_shape, "convolution: the kernel has no elements");
  if (weight.size(1) > max_numel / m.groups)
    return call.refuse(ErrorCode::out_of_range, "convolution: too many groups");
  m.filters = weight.size(0);
  m.channels = weight.size(1) * m.groups;
  if (input.size(c.batched ? 1 : 0) != c.in_channels())
    return call.refuse(ErrorCode::invalid_shape, "convolution: the input's channels do not fit weight and groups");
  Spatial in = spatial_sizes(input, c.dims);
  for (std::size_t d = 0; d < 3 - c.dims; ++d) output_padding[d] = 0;
  return detail::convolution_sizes(call, in, output_padding, c);
}

}  // namespace davit::portable_kernels
