// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/movement/mapped_copy.hpp"
#include "davit/kernels/resize_axis.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operators/resize.hpp"

namespace davit::portable_kernels {

namespace detail {

struct Resize {
  kernels::ResizeAxis y, x;
  std::int64_t planes = 0;
};

/// Reads a call and makes output 0.
[[nodiscard]] inline ErrorCode read_resize(KernelCall& call, const operators::ResizeOperator& op, operators::ResizeView& view, Resize& r) {
  if (const ErrorCode code = answer(call, operators::read_resize(KernelArguments(call), op, view)); code != ErrorCode::ok) return code;
  const TensorView& input = call.tensor(0);
  r.y = {input.size(2), view.out[0], view.factor[0]};
  r.x = {input.size(3), view.out[1], view.factor[1]};
  if (input.size(1) == 0 || r.y.in == 0 || r.x.in == 0)
    return call.refuse(ErrorCode::invalid_shape, "upsample: only the batch dimension may be empty");
  if (checked_numel(input) < 0) return call.refuse(ErrorCode::out_of_memory, "upsample: the input is too large");
  r.planes = input.size(0) * input.size(1);
  return call.make(0, input.dtype, Sizes(std::array{input.size(0), input.size(1), r.y.out, r.x.out}));
}

/// The weights of one axis in fixed point, as torch resizes bytes: the largest takes 15 bits.
class FixedPointAxis {
 public:
  FixedPointAxis(const kernels::ResizeAxis& axis, bool align_corners) noexcept
      : axis_(axis), step_(axis.step<double>(align_corners)), align_corners_(align_corners) {
    double largest = 0;
    for (std::int64_t i = 0; i < axis.out; ++i) {
      const kernels::LinearTap<double> t = tap(i);
      largest = std::max({largest, t.of_first, t.of_second, t.first == t.second ? t.of_first + t.of_second : 0.0});
    }
    while (bits_ < 22 && 0.5 + largest * static_cast<double>(std::int64_t{1} << (bits_ + 1)) < 32768.0) ++bits_;
  }
  [[nodiscard]] kernels::LinearTap<double> tap(std::int64_t i) const noexcept { return {axis_, step_, i, align_corners_}; }
  [[nodiscard]] std::uint8_t mix(const kernels::LinearTap<double>& t, std::uint8_t first, std::uint8_t second) const noexcept {
    const std::int64_t half = std::int64_t{1} << (bits_ - 1);
    std::int64_t sum = half;
    if (t.first == t.second) {
      sum += fixed(t.of_first + t.of_second) * first;
    } else {
      sum += fixed(t.of_first) * first + fixed(t.of_second) * second;
    }
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> bits_, 0, 255));
  }

 private:
  [[nodiscard]] std::int64_t fixed(double weight) const noexcept {
    return static_cast<std::int64_t>(0.5 + weight * static_cast<double>(std::int64_t{1} << bits_));
  }
  kernels::ResizeAxis axis_;
  double step_;
  bool align_corners_;
  int bits_ = 0;
};

/// Bytes: along rows first, rounded, then along columns. Source: the uint8 path of upsample_bilinear2d on the CPU.
[[nodiscard]] inline ErrorCode compute_bilinear_bytes(KernelCall& call, const Resize& r, bool align_corners) {
  ComputeBuffers<std::uint8_t> buffers(call);
  const auto in_id = buffers.read(call.tensor(0));
  const auto out_id = buffers.write(0);
  const auto rows_id = buffers.buffer({r.y.in, r.x.out});
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const FixedPointAxis across(r.x, align_corners);
  const FixedPointAxis down(r.y, align_corners);
  std::uint8_t* rows = buffers.out(rows_id);
  for (std::int64_t p = 0; p < r.planes; ++p) {
    const std::uint8_t* plane = buffers.in(in_id) + p * r.y.in * r.x.in;
    std::uint8_t* out = buffers.out(out_id) + p * r.y.out * r.x.out;
    for (std::int64_t x = 0; x < r.x.out; ++x) {
      const kernels::LinearTap<double> t = across.tap(x);
      for (std::int64_t y = 0; y < r.y.in; ++y)
        rows[y * r.x.out + x] = across.mix(t, plane[y * r.x.in + t.first], plane[y * r.x.in + t.second]);
    }
    for (std::int64_t y = 0; y < r.y.out; ++y) {
      const kernels::LinearTap<double> t = down.tap(y);
      for (std::int64_t x = 0; x < r.x.out; ++x)
        out[y * r.x.out + x] = down.mix(t, rows[t.first * r.x.out + x], rows[t.second * r.x.out + x]);
    }
  }
  return buffers.finish();
}

