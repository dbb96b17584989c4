// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/shapes.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::portable_kernels {

namespace detail {

enum class GridInterpolation : std::uint8_t { bilinear = 0, nearest = 1, bicubic = 2 };
enum class GridPadding : std::uint8_t { zeros = 0, border = 1, reflection = 2 };

/// The map from grid coordinates to positions along an axis of `size` elements.
template <class C>
struct GridAxis {
  std::int64_t size;
  GridPadding padding;
  bool align_corners;

  /// Maps a coordinate in [-1, 1] to a position in elements.
  [[nodiscard, gnu::always_inline]] C unnormalize(C coordinate) const noexcept {
    const auto n = static_cast<C>(size);
    return align_corners ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
  }
  /// Applies border or reflection padding to a position.
  [[nodiscard, gnu::always_inline]] C pad(C place) const noexcept {
    if (padding == GridPadding::zeros) return place;
    if (padding == GridPadding::reflection) place = reflect(place);
    const C clipped = place > 0 ? place : C{};  // also for NaN
    return std::min(clipped, static_cast<C>(size - 1));
  }
  /// Returns the index of the element at a position, or -1 outside.
  [[nodiscard, gnu::always_inline]] std::int64_t index(C place) const noexcept {
    return place >= 0 && place < static_cast<C>(size) ? std::min(static_cast<std::int64_t>(place), size - 1) : -1;
  }

