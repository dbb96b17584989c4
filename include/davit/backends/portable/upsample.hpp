// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/kernel_call.hpp"
#include "davit/backends/portable/staging.hpp"

namespace davit::portable_kernels {

namespace detail {

/// One of the two axes an image is resized along.
struct ResizeAxis {
  std::int64_t in = 0, out = 0;
  double factor = 0;  ///< the scale factor that was given, or 0

  /// Input elements per output element. Source: area_pixel_compute_scale of ATen's UpSample.h.
  template <class R>
  [[nodiscard]] R step(bool align_corners) const noexcept {
    if (align_corners) return out > 1 ? static_cast<R>(in - 1) / static_cast<R>(out - 1) : R{};
    return factor > 0 ? static_cast<R>(1.0 / factor) : static_cast<R>(in) / static_cast<R>(out);
  }
};

struct Resize {
  ResizeAxis y, x;
  std::int64_t planes = 0;
};

/// Reads `input` (N, C, H, W) and either output_size or scale_factors, and makes output 0.
/// Source: upsample::compute_output_size and upsample_2d_common_check of ATen.
[[nodiscard]] inline ErrorCode read_resize(KernelCall& call, std::size_t size_at, std::size_t factors_at, Resize& r) {
  const TensorView& input = call.tensor(0);
  if (input.rank != 4) return call.refuse(ErrorCode::invalid_shape, "upsample: the input must have four dimensions");
  if (call.has(size_at) == call.has(factors_at))
    return call.refuse(ErrorCode::invalid_argument, "upsample: give either output_size or scale_factors");
  const std::span<const EValue> list = call.list(call.has(size_at) ? size_at : factors_at);
  if (list.size() != 2)
    return call.refuse(ErrorCode::invalid_argument, "upsample: output_size or scale_factors needs two elements");
  for (std::size_t d = 0; d < 2; ++d) {
    ResizeAxis& axis = d == 0 ? r.y : r.x;
    axis.in = input.size(2 + d);
    if (!list[d].is_number()) return call.refuse(ErrorCode::invalid_argument, "upsample: a size is not a number");
    if (call.has(factors_at)) axis.factor = list[d].number();
    const double size = call.has(size_at) ? list[d].number() : static_cast<double>(axis.in) * axis.factor;
    if (!(size >= 1 && size <= static_cast<double>(max_numel)))
      return call.refuse(ErrorCode::invalid_shape, "upsample: an output size is less than one or too large");
    axis.out = static_cast<std::int64_t>(size);
  }
  if (input.size(1) == 0 || r.y.in == 0 || r.x.in == 0)
    return call.refuse(ErrorCode::invalid_shape, "upsample: only the batch dimension may be empty");
  if (checked_numel(input) < 0) return call.refuse(ErrorCode::out_of_memory, "upsample: the input is too large");
  r.planes = input.size(0) * input.size(1);
  return call.make(0, input.dtype, Sizes(std::array{input.size(0), input.size(1), r.y.out, r.x.out}));
}

/// The two input elements an output element lies between, and their weights.
template <class C>
struct LinearTap {
  std::int64_t first, second;
  C of_first, of_second;

  /// Source: compute_source_index_and_lambda of ATen's UpSample.h.
  LinearTap(const ResizeAxis& axis, C step, std::int64_t at, bool align_corners) noexcept {
    const C middle = (static_cast<C>(at) + C(0.5)) * step - C(0.5);
    const C source = align_corners ? static_cast<C>(at) * step : std::max(middle, C{});
    first = source < static_cast<C>(axis.in) ? std::min(static_cast<std::int64_t>(source), axis.in - 1) : axis.in - 1;
    second = std::min(first + 1, axis.in - 1);
    of_second = std::clamp(source - static_cast<C>(first), C{}, C{1});
    of_first = C{1} - of_second;
    if (axis.in == axis.out) *this = LinearTap(at, axis.in);
  }