template <class C>
[[nodiscard]] ErrorCode compute_bilinear(KernelCall& call, const Resize& r, bool align_corners) {
  ComputeBuffers<C> buffers(call);
  const auto in_id = buffers.read(call.tensor(0));
  const auto out_id = buffers.write(0);
  const auto taps_id = buffers.template buffer_of<kernels::LinearTap<C>>(r.x.out);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  kernels::LinearTap<C>* taps = buffers.template at<kernels::LinearTap<C>>(taps_id);
  const C step_x = r.x.step<C>(align_corners);
  const C step_y = r.y.step<C>(align_corners);
  for (std::int64_t x = 0; x < r.x.out; ++x) taps[x] = kernels::LinearTap<C>(r.x, step_x, x, align_corners);
  const bool is_line = r.y.in == 1 && r.y.out == 1;  // of which infinities are no NaN
  const std::int64_t rows = r.planes * r.y.out;
  kernels::in_parallel(rows, 1, kernels::operations(rows, r.x.out, 8), [&](std::size_t, std::int64_t begin, std::int64_t end) {
    C* out = buffers.out(out_id) + begin * r.x.out;
    for (std::int64_t number = begin; number < end; ++number, out += r.x.out) {
      const C* plane = buffers.in(in_id) + number / r.y.out * r.y.in * r.x.in;
      const kernels::LinearTap<C> row(r.y, step_y, number % r.y.out, align_corners);
      const C* above = plane + row.first * r.x.in;
      const C* below = plane + row.second * r.x.in;
      for (std::int64_t x = 0; x < r.x.out; ++x) {
        const kernels::LinearTap<C>& t = taps[x];
        const C value = t.of_first * above[t.first] + t.of_second * above[t.second];
        out[x] = is_line ? value : row.of_first * value + row.of_second * (t.of_first * below[t.first] + t.of_second * below[t.second]);
      }
    }
  });
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode resize_images(KernelCall& call, const operators::ResizeOperator& op) {
  operators::ResizeView view;
  Resize r;
  if (const ErrorCode code = read_resize(call, op, view, r); code != ErrorCode::ok) return code;
  const TensorView& input = call.tensor(0);
  if (op.linear && input.dtype == ScalarType::uint8) return compute_bilinear_bytes(call, r, view.aligned);
  if (op.linear) return dispatch_floating(call, input.dtype, [&]<class C>() { return compute_bilinear<C>(call, r, view.aligned); });
  if (!(is_floating(input.dtype) && kernels::is_real(input.dtype)) && input.dtype != ScalarType::uint8)
    return ErrorCode::invalid_dtype;
  const bool wide = input.dtype == ScalarType::float64;
  return copy_mapped(call, input, call.output(0), [&](std::size_t d, std::int64_t i) {
    if (d < 2) return i;
    const auto& axis = d == 2 ? r.y : r.x;
    return wide ? axis.template nearest<double>(i) : axis.template nearest<float>(i);
  });
}

}  // namespace detail

/// upsample_bilinear2d(input (N, C, H, W), output_size?, align_corners, scale_factors?) and upsample_nearest2d, which has no
/// align_corners: exactly one of the two is given. Source: at::upsample_bilinear2d.vec, at::upsample_nearest2d.vec.
inline constexpr auto upsample_ops = rows_of<operators::resize_operators, detail::resize_images>();

}  // namespace davit::portable_kernels
