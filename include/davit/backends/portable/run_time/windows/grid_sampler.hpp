// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"

namespace davit::portable_kernels {

namespace detail {

enum class GridInterpolation : std::uint8_t { bilinear = 0, nearest = 1, bicubic = 2 };
enum class GridPadding : std::uint8_t { zeros = 0, border = 1, reflection = 2 };

/// How coordinates of a grid become places along an axis of `size` elements.
template <class C>
struct GridAxis {
  std::int64_t size;
  GridPadding padding;
  bool align_corners;

  /// A coordinate in [-1, 1] as a place in elements.
  [[nodiscard]] C unnormalize(C coordinate) const noexcept {
    const auto n = static_cast<C>(size);
    return align_corners ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
  }
  /// The place with border or reflection padding applied.
  [[nodiscard]] C pad(C place) const noexcept {
    if (padding == GridPadding::zeros) return place;
    if (padding == GridPadding::reflection) place = reflect(place);
    const C clipped = place > 0 ? place : C{};  // NaN too
    return std::min(clipped, static_cast<C>(size - 1));
  }
  /// The element at a place, or -1 if it lies outside.
  [[nodiscard]] std::int64_t index(C place) const noexcept {
    return place >= 0 && place < static_cast<C>(size) ? std::min(static_cast<std::int64_t>(place), size - 1) : -1;
  }

 private:
  [[nodiscard]] C reflect(C place) const noexcept {
    const C low = align_corners ? C{} : C(-0.5);
    const C period = 2 * static_cast<C>(align_corners ? size - 1 : size);
    if (period <= 0) return C{};
    const C away = std::abs(place - low);
    const C extra = away - std::trunc(away / period) * period;
    return std::min(extra, period - extra) + low;
  }
};

/// Samples one plane at one point of the grid.
template <class C>
struct GridSampler {
  GridAxis<C> y, x;
  GridInterpolation mode;

  [[nodiscard]] C operator()(const C* plane, C grid_x, C grid_y) const noexcept {
    const C at_x = x.unnormalize(grid_x);
    const C at_y = y.unnormalize(grid_y);
    if (mode == GridInterpolation::bicubic) return bicubic(plane, at_x, at_y);
    if (mode == GridInterpolation::nearest)
      return element(plane, std::nearbyint(x.pad(at_x)), std::nearbyint(y.pad(at_y)));
    return bilinear(plane, x.pad(at_x), y.pad(at_y));
  }