 private:
  LinearTap(std::int64_t at, std::int64_t size) noexcept
      : first(at), second(std::min(at + 1, size - 1)), of_first(1), of_second(0) {}
};

template <class C>
[[nodiscard]] ErrorCode compute_bilinear(KernelCall& call, const Resize& r, bool align_corners) {
  Staging<C> staging(call);
  const auto in_id = staging.read(call.tensor(0));
  const auto out_id = staging.write(0);
  const auto taps_id = staging.template buffer_of<LinearTap<C>>(r.x.out);
  if (const ErrorCode code = staging.allocate(); code != ErrorCode::ok) return code;
  LinearTap<C>* taps = staging.template at<LinearTap<C>>(taps_id);
  const C step_x = r.x.step<C>(align_corners);
  const C step_y = r.y.step<C>(align_corners);
  for (std::int64_t x = 0; x < r.x.out; ++x) taps[x] = LinearTap<C>(r.x, step_x, x, align_corners);
  C* out = staging.out(out_id);
  for (std::int64_t p = 0; p < r.planes; ++p) {
    const C* plane = staging.in(in_id) + p * r.y.in * r.x.in;
    for (std::int64_t y = 0; y < r.y.out; ++y, out += r.x.out) {
      const LinearTap<C> row(r.y, step_y, y, align_corners);
      const C* above = plane + row.first * r.x.in;
      const C* below = plane + row.second * r.x.in;
      for (std::int64_t x = 0; x < r.x.out; ++x) {
        const LinearTap<C>& t = taps[x];
        out[x] = row.of_first * (t.of_first * above[t.first] + t.of_second * above[t.second]) +
                 row.of_second * (t.of_first * below[t.first] + t.of_second * below[t.second]);
      }
    }
  }
  return staging.finish();
}

}  // namespace detail

/// upsample_bilinear2d(input (N, C, H, W), output_size?, align_corners, scale_factors?): exactly one of the two is given.
/// Source: at::upsample_bilinear2d.vec.
[[nodiscard]] inline ErrorCode upsample_bilinear2d(KernelCall& call) {
  detail::Resize r;
  if (const ErrorCode code = detail::read_resize(call, 1, 3, r); code != ErrorCode::ok) return code;
  const bool align_corners = call.boolean(2);
  return dispatch_staged(call, call.tensor(0).dtype,
                         [&]<class C>() { return detail::compute_bilinear<C>(call, r, align_corners); });
}

/// upsample_nearest2d(input (N, C, H, W), output_size?, scale_factors?): exactly one of the two is given.
/// Source: at::upsample_nearest2d.vec.
[[nodiscard]] inline ErrorCode upsample_nearest2d(KernelCall& call) {
  detail::Resize r;
  if (const ErrorCode code = detail::read_resize(call, 1, 2, r); code != ErrorCode::ok) return code;
  const TensorView& input = call.tensor(0);
  return dispatch<float, double, Half, BFloat16, std::uint8_t>(input.dtype, [&]<class T>() {
    using Index = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const auto source = [](const detail::ResizeAxis& axis, Index step, std::int64_t at) {
      const Index place = std::floor(static_cast<Index>(at) * step);
      return place < static_cast<Index>(axis.in) ? std::min(static_cast<std::int64_t>(place), axis.in - 1)
                                                 : axis.in - 1;
    };
    T* out = call.output(0).as<T>();
    for (std::int64_t p = 0; p < r.planes; ++p) {
      const T* plane = input.as<T>() + p / input.size(1) * input.stride(0) + p % input.size(1) * input.stride(1);
      for (std::int64_t y = 0; y < r.y.out; ++y) {
        const T* row = plane + source(r.y, r.y.step<Index>(false), y) * input.stride(2);
        for (std::int64_t x = 0; x < r.x.out; ++x)
          *out++ = row[source(r.x, r.x.step<Index>(false), x) * input.stride(3)];
      }
    }
    return ErrorCode::ok;
  });
}

inline constexpr auto upsample_ops = std::to_array<OpRow>({
    {"aten.upsample_bilinear2d.vec", upsample_bilinear2d},
    {"aten.upsample_nearest2d.vec", upsample_nearest2d},
});

}  // namespace davit::portable_kernels
