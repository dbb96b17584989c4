// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/window.hpp"

namespace davit::portable_kernels {

/// Pooling windows that slide over the planes of a tensor of shape (N?, C, spatial).
struct PoolWindow {
  std::size_t dims = 0;
  std::int64_t planes = 0;  ///< N * C
  Spatial in{}, out{}, kernel{}, stride{}, padding{}, dilation{1, 1, 1};

  /// The sizes of the pooled tensor.
  [[nodiscard]] Sizes out_sizes(const TensorView& input) const noexcept {
    Sizes sizes(input.sizes());
    for (std::size_t d = 0; d < dims; ++d) sizes[sizes.rank - dims + d] = out[3 - dims + d];
    return sizes;
  }
  /// The first input index of the window of output index `i`, which may lie in the padding.
  [[nodiscard]] std::int64_t first(std::size_t d, std::int64_t i) const noexcept {
    return i * stride[d] - padding[d];
  }
};

/// Where pooling operators have their arguments; `dilation` is 0 where the operator has none.
struct PoolArguments {
  std::size_t kernel, stride, padding, dilation, ceil_mode;
};

/// Checks that `input` has `dims` spatial dimensions, a channel and perhaps a batch dimension, none of which may be empty
/// after the first `may_be_empty`, and counts its planes.
[[nodiscard]] inline ErrorCode read_planes(KernelCall& call, const TensorView& input, std::size_t dims,
                                           std::size_t may_be_empty, PoolWindow& w) {
  if (input.rank != dims + 1 && input.rank != dims + 2)
    return call.refuse(ErrorCode::invalid_shape, "pooling: the input has the wrong number of dimensions");
  for (std::size_t d = may_be_empty; d < input.rank; ++d)
    if (input.size(d) == 0)
      return call.refuse(ErrorCode::invalid_shape, "pooling: only the batch dimension may be empty");
  if (checked_numel(input) < 0) return call.refuse(ErrorCode::out_of_memory, "pooling: the input is too large");
  w.dims = dims;
  w.in = spatial_sizes(input, dims);
  w.planes = 1;
  for (std::size_t d = 0; d + dims < input.rank; ++d) w.planes *= input.size(d);
  return ErrorCode::ok;
}

/// Reads a pooling operator's window and works out the output's spatial sizes.
/// Source: pool2d_shape_check and pooling_output_shape of ATen's Pool.h.
[[nodiscard]] inline ErrorCode read_pool(KernelCall& call, const TensorView& input, std::size_t dims,
                                         const PoolArguments& at, PoolWindow& w) {
  if (const ErrorCode code = read_spatial(call, at.kernel, dims, 1, 1, w.kernel); code != ErrorCode::ok) return code;
  w.stride = w.kernel;
  if (!call.list(at.stride).empty())
    if (const ErrorCode code = read_spatial(call, at.stride, dims, 1, 1, w.stride); code != ErrorCode::ok) return code;
  if (const ErrorCode code = read_spatial(call, at.padding, dims, 0, 0, w.padding); code != ErrorCode::ok) return code;
  if (at.dilation != 0)
    if (const ErrorCode code = read_spatial(call, at.dilation, dims, 1, 1, w.dilation); code != ErrorCode::ok)
      return code;
  if (const ErrorCode code = read_planes(call, input, dims, input.rank == dims + 2 ? 1 : 0, w);
      code != ErrorCode::ok)
    return code;
  const bool ceil_mode = call.boolean(at.ceil_mode);
  for (std::size_t d = 0; d < 3; ++d) {
    if (w.padding[d] > w.kernel[d] / 2)
      return call.refuse(ErrorCode::out_of_range, "pooling: the padding is more than half of the kernel size");
    const std::int64_t room = w.in[d] + 2 * w.padding[d] - w.dilation[d] * (w.kernel[d] - 1) - 1;
    const std::int64_t rounded = room + (ceil_mode ? w.stride[d] - 1 : 0);
    if (rounded < 0) return call.refuse(ErrorCode::invalid_shape, "pooling: the kernel is larger than the padded input");
    w.out[d] = rounded / w.stride[d] + 1;
    if (ceil_mode && (w.out[d] - 1) * w.stride[d] >= w.in[d] + w.padding[d]) --w.out[d];
    if (w.out[d] < 1) return call.refuse(ErrorCode::invalid_shape, "pooling: the output would have no elements");
  }
  return ErrorCode::ok;
}

/// Calls f(output index, z, y, x) for each place of an output plane in row-major order.
template <class F>
void for_each_place(const Spatial& out, F&& f) {
  std::int64_t i = 0;
  for (std::int64_t z = 0; z < out[0]; ++z)
    for (std::int64_t y = 0; y < out[1]; ++y)
      for (std::int64_t x = 0; x < out[2]; ++x) f(i++, Spatial{z, y, x});
}

/// A box of input indices: [begin, end) per dimension.
struct Box {
  Spatial begin{}, end{};
  [[nodiscard]] bool empty() const noexcept {
    return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2];
  }
  [[nodiscard]] std::int64_t count() const noexcept {
    return (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]);
  }
};

/// The sum of a box of a plane of spatial sizes `in`: exactly rounded once for float (summed in double).
template <class Sum, class C>
[[nodiscard]] Sum sum_box(const C* plane, const Spatial& in, const Box& box) {
  Sum sum{};
  for (std::int64_t z = box.begin[0]; z < box.end[0]; ++z)
    for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y) {
      const C* row = plane + (z * in[1] + y) * in[2];
      for (std::int64_t x = box.begin[2]; x < box.end[2]; ++x) sum += static_cast<Sum>(row[x]);
    }
  return sum;
}

/// Adds `value` to each element of a box of a plane.
template <class C>
void add_to_box(C* plane, const Spatial& in, const Box& box, C value) {
  for (std::int64_t z = box.begin[0]; z < box.end[0]; ++z)
    for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y) {
      C* row = plane + (z * in[1] + y) * in[2];
      for (std::int64_t x = box.begin[2]; x < box.end[2]; ++x) row[x] += value;
    }
}

}  // namespace davit::portable_kernels
