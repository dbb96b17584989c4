// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/windows/window.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operators/pooling.hpp"

namespace davit::portable_kernels {

/// Pooling windows over the planes of a tensor (N?, C, spatial).
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
};

/// Counts the planes of an input with `dims` spatial dimensions, a channel and possibly a batch dimension; dimensions
/// before `may_be_empty` must not be empty.
[[nodiscard]] inline ErrorCode read_planes(KernelCall& call, const TensorView& input, std::size_t dims,
                                           std::size_t may_be_empty, PoolWindow& w) {
  for (std::size_t d = may_be_empty; d < input.rank; ++d)
    if (input.size(d) == 0)
      return call.refuse(ErrorCode::invalid_shape, "pooling: the input has no elements in a dimension");
  if (checked_numel(input) < 0) return call.refuse(ErrorCode::out_of_memory, "pooling: the input is too large");
  w.dims = dims;
  w.planes = 1;
  for (std::size_t d = 0; d < dims; ++d) w.in[3 - dims + d] = input.size(input.rank - dims + d);
  for (std::size_t d = 0; d < 3 - dims; ++d) w.in[d] = 1;
  for (std::size_t d = 0; d + dims < input.rank; ++d) w.planes *= input.size(d);
  return ErrorCode::ok;
}

/// Reads an adaptive pooling operator's call. Averages over one or two dimensions accept inputs without channels; an
/// average over whole planes is a mean, also of empty planes. Source: adaptive_avg_pool2d of ATen.
[[nodiscard]] inline ErrorCode read_adaptive_pool(KernelCall& call, const operators::AdaptivePoolOperator& op,
                                                  bool average, PoolWindow& w) {
  operators::AdaptivePoolView view;
  if (const ErrorCode code = answer(call, operators::read_adaptive_pool(KernelArguments(call), op, view));
      code != ErrorCode::ok)
    return code;
  w.out = view.out;
  const TensorView& input = call.tensor(0);
  const bool whole = w.out == Spatial{1, 1, 1};
  return read_planes(call, input, view.dims,
                     !average || (view.dims == 3 && !whole) ? 1
                     : whole                                ? input.rank
                                                            : input.rank - view.dims,
                     w);
}

/// Reads a pooling operator's call and computes the output's spatial sizes. Source: pool2d_shape_check of ATen's
/// Pool.h.
[[nodiscard]] inline ErrorCode read_pool(KernelCall& call, const operators::PoolOperator& op, operators::PoolView& view,
                                         PoolWindow& w) {
  if (const ErrorCode code = answer(call, operators::read_pool(KernelArguments(call), op, view)); code != ErrorCode::ok)
    return code;
  const ErrorCode code = read_planes(call, call.tensor(view.input), view.dims, view.batched ? 1 : 0, w);
  if (code != ErrorCode::ok) return code;
  w.kernel = view.kernel;
  w.stride = view.stride;
  w.padding = view.padding;
  w.dilation = view.dilation;
  for (std::size_t d = 0; d < 3; ++d) {
    w.out[d] = view.out_size(d, w.in[d]);
    if (w.out[d] < 1)
      return call.refuse(ErrorCode::invalid_shape, "pooling: the kernel is larger than the padded input");
  }
  return ErrorCode::ok;
}

/// The input indices [begin, end) of a window in one dimension, and their number with padding.
struct PoolSpan {
  std::int64_t begin, end, padded;
};

/// The span of the window at output index `i`; `begin` is its first index that is not negative, in steps of the
/// dilation. Source: max_pool2d and avg_pool2d of ATen's CPU kernels.
[[nodiscard]] inline PoolSpan sliding_span(const PoolWindow& w, std::size_t d, std::int64_t i) noexcept {
  const std::int64_t first = i * w.stride[d] - w.padding[d];
  const std::int64_t last = first + (w.kernel[d] - 1) * w.dilation[d];
  std::int64_t begin = first;
  if (first < 0) begin += (w.dilation[d] - 1 - first) / w.dilation[d] * w.dilation[d];
  return {begin, std::min(last + 1, w.in[d]), std::min(last + 1, w.in[d] + w.padding[d]) - first};
}