 private:
  [[nodiscard]] C element(const C* plane, C at_x, C at_y) const noexcept {
    const std::int64_t i = y.index(at_y);
    const std::int64_t j = x.index(at_x);
    return i < 0 || j < 0 ? C{} : plane[i * x.size + j];
  }
  [[nodiscard]] C bilinear(const C* plane, C at_x, C at_y) const noexcept {
    const C left = std::floor(at_x);
    const C top = std::floor(at_y);
    const C right_share = at_x - left;
    const C bottom_share = at_y - top;
    const C left_share = 1 - right_share;
    const C top_share = 1 - bottom_share;
    return element(plane, left, top) * (left_share * top_share) +
           element(plane, left + 1, top) * (right_share * top_share) +
           element(plane, left, top + 1) * (left_share * bottom_share) +
           element(plane, left + 1, top + 1) * (right_share * bottom_share);
  }
  [[nodiscard]] C bicubic(const C* plane, C at_x, C at_y) const noexcept {
    const C left = std::floor(at_x);
    const C top = std::floor(at_y);
    const std::array<C, 4> across = cubic_shares(at_x - left);
    const std::array<C, 4> down = cubic_shares(at_y - top);
    C sum{};
    for (int i = 0; i < 4; ++i) {
      C row{};
      for (int j = 0; j < 4; ++j)
        row += across[static_cast<std::size_t>(j)] *
               element(plane, x.pad(left + static_cast<C>(j - 1)), y.pad(top + static_cast<C>(i - 1)));
      sum += down[static_cast<std::size_t>(i)] * row;
    }
    return sum;
  }
  /// The cubic convolution kernel with a = -0.75 at 1 + t, t, 1 - t and 2 - t.
  [[nodiscard]] static std::array<C, 4> cubic_shares(C t) noexcept {
    constexpr C a = C(-0.75);
    const auto near = [](C d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [](C d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    return {far(t + 1), near(t), near(1 - t), far(2 - t)};
  }
};

template <class C>
[[nodiscard]] ErrorCode compute_grid_sampler(KernelCall& call, GridInterpolation mode, GridPadding padding,
                                             bool align_corners) {
  const TensorView& input = call.tensor(0);
  const TensorView& grid = call.tensor(1);
  if (call.output(0).numel() == 0) return ErrorCode::ok;
  ComputeBuffers<C> buffers(call);
  const auto in_id = buffers.read(input);
  const auto grid_id = buffers.read(grid);
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const GridSampler<C> sample{
      {input.size(2), padding, align_corners}, {input.size(3), padding, align_corners}, mode};
  const std::int64_t points = grid.size(1) * grid.size(2);
  const std::int64_t pixels = input.size(2) * input.size(3);
  const std::int64_t channels = input.size(1);
  for (std::int64_t i = 0; i < input.size(0) * channels; ++i) {
    const C* at = buffers.in(grid_id) + i / channels * points * 2;
    C* out = buffers.out(out_id) + i * points;
    for (std::int64_t p = 0; p < points; ++p) out[p] = sample(buffers.in(in_id) + i * pixels, at[2 * p], at[2 * p + 1]);
  }
  return buffers.finish();
}

}  // namespace detail

/// grid_sampler_3d(input (N, C, D, H, W), grid (N, D', H', W', 3), interpolation_mode, padding_mode, align_corners) -> (N, C, D',
/// H', W'); grid holds (x, y, z) in [-1, 1]; bilinear and nearest. Source: at::grid_sampler_3d.
[[nodiscard]] inline ErrorCode grid_sampler_3d(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  const TensorView& grid = call.tensor(1);
  const std::int64_t mode = call.integer(2), padding = call.integer(3);
  if (input.rank != 5 || grid.rank != 5 || grid.size(4) != 3 || grid.size(0) != input.size(0) || input.size(1) == 0 ||
      input.size(2) == 0 || input.size(3) == 0 || input.size(4) == 0)
    return call.refuse(ErrorCode::invalid_shape, "grid_sampler_3d: the sizes of input and grid do not fit");
  if (input.dtype != grid.dtype) return call.refuse(ErrorCode::invalid_dtype, "grid_sampler_3d: input and grid must have the same dtype");
  if (mode < 0 || mode > 1 || padding < 0 || padding > 2)
    return call.refuse(ErrorCode::out_of_range, "grid_sampler_3d: no such interpolation or padding mode");
  const Sizes sizes(std::array{input.size(0), input.size(1), grid.size(1), grid.size(2), grid.size(3)});
  if (const ErrorCode code = call.make(0, input.dtype, sizes); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() {
    ComputeBuffers<C> buffers(call);
    const auto in_id = buffers.read(input);
    const auto grid_id = buffers.read(grid);
    const auto out_id = buffers.write(0);
    if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
    std::array<detail::GridAxis<C>, 3> axes;  // z, y, x
    for (std::size_t d = 0; d < 3; ++d) axes[d] = {input.size(2 + d), static_cast<detail::GridPadding>(padding), call.boolean(4)};
    const std::int64_t points = grid.size(1) * grid.size(2) * grid.size(3), pixels = axes[0].size * axes[1].size * axes[2].size;
    const std::int64_t channels = input.size(1);
    for (std::int64_t i = 0; i < input.size(0) * channels; ++i) {
      const C* plane = buffers.in(in_id) + i * pixels;
      for (std::int64_t p = 0; p < points; ++p) {
        const C* from = buffers.in(grid_id) + (i / channels * points + p) * 3;
        std::array<C, 3> at;
        for (std::size_t d = 0; d < 3; ++d) at[d] = axes[d].pad(axes[d].unnormalize(from[2 - d]));
        C sum{};
        for (unsigned corner = 0; corner < 8; ++corner) {  // of the cell around it; the nearest element is all of it
          C share = 1;
          std::int64_t place = 0;
          for (std::size_t d = 0; d < 3 && share != 0; ++d) {
            const bool far = (corner >> d & 1) != 0;
            const C low = mode == 1 ? std::nearbyint(at[d]) : std::floor(at[d]);
            const std::int64_t index = axes[d].index(low + static_cast<C>(far ? 1 : 0));
            share *= index < 0 ? C{} : mode == 1 ? static_cast<C>(far ? 0 : 1) : far ? at[d] - low : 1 - (at[d] - low);
            place = place * axes[d].size + index;
          }
          if (share != 0) sum += share * plane[place];
        }
        buffers.out(out_id)[i * points + p] = sum;
      }
    }
    return buffers.finish();
  });
}

/// grid_sampler_2d(input (N, C, H, W), grid (N, H', W', 2), interpolation_mode, padding_mode, align_corners) ->
/// (N, C, H', W'); grid holds (x, y) in [-1, 1]. Source: at::grid_sampler_2d.
[[nodiscard]] inline ErrorCode grid_sampler_2d(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  const TensorView& grid = call.tensor(1);
  const std::int64_t mode = call.integer(2);
  const std::int64_t padding = call.integer(3);
  if (input.rank != 4 || grid.rank != 4 || grid.size(3) != 2 || grid.size(0) != input.size(0))
    return call.refuse(ErrorCode::invalid_shape, "grid_sampler_2d: the sizes of input and grid do not fit");
  if (input.size(1) == 0 || input.size(2) == 0 || input.size(3) == 0)
    return call.refuse(ErrorCode::invalid_shape, "grid_sampler_2d: the input has no elements in a dimension");
  if (input.dtype != grid.dtype)
    return call.refuse(ErrorCode::invalid_dtype, "grid_sampler_2d: input and grid must have the same dtype");
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    return call.refuse(ErrorCode::out_of_range, "grid_sampler_2d: no such interpolation or padding mode");
  const Sizes sizes(std::array{input.size(0), input.size(1), grid.size(1), grid.size(2)});
  if (const ErrorCode code = call.make(0, input.dtype, sizes); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() {
    return detail::compute_grid_sampler<C>(call, static_cast<detail::GridInterpolation>(mode),
                                           static_cast<detail::GridPadding>(padding), call.boolean(4));
  });
}

inline constexpr auto grid_sampler_ops = std::to_array<OpRow>({
    {"aten.grid_sampler_2d.default", grid_sampler_2d},
    {"aten.grid_sampler_3d.default", grid_sampler_3d},
});

}  // namespace davit::portable_kernels
