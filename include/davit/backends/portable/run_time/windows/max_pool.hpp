// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/windows/pool_rows.hpp"
#include "davit/backends/portable/run_time/windows/pool_window.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operators/pooling.hpp"

namespace davit::portable_kernels {

namespace detail {

/// The maximum of no elements: minus infinity, or the smallest integer of the type.
template <class C>
[[nodiscard]] C lowest_of(ScalarType type) noexcept {
  if constexpr (std::is_floating_point_v<C>) return -std::numeric_limits<C>::infinity();
  if (type == ScalarType::uint8) return C{};
  return static_cast<C>(std::numeric_limits<std::int64_t>::min() >> (64 - 8 * size_of(type)));
}

/// The largest element of each window, and its index in the plane; a NaN wins, the last of several.
template <class C>
void max_pool_plane(const PoolWindow& w, const C* plane, C lowest, C* out, std::int64_t* indices) {
  for_each_window(w, sliding_span, [&](std::int64_t place, const Box& box) {
    std::int64_t best = (box.begin[0] * w.in[1] + box.begin[1]) * w.in[2] + box.begin[2];
    C largest = lowest;
    for (std::int64_t z = box.begin[0]; z < box.end[0]; z += w.dilation[0]) {
      for (std::int64_t y = box.begin[1]; y < box.end[1]; y += w.dilation[1]) {
        const std::int64_t row = (z * w.in[1] + y) * w.in[2];
        for (std::int64_t x = box.begin[2]; x < box.end[2]; x += w.dilation[2]) {
          const C value = plane[row + x];
          if (value > largest || value != value) {
            largest = value;
            best = row + x;
          }
        }
      }
    }
    out[place] = largest;
    if (indices != nullptr) indices[place] = best;
  });
}

/// The work space of the functions below.
template <class C>
struct PoolRowBuffers {
  const std::int64_t* offsets;   ///< per tap along the row
  C* apart;                      ///< a row of the input, in the order of PoolRow
  C* places;                     ///< a row of the output, plus `beyond`
  C* largest;                    ///< a row of the input
  kernels::PlaceOf<C>* indices;  ///< a row of the output, plus `beyond`
};

/// The largest elements of a plane: first over the rows of a window, then over the taps along the row.
template <class C>
void max_pool_by_rows(const PoolWindow& w, const PoolRow& row, const C* plane, const PoolRowBuffers<C>& b, C* out) {
  for_each_row_of_windows(w, [&](const PoolSpan& depth, const PoolSpan& height) {
    std::fill_n(b.largest, w.in[2], -std::numeric_limits<C>::infinity());
    for_each_covered_row(w, depth, height, [&](std::int64_t at) {
      kernels::run_widest_for<C, LargerOfRows>(plane + at, b.largest, w.in[2]);
    });
    row.split(static_cast<const C*>(b.largest), b.apart);
    kernels::run_widest_for<C, LargestOfTaps>(b.offsets, w.kernel[2], static_cast<const C*>(b.apart), b.places,
                                              w.out[2]);
    out = std::copy_n(b.places, w.out[2], out);
  });
}

/// max_pool_rows with the index of each element in its plane, tap by tap as in max_pool_plane.
template <class C>
void max_pool_places_by_rows(const PoolWindow& w, const PoolRow& row, const C* plane, const PoolRowBuffers<C>& b,
                             C* out, std::int64_t* indices) {
  using Place = kernels::PlaceOf<C>;
  for_each_row_of_windows(w, [&](const PoolSpan& depth, const PoolSpan& height) {
    std::fill_n(b.places, w.out[2], -std::numeric_limits<C>::infinity());
    const std::int64_t first = (depth.begin * w.in[1] + height.begin) * w.in[2];
    for (std::int64_t x = 0; x < w.out[2]; ++x) b.indices[x] = static_cast<Place>(first + sliding_span(w, 2, x).begin);
    for_each_covered_row(w, depth, height, [&](std::int64_t at) {
      row.split(plane + at, b.apart);
      const PlacesOfTaps<Place> places{static_cast<Place>(at - w.padding[2]), static_cast<Place>(w.stride[2]),
                                       static_cast<Place>(w.dilation[2])};
      kernels::run_widest_for<C, LargestWithPlaces>(b.offsets, w.kernel[2], static_cast<const C*>(b.apart), &places,
                                                    b.places, b.indices, w.out[2]);
    });
    out = std::copy_n(b.places, w.out[2], out);
    indices = std::copy_n(b.indices, w.out[2], indices);
  });
}

/// The largest elements, and their indices if `with_indices`.
template <class C>
[[nodiscard]] ErrorCode compute_largest(KernelCall& call, const PoolWindow& w, bool with_indices) {
  const PoolRow row(w);
  ComputeBuffers<C> buffers(call);
  const auto input = buffers.read(call.tensor(0));
  const auto out = buffers.write(0);
  const auto offsets = buffers.template buffer_of<std::int64_t>(w.kernel[2]);
  const std::int64_t own = w.in[2] + row.count() + 2 * (w.out[2] + beyond);  // per thread
  const auto rows = buffers.buffer(own * kernels::team_size());
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  std::int64_t* const taps = buffers.template at<std::int64_t>(offsets);
  for (std::int64_t k = 0; k < w.kernel[2]; ++k) taps[k] = row.offset(k * w.dilation[2]);
  std::fill_n(buffers.out(rows), own * kernels::team_size(), -std::numeric_limits<C>::infinity());
  std::int64_t* const indices = with_indices ? call.output(1).as<std::int64_t>() : nullptr;
  const std::int64_t places = volume(w.out);
  share_planes(w, (volume(w.in) + places * w.kernel[2]) / 8, [&](std::size_t part, std::int64_t p) {
    C* const apart = buffers.out(rows) + static_cast<std::int64_t>(part) * own;
    C* const made = apart + row.count();
    auto* const found = reinterpret_cast<kernels::PlaceOf<C>*>(made + w.out[2] + beyond);
    const PoolRowBuffers<C> b{taps, apart, made, made + 2 * (w.out[2] + beyond), found};
    const C* const plane = buffers.in(input) + p * volume(w.in);
    if (with_indices)
      max_pool_places_by_rows<C>(w, row, plane, b, buffers.out(out) + p * places, indices + p * places);
    else
      max_pool_by_rows<C>(w, row, plane, b, buffers.out(out) + p * places);
  });
  return buffers.finish();
}

template <class C>
[[nodiscard]] ErrorCode compute_max_pool(KernelCall& call, const PoolWindow& w, bool with_indices) {
  if constexpr (std::is_floating_point_v<C>)
    if (volume(w.out) > 0 && PoolRow::pays(w) && volume(w.in) <= INT32_MAX)
      return compute_largest<C>(call, w, with_indices);
  ComputeBuffers<C> buffers(call);
  const auto input = buffers.read(call.tensor(0));
  const auto out = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  std::int64_t* indices = with_indices ? call.output(1).as<std::int64_t>() : nullptr;
  const std::int64_t places = volume(w.out);
  const std::int64_t pixels = volume(w.in);
  const C lowest = lowest_of<C>(call.tensor(0).dtype);
  share_planes(w, pixels, [&](std::size_t, std::int64_t p) {
    max_pool_plane(w, buffers.in(input) + p * pixels, lowest, buffers.out(out) + p * places,
                   with_indices ? indices + p * places : nullptr);
  });
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode run_max_pool(KernelCall& call, const operators::PoolOperator& op) {
  const TensorView& input = call.tensor(0);
  operators::PoolView view;
  PoolWindow w;
  if (const ErrorCode code = read_pool(call, op, view, w); code != ErrorCode::ok) return code;
  const bool with_indices = call.wants(1);
  if (const ErrorCode code = call.make(0, input.dtype, w.out_sizes(input)); code != ErrorCode::ok) return code;
  if (with_indices)
    if (const ErrorCode code = call.make(1, ScalarType::int64, w.out_sizes(input)); code != ErrorCode::ok) return code;
  switch (input.dtype) {
    case ScalarType::int64:
    case ScalarType::int32:
    case ScalarType::int16:
    case ScalarType::int8:
    case ScalarType::uint8: return compute_max_pool<std::int64_t>(call, w, with_indices);
    default:
      return dispatch_floating(call, input.dtype,
                               [&]<class C>() { return compute_max_pool<C>(call, w, with_indices); });
  }
}

template <class C>
[[nodiscard]] ErrorCode compute_max_pool_backward(KernelCall& call, const PoolWindow& w) {
  const TensorView& indices = call.tensor(7);
  ComputeBuffers<C> buffers(call);
  const auto grad = buffers.read(call.tensor(0));
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const std::int64_t places = volume(w.out);
  const std::int64_t pixels = volume(w.in);
  C* out = buffers.out(out_id);
  std::fill_n(out, w.planes * pixels, C{});
  const C* from = buffers.in(grad);
  std::int64_t i = 0;
  bool inside = true;
  for_each_index(indices.sizes(), std::array{strides_of(indices)}, [&](std::int64_t offset) {
    const std::int64_t index = indices.as<std::int64_t>()[offset];
    if (index < 0 || index >= pixels) {
      inside = false;
    } else {
      out[i / places * pixels + index] += from[i];
    }
    ++i;
  });
  if (!inside) return call.refuse(ErrorCode::out_of_range, "max_pool2d backward: an index lies outside its plane");
  return buffers.finish();
}

/// The largest element of each window and its index in the plane; NaN wins, the last of several. Source:
/// adaptive_max_pool2d_kernel of ATen.
template <class C>
[[nodiscard]] ErrorCode compute_adaptive_max_pool(KernelCall& call, const PoolWindow& w) {
  return pool_planes<C>(call, w, adaptive_span, [&](const C* plane, std::int64_t i, const Box& box) {
    std::int64_t best = -1;
    for (std::int64_t z = box.begin[0]; z < box.end[0]; ++z)
      for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y)
        for (std::int64_t x = box.begin[2]; x < box.end[2]; ++x) {
          const std::int64_t at = (z * w.in[1] + y) * w.in[2] + x;
          if (best < 0 || plane[at] > plane[best] || plane[at] != plane[at]) best = at;
        }
    if (call.wants(1)) call.output(1).template as<std::int64_t>()[i] = best;
    return plane[best];
  });
}
/// adaptive_max_pool2d(self (N?, C, H, W), output_size) -> (values, indices), and over (N?, C, D, H, W).
/// Source: at::adaptive_max_pool2d, at::adaptive_max_pool3d.
template <std::size_t dims>
[[nodiscard]] ErrorCode adaptive_max_pool(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  const auto& op =
      operators::row_of(operators::adaptive_pool_operators,
                        dims == 2 ? "aten.adaptive_avg_pool2d.default" : "aten._adaptive_avg_pool3d.default");
  PoolWindow w;
  if (const ErrorCode code = read_adaptive_pool(call, op, false, w); code != ErrorCode::ok) return code;
  for (std::size_t d = 3 - dims; d < 3; ++d)
    if (w.in[d] < 1 && volume(w.out) != 0)
      return call.refuse(ErrorCode::invalid_shape, "adaptive_max_pool: the planes are empty");
  if (const ErrorCode code = call.make(0, input.dtype, w.out_sizes(input)); code != ErrorCode::ok) return code;
  if (call.wants(1))
    if (const ErrorCode code = call.make(1, ScalarType::int64, w.out_sizes(input)); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() { return compute_adaptive_max_pool<C>(call, w); });
}

/// True for operators that lowering keeps: max_pool3d becomes max_pool3d_with_indices.
[[nodiscard]] constexpr bool is_maximum(const operators::PoolOperator& op) noexcept {
  return op.maximum && !op.gradient && std::string_view(op.target) != "aten.max_pool3d.default";
}

}  // namespace detail

/// The gradient of max_pool2d's input: sums grad_output at the indices. Errors: out_of_range. Source:
/// at::max_pool2d_with_indices_backward.
[[nodiscard]] inline ErrorCode max_pool2d_with_indices_backward(KernelCall& call) {
  const TensorView& grad = call.tensor(0);
  const TensorView& input = call.tensor(1);
  const TensorView& indices = call.tensor(7);
  operators::PoolView view;
  PoolWindow w;
  const auto& op = operators::row_of(operators::pool_operators, "aten.max_pool2d_with_indices_backward.default");
  if (const ErrorCode code = read_pool(call, op, view, w); code != ErrorCode::ok) return code;
  const Sizes sizes = w.out_sizes(input);
  if (!std::ranges::equal(grad.sizes(), sizes.span()) || !std::ranges::equal(indices.sizes(), sizes.span()))
    return call.refuse(ErrorCode::invalid_shape,
                       "max_pool2d backward: grad_output and indices must have the sizes of the pooled tensor");
  if (grad.dtype != input.dtype || indices.dtype != ScalarType::int64)
    return call.refuse(ErrorCode::invalid_dtype, "max_pool2d backward: the operands' dtypes do not fit");
  if (const ErrorCode code = call.make_like(0, input); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() { return detail::compute_max_pool_backward<C>(call, w); });
}

/// Maxima: (self (N?, C, spatial), kernel_size, stride=[] (the kernel size), padding, dilation, ceil_mode) -> (values,
/// int64 indices into each plane), or the values alone; the gradient; adaptive maxima. Source:
/// at::max_pool2d_with_indices and its like.
inline constexpr auto max_pool_ops =
    joined_rows(rows_of<operators::pool_operators, detail::run_max_pool, detail::is_maximum>(),
                std::to_array<OpRow>({
                    {"aten.adaptive_max_pool2d.default", detail::adaptive_max_pool<2>},
                    {"aten.adaptive_max_pool3d.default", detail::adaptive_max_pool<3>},
                    {"aten.max_pool2d_with_indices_backward.default", max_pool2d_with_indices_backward},
                }));

}  // namespace davit::portable_kernels
