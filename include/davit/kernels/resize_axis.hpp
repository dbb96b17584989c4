// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace davit::kernels {

/// An axis along which an image is resized.
struct ResizeAxis {
  std::int64_t in = 0, out = 0;
  double factor = 0;  ///< the given scale factor, or 0

  /// Input elements per output element. Source: area_pixel_compute_scale of ATen's UpSample.h.
  template <class R>
  [[nodiscard]] constexpr R step(bool align_corners) const noexcept {
    if (align_corners) return out > 1 ? static_cast<R>(in - 1) / static_cast<R>(out - 1) : R{};
    return factor > 0 ? static_cast<R>(1.0 / factor) : static_cast<R>(in) / static_cast<R>(out);
  }
  /// The input element nearest to output element `at`; exact ratios of 1 and 2 override the given factor. Source:
  /// nearest_idx of ATen's UpSample.h.
  template <class R>
  [[nodiscard]] constexpr std::int64_t nearest(std::int64_t at) const noexcept {
    if (out == in) return at;
    if (out == 2 * in) return at / 2;
    const R place = static_cast<R>(at) * step<R>(false);
    return place < static_cast<R>(in) ? std::min(static_cast<std::int64_t>(place), in - 1) : in - 1;
  }
  /// The input element whose centre is nearest to the centre of output element `at`. Source: HelperInterpNearestExact
  /// of ATen's UpSampleKernel.cpp, whose product and difference are rounded once.
  template <class R>
  [[nodiscard]] constexpr std::int64_t nearest_exact(std::int64_t at) const noexcept {
    const R centre = static_cast<R>((static_cast<double>(at) + 0.5) * static_cast<double>(step<R>(false)) - 0.5);
    const R place = std::max(centre, R{}) + R(0.5);
    return place < static_cast<R>(in) ? std::min(static_cast<std::int64_t>(place), in - 1) : in - 1;
  }
};

/// The two input elements around an output element, and their weights.
template <class C>
struct LinearTap {
  std::int64_t first, second;
  C of_first, of_second;

  /// Source: compute_source_index_and_lambda of ATen's UpSample.h.
  constexpr LinearTap(const ResizeAxis& axis, C step, std::int64_t at, bool align_corners) noexcept {
    const C middle = (static_cast<C>(at) + C(0.5)) * step - C(0.5);
    const C source = align_corners ? static_cast<C>(at) * step : std::max(middle, C{});
    first = source < static_cast<C>(axis.in) ? std::min(static_cast<std::int64_t>(source), axis.in - 1) : axis.in - 1;
    second = std::min(first + 1, axis.in - 1);
    of_second = std::clamp(source - static_cast<C>(first), C{}, C{1});
    of_first = C{1} - of_second;
    if (axis.in == axis.out) *this = LinearTap(at);
  }

 private:
  constexpr explicit LinearTap(std::int64_t at) noexcept : first(at), second(at), of_first(1), of_second(0) {}
};

/// The number of neighbours in an output element's weighted sum, and the function of their distance.
struct ResizeFilter {
  bool cubic = false;   ///< Keys' function, else a triangle
  bool smooth = false;  ///< antialiasing: wider for shrinking images

  /// Source: the filters of HelperInterpLinear and HelperInterpCubic of ATen's UpSampleKernel.cpp.
  template <class C>
  [[nodiscard]] constexpr C operator()(C distance) const noexcept {
    const C x = distance < 0 ? -distance : distance;
    if (!cubic) return x < 1 ? 1 - x : C{};
    const C a = smooth ? C(-0.5) : C(-0.75);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : C{};
  }
};

/// The taps of one axis: some input elements per output element, with weights. Elements beyond the ends are clamped.
/// Only taps are read, so that a NaN or an infinity stays with its neighbours.
template <class C>
class ResizeTaps {
 public:
  constexpr ResizeTaps(const ResizeAxis& axis, ResizeFilter filter, bool align_corners) noexcept
      : axis_(axis),
        filter_(filter),
        align_corners_(align_corners),
        step_(axis.step<C>(align_corners)),
        reach_(filter.cubic ? C{2} : C{1}) {
    if (filter.smooth && step_ > 1) reach_ *= step_;
  }
  /// The largest number of taps of an element, at most `limit`.
  [[nodiscard]] constexpr std::int64_t most(std::int64_t limit) const noexcept {
    if (!filter_.smooth) return filter_.cubic ? 4 : 2;
    return reach_ < static_cast<C>(axis_.in) ? std::min(2 * (static_cast<std::int64_t>(reach_) + 1) + 1, limit)
                                             : std::min(axis_.in, limit);
  }
  /// Writes the taps of output element i; returns their number. Source: compute_indices_weights of ATen's
  /// UpSampleKernel.cpp.
  constexpr std::int64_t write(std::int64_t i, std::int64_t most, std::int64_t* elements, C* weights) const noexcept {
    const auto at = static_cast<C>(i);
    const std::int64_t last = axis_.in - 1;
    if (!filter_.smooth) {
      C place = align_corners_ ? step_ * at : step_ * (at + C(0.5)) - C(0.5);
      if (!filter_.cubic) place = std::max(place, C{});
      const std::int64_t before = filter_.cubic ? 1 : 0;
      if (!filter_.cubic && axis_.in == axis_.out) place = at;
      const std::int64_t first = std::min(floor(place), last);
      const C share = std::clamp(place - static_cast<C>(first), C{}, C{1});
      for (std::int64_t k = 0; k < most; ++k) {
        elements[k] = std::clamp(first + k - before, std::int64_t{0}, last);
        weights[k] = filter_(share - static_cast<C>(k - before));
      }
      return most;
    }
    const C centre = step_ * (at + C(0.5)), shrinks = step_ >= 1 ? 1 / step_ : C{1};
    const std::int64_t begin = std::max(floor(centre - reach_ + C(0.5)), std::int64_t{0});
    const std::int64_t count = std::clamp(floor(centre + reach_ + C(0.5)) - begin, std::int64_t{0}, most);
    C total{};
    for (std::int64_t k = 0; k < count; ++k) {
      elements[k] = begin + k;
      weights[k] = filter_((static_cast<C>(begin + k) - centre + C(0.5)) * shrinks);
      total += weights[k];
    }
    for (std::int64_t k = 0; k < count && total != 0; ++k) weights[k] /= total;
    return count;
  }

 private:
  /// Rounds down to the range from -1 to the axis's size, to which NaN also goes.
  [[nodiscard]] constexpr std::int64_t floor(C v) const noexcept {
    if (!(v < static_cast<C>(axis_.in))) return axis_.in;
    if (v < -1) return -1;
    const auto whole = static_cast<std::int64_t>(v);
    return static_cast<C>(whole) > v ? whole - 1 : whole;
  }
  ResizeAxis axis_;
  ResizeFilter filter_;
  bool align_corners_;
  C step_;
  C reach_;
};

}  // namespace davit::kernels