 private:
  [[nodiscard, gnu::always_inline]] C reflect(C place) const noexcept {
    const C low = align_corners ? C{} : C(-0.5);
    const C period = 2 * static_cast<C>(align_corners ? size - 1 : size);
    if (period <= 0) return C{};
    const C away = std::abs(place - low);
    const C extra = away - std::trunc(away / period) * period;
    return std::min(extra, period - extra) + low;
  }
};

/// The number of elements of an axis per coordinate.
[[nodiscard]] constexpr std::size_t taps_of(GridInterpolation mode) noexcept {
  return mode == GridInterpolation::nearest ? 1 : mode == GridInterpolation::bilinear ? 2 : 4;
}
/// The cubic convolution kernel with a = -0.75 at 1 + t, t, 1 - t and 2 - t, for numbers or vectors.
template <class V>
[[gnu::always_inline]] inline void cubic_shares(const V& t, V* shares) noexcept {
  constexpr float a = -0.75f;
  const auto near = [](const V& d, V& to) __attribute__((always_inline)) { to = ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [](const V& d, V& to)
                       __attribute__((always_inline)) { to = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  far(t + 1, shares[0]);
  near(t, shares[1]);
  near(1 - t, shares[2]);
  far(2 - t, shares[3]);
}

/// The elements of one axis that a coordinate samples (-1: outside, counts as 0), and their weights.
template <class C>
struct AxisTaps {
  std::array<std::int64_t, 4> index;
  std::array<C, 4> share;

  [[gnu::always_inline]] void find(const GridAxis<C>& axis, GridInterpolation mode, C coordinate) noexcept {
    const C at = axis.unnormalize(coordinate);
    if (mode == GridInterpolation::nearest) {
      index[0] = axis.index(std::nearbyint(axis.pad(at)));
      share[0] = 1;
    } else if (mode == GridInterpolation::bilinear) {
      const C place = axis.pad(at), low = std::floor(place);
      index[0] = axis.index(low);
      index[1] = axis.index(low + 1);
      share[1] = place - low;
      share[0] = 1 - share[1];
    } else {
      const C low = std::floor(at);
      cubic_shares(at - low, share.data());
      for (std::size_t k = 0; k < 4; ++k) index[k] = axis.index(axis.pad(low + static_cast<C>(k) - 1));
    }
  }
};

/// As above for a vector of coordinates, and axes of fewer than 2^30 elements.
template <kernels::FloatVector V, std::size_t Each>
struct AxisTapVectors {
  using Places = kernels::Vector<std::int32_t, sizeof(V)>;
  Places index[Each];
  V share[Each];

  [[gnu::always_inline]] void find(const GridAxis<float>& axis, const V& coordinate) noexcept {
    const auto n = static_cast<float>(axis.size);
    const V at = axis.align_corners ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
    if constexpr (Each == 1) {
      V place;
      pad(axis, at, place);
      kernels::Round<float>{}(place, place);
      find_index(axis, place, index[0]);
      share[0] = V{} + 1;
    } else if constexpr (Each == 2) {
      V place, low;
      pad(axis, at, place);
      kernels::Floor<float>{}(place, low);
      find_index(axis, low, index[0]);
      find_index(axis, low + 1, index[1]);
      share[1] = place - low;
      share[0] = 1 - share[1];
    } else {
      V low;
      kernels::Floor<float>{}(at, low);
      cubic_shares(at - low, share);
      for (int k = 0; k < 4; ++k) {
        V place;
        pad(axis, low + static_cast<float>(k) - 1, place);
        find_index(axis, place, index[k]);
      }
    }
  }

 private:
  [[gnu::always_inline]] static void pad(const GridAxis<float>& axis, const V& place, V& to) noexcept {
    to = place;
    if (axis.padding == GridPadding::zeros) return;
    if (axis.padding == GridPadding::reflection) {
      const float low = axis.align_corners ? 0 : -0.5f;
      const float period = 2 * static_cast<float>(axis.align_corners ? axis.size - 1 : axis.size);
      if (period <= 0) {
        to = V{};
      } else {
        const V from = place - low, away = from < 0 ? -from : from;
        V periods;
        kernels::Trunc<float>{}(away / period, periods);
        const V extra = away - periods * period, back = period - extra;
        to = (back < extra ? back : extra) + low;
      }
    }
    const V most = V{} + static_cast<float>(axis.size - 1);
    to = to > 0 ? to : V{};  // also for NaN
    to = most < to ? most : to;
  }
  [[gnu::always_inline]] static void find_index(const GridAxis<float>& axis, const V& place, Places& to) noexcept {
    Places positive = place >= 0, below = place < static_cast<float>(axis.size);
    kernels::keep_bits(positive);
    kernels::keep_bits(below);
    const Places inside = positive & below;
    const V kept = __builtin_bit_cast(V, __builtin_bit_cast(Places, place) & inside);  // in the range of integers
    const Places most = Places{} + static_cast<std::int32_t>(axis.size - 1);
    const Places whole = __builtin_convertvector(kept, Places);
    to = (whole < most ? whole : most) | ~inside;
  }
};

/// The samples of some grid points, computed once for all channels: elements of a plane or volume, and their weights.
template <class C, std::size_t Rank>
class PointTaps {
 public:
  static constexpr std::int64_t block = 64;  ///< points

  PointTaps(const std::array<GridAxis<C>, Rank>& axes, GridInterpolation mode) noexcept : axes_(axes), mode_(mode) {
    std::int64_t pixels = 1;
    for (const GridAxis<C>& axis : axes) pixels *= axis.size;
    few_pixels_ = pixels < (std::int64_t{1} << 30);
  }

  /// Computes them for n points, whose coordinates are ordered from the last axis to the first.
  void find(const C* grid, std::int64_t n) noexcept { kernels::run_widest_for<C, Find>(this, grid, n); }
  /// to[p] = the sample at point p of a plane, and of the following planes, for `channels` planes.
  void sample(const C* plane, std::int64_t pixels, C* to, std::int64_t points, std::int64_t channels,
              std::int64_t n) const noexcept {
    for (; channels >= 4; channels -= 4, plane += 4 * pixels, to += 4 * points)
      sample_planes<4>(plane, pixels, to, points, n);
    if (channels == 3) return sample_planes<3>(plane, pixels, to, points, n);  // the three planes of an image together
    for (; channels > 0; --channels, plane += pixels, to += points) sample_planes<1>(plane, pixels, to, points, n);
  }

 private:
  [[nodiscard]] static C value(const C* plane, std::int64_t place) noexcept { return place < 0 ? C{} : plane[place]; }
  template <std::int64_t Planes>
  void sample_planes(const C* plane, std::int64_t pixels, C* to, std::int64_t points, std::int64_t n) const noexcept {
    if (count_ == 1) return sample_taps<Planes, 1>(plane, pixels, to, points, n);
    if (count_ == 4) return sample_taps<Planes, 4>(plane, pixels, to, points, n);
    sample_taps<Planes, 0>(plane, pixels, to, points, n);
  }
  /// Reads elements and weights once for all planes; Taps = 0: their number is known at run time.
  template <std::int64_t Planes, std::size_t Taps>
  void sample_taps(const C* plane, std::int64_t pixels, C* to, std::int64_t points, std::int64_t n) const noexcept {
    const std::size_t taps = Taps == 0 ? count_ : Taps;
    const auto all = [&](auto&& value_at) __attribute__((always_inline)) {
      for (std::int64_t p = 0; p < n; ++p) {
        C sums[Planes];
#pragma GCC unroll 4
        for (std::int64_t c = 0; c < Planes; ++c)
          sums[c] = value_at(plane + c * pixels, places_[0][static_cast<std::size_t>(p)]) *
                    shares_[0][static_cast<std::size_t>(p)];
#pragma GCC unroll 3
        for (std::size_t t = 1; t < taps; ++t) {
          const std::int64_t place = places_[t][static_cast<std::size_t>(p)];
          const C share = shares_[t][static_cast<std::size_t>(p)];
#pragma GCC unroll 4
          for (std::int64_t c = 0; c < Planes; ++c) sums[c] += value_at(plane + c * pixels, place) * share;
        }
#pragma GCC unroll 4
        for (std::int64_t c = 0; c < Planes; ++c) to[c * points + p] = sums[c];
      }
    };
    if (all_inside_)
      all([](const C* from, std::int64_t place) { return from[place]; });
    else
      all([](const C* from, std::int64_t place) { return value(from, place); });
  }
  /// Implements `find`, per instruction set: few have an instruction that rounds down.
  struct Find {
    template <std::size_t Bytes>
    [[gnu::always_inline]] static void run(PointTaps* taps, const C* grid, std::int64_t n) noexcept {
      const auto as = [&]<GridInterpolation Mode>() __attribute__((always_inline)) {
        if constexpr (std::is_same_v<C, float> && kernels::walks_vectors<Bytes> &&
                      (Rank == 2 || Mode != GridInterpolation::bicubic))
          if (taps->few_pixels_) return taps->template find_vectors<Mode, Bytes>(grid, n);
        for (std::int64_t p = 0; p < n; ++p)
          taps->template find_point<Mode>(grid + p * static_cast<std::int64_t>(Rank), static_cast<std::size_t>(p));
      };
      taps->all_inside_ = true;
      if (taps->mode_ == GridInterpolation::bilinear)
        as.template operator()<GridInterpolation::bilinear>();
      else if (taps->mode_ == GridInterpolation::nearest)
        as.template operator()<GridInterpolation::nearest>();
      else
        as.template operator()<GridInterpolation::bicubic>();
    }
  };
  template <GridInterpolation Mode>
  [[gnu::always_inline]] void find_point(const C* point, std::size_t p) noexcept {
    constexpr std::size_t each = taps_of(Mode);
    AxisTaps<C> taps[Rank];
    for (std::size_t d = 0; d < Rank; ++d) taps[d].find(axes_[d], Mode, point[Rank - 1 - d]);
    // all pairs, or triples, of the axes' taps, the last axis innermost
    std::array<std::int64_t, max_taps> places;
    std::array<C, max_taps> shares;
    std::size_t count = 1;
    places[0] = 0;
    shares[0] = 1;
    for (std::size_t d = 0; d < Rank; ++d) {
      for (std::size_t at = count; at-- > 0;)
        for (std::size_t k = each; k-- > 0;) {
          places[at * each + k] =
              places[at] < 0 || taps[d].index[k] < 0 ? -1 : places[at] * axes_[d].size + taps[d].index[k];
          shares[at * each + k] = shares[at] * taps[d].share[k];
        }
      count *= each;
    }
    for (std::size_t t = 0; t < count; ++t) {
      places_[t][p] = places[t];
      shares_[t][p] = shares[t];
      all_inside_ = all_inside_ && places[t] >= 0;
    }
    count_ = count;
  }
  template <GridInterpolation Mode, std::size_t Bytes>
  [[gnu::always_inline]] void find_vectors(const C* grid, std::int64_t n) noexcept {
    using V = kernels::Vector<C, Bytes>;
    using Places = kernels::Vector<std::int32_t, Bytes>;
    constexpr std::size_t each = taps_of(Mode), inner = Rank == 2 ? each : each * each, count = each * inner;
    alignas(64) C coordinates[Rank][block];
    for (std::int64_t p = 0; p < block; ++p)  // pads the last vector with the last point
      for (std::size_t d = 0; d < Rank; ++d)
        coordinates[d][p] =
            grid[std::min(p, n - 1) * static_cast<std::int64_t>(Rank) + static_cast<std::int64_t>(Rank - 1 - d)];
    alignas(64) std::int32_t places[count][block];
    Places all{};
    for (std::int64_t p = 0; p < n; p += kernels::lanes<C, Bytes>) {
      AxisTapVectors<V, each> taps[Rank];
      for (std::size_t d = 0; d < Rank; ++d) taps[d].find(axes_[d], kernels::vector_at<Bytes>(coordinates[d] + p));
      const auto within = [&](std::size_t d, const Places& row, const Places& index, Places& to)
                              __attribute__((always_inline)) {
                                const Places outside = (row | index) >> 31;
                                to = (row * static_cast<std::int32_t>(axes_[d].size) + index) | outside;
                              };
#pragma GCC unroll 4
      for (std::size_t k = 0; k < each; ++k) {
#pragma GCC unroll 4
        for (std::size_t i = 0; i < inner; ++i) {
          Places place;
          V share = taps[0].share[k] * taps[1].share[Rank == 2 ? i : i / each];
          within(1, taps[0].index[k], taps[1].index[Rank == 2 ? i : i / each], place);
          if constexpr (Rank == 3) {
            within(2, place, taps[2].index[i % each], place);
            share *= taps[2].share[i % each];
          }
          all |= place;
          kernels::vector_at<Bytes>(places[k * inner + i] + p) = place;
          kernels::vector_at<Bytes>(shares_[k * inner + i].data() + p) = share;
        }
      }
    }
    count_ = count;
    std::int32_t any = 0;
    for (std::int64_t i = 0; i < kernels::lanes<C, Bytes>; ++i) any |= all[i];
    all_inside_ = any >= 0;
    for (std::size_t t = 0; t < count; ++t) std::copy_n(places[t], block, places_[t].begin());
  }
  std::array<GridAxis<C>, Rank> axes_;
  GridInterpolation mode_;
  bool few_pixels_;                            ///< whose elements fit one vector
  static constexpr std::size_t max_taps = 16;  ///< bicubic in a plane; volumes have no bicubic mode
  std::size_t count_ = 0;
  bool all_inside_ = true;
  std::array<std::array<std::int64_t, static_cast<std::size_t>(block)>, max_taps> places_;
  std::array<std::array<C, static_cast<std::size_t>(block)>, max_taps> shares_;
};

template <class C, std::size_t Rank>
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
  std::array<GridAxis<C>, Rank> axes;
  std::int64_t points = 1, pixels = 1;
  for (std::size_t d = 0; d < Rank; ++d) {
    axes[d] = {input.size(2 + d), padding, align_corners};
    points *= grid.size(1 + d);
    pixels *= input.size(2 + d);
  }
  const std::int64_t channels = input.size(1);
  constexpr std::int64_t block = PointTaps<C, Rank>::block;
  const std::int64_t blocks = (points + block - 1) / block;
  const std::int64_t taps = mode == GridInterpolation::bicubic ? 16 : std::int64_t{1} << Rank;
  kernels::in_parallel(
      input.size(0) * blocks, 1, kernels::operations(input.size(0) * points, channels, taps),
      [&](std::size_t, std::int64_t begin, std::int64_t end) {
        PointTaps<C, Rank> sampler(axes, mode);
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t image = i / blocks, first = i % blocks * block, n = std::min(block, points - first);
          sampler.find(buffers.in(grid_id) + (image * points + first) * static_cast<std::int64_t>(Rank), n);
          sampler.sample(buffers.in(in_id) + image * channels * pixels, pixels,
                         buffers.out(out_id) + image * channels * points + first, points, channels, n);
        }
      });
  return buffers.finish();
}

/// Runs the operator with `Rank` spatial dimensions; refuses other ranks.
template <std::size_t Rank>
[[nodiscard]] ErrorCode grid_sampler(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  const TensorView& grid = call.tensor(1);
  const std::int64_t mode = call.integer(2);
  const std::int64_t padding = call.integer(3);
  if (input.rank != Rank + 2 || grid.rank != Rank + 2 || grid.size(Rank + 1) != static_cast<std::int64_t>(Rank) ||
      grid.size(0) != input.size(0))
    return call.refuse(ErrorCode::invalid_shape, "the sizes of input and grid do not fit");
  for (std::size_t d = 2; d < Rank + 2; ++d)
    if (input.size(d) == 0) return call.refuse(ErrorCode::invalid_shape, "the input has no elements in a dimension");
  if (input.dtype != grid.dtype)
    return call.refuse(ErrorCode::invalid_dtype, "input and grid must have the same dtype");
  if (mode < 0 || mode > (Rank == 2 ? 2 : 1) || padding < 0 || padding > 2)
    return call.refuse(ErrorCode::out_of_range, "unknown interpolation or padding mode");
  Sizes sizes(input.sizes().first(2));
  for (std::size_t d = 0; d < Rank; ++d) (void)sizes.push(grid.size(1 + d));
  if (const ErrorCode code = call.make(0, input.dtype, sizes); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() {
    return compute_grid_sampler<C, Rank>(call, static_cast<GridInterpolation>(mode), static_cast<GridPadding>(padding),
                                         call.boolean(4));
  });
}

}  // namespace detail

/// grid_sampler_2d(input (N, C, H, W), grid (N, H', W', 2), interpolation_mode, padding_mode, align_corners) ->
/// (N, C, H', W'); grid holds (x, y) in [-1, 1]. Source: at::grid_sampler_2d.
[[nodiscard]] inline ErrorCode grid_sampler_2d(KernelCall& call) { return detail::grid_sampler<2>(call); }
/// grid_sampler_2d in three dimensions, where grid holds (x, y, z); bilinear and nearest. Source: at::grid_sampler_3d.
[[nodiscard]] inline ErrorCode grid_sampler_3d(KernelCall& call) { return detail::grid_sampler<3>(call); }

inline constexpr auto grid_sampler_ops = std::to_array<OpRow>({
    {"aten.grid_sampler_2d.default", grid_sampler_2d},
    {"aten.grid_sampler_3d.default", grid_sampler_3d},
});

}  // namespace davit::portable_kernels