/// The span [floor(i * in / out), ceil((i + 1) * in / out)). Source: start_index and end_index of ATen.
[[nodiscard]] inline PoolSpan adaptive_span(const PoolWindow& w, std::size_t d, std::int64_t i) noexcept {
  const std::int64_t begin = i * w.in[d] / w.out[d];
  const std::int64_t end = ((i + 1) * w.in[d] - 1) / w.out[d] + 1;
  return {begin, end, end - begin};
}

/// A box of input indices: [begin, end) per dimension, and its volume with padding.
struct Box {
  Spatial begin{}, end{}, padded{};

  [[nodiscard]] bool empty() const noexcept { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
  [[nodiscard]] std::int64_t count() const noexcept {
    return (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]);
  }
  void set(std::size_t d, const PoolSpan& span) noexcept {
    begin[d] = span.begin;
    end[d] = span.end;
    padded[d] = span.padded;
  }
};

/// Calls f(output index, box of its window) for each output index of a plane in row-major order; `span(w, d, i)` is
/// sliding_span or adaptive_span.
template <class Span, class F>
void for_each_window(const PoolWindow& w, Span&& span, F&& f) {
  Box box;
  std::int64_t place = 0;
  for (std::int64_t z = 0; z < w.out[0]; ++z) {
    box.set(0, span(w, 0, z));
    for (std::int64_t y = 0; y < w.out[1]; ++y) {
      box.set(1, span(w, 1, y));
      for (std::int64_t x = 0; x < w.out[2]; ++x) {
        box.set(2, span(w, 2, x));
        f(place++, box);
      }
    }
  }
}

/// Calls f(part, plane) for all planes, on the threads of the team; `elements`: read one by one per plane.
template <class F>
void share_planes(const PoolWindow& w, std::int64_t elements, F&& f) {
  constexpr int operations_of_element = 32;  // the time of 32 vectorized multiply-adds
  kernels::in_parallel(w.planes, 1, kernels::operations(w.planes, elements, operations_of_element),
                       [&](std::size_t part, std::int64_t first, std::int64_t end) {
                         for (std::int64_t p = first; p < end; ++p) f(part, p);
                       });
}

/// Computes output 0 from tensor 0 plane by plane: an element is f(plane of the input, its index among all outputs, box
/// of its window).
template <class C, class Span, class F>
[[nodiscard]] ErrorCode pool_planes(KernelCall& call, const PoolWindow& w, Span&& span, F&& f) {
  ComputeBuffers<C> buffers(call);
  const auto input = buffers.read(call.tensor(0));
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  share_planes(w, volume(w.in), [&](std::size_t, std::int64_t p) {
    const C* plane = buffers.in(input) + p * volume(w.in);
    const std::int64_t first = p * volume(w.out);
    C* out = buffers.out(out_id) + first;
    for_each_window(w, span, [&](std::int64_t i, const Box& box) { out[i] = f(plane, first + i, box); });
  });
  return buffers.finish();
}

/// The sum of a box of a plane of spatial sizes `in`, in row-major order as in ATen: averages that a program rounds to
/// integers are often halves, for which the last bit decides.
template <class C>
[[nodiscard]] C sum_box(const C* plane, const Spatial& in, const Box& box) {
  C sum{};
  for (std::int64_t z = box.begin[0]; z < box.end[0]; ++z)
    for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y) {
      const C* row = plane + (z * in[1] + y) * in[2];
      for (std::int64_t x = box.begin[2]; x < box.end[2]; ++x) sum += row[x];
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
/// Computes output 0 from the gradients in tensor 0: adds share(gradient, box) to each element of a window that is not
/// empty.
template <class C, class Span, class F>
[[nodiscard]] ErrorCode spread_over_planes(KernelCall& call, const PoolWindow& w, Span&& span, F&& share) {
  ComputeBuffers<C> buffers(call);
  const auto grad_id = buffers.read(call.tensor(0));
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  std::fill_n(buffers.out(out_id), w.planes * volume(w.in), C{});
  for (std::int64_t p = 0; p < w.planes; ++p) {
    const C* grad = buffers.in(grad_id) + p * volume(w.out);
    C* plane = buffers.out(out_id) + p * volume(w.in);
    for_each_window(w, span, [&](std::int64_t i, const Box& box) {
      if (!box.empty()) add_to_box(plane, w.in, box, share(grad[i], box));
    });
  }
  return buffers.finish();
}

}  // namespace davit::portable_kernels
