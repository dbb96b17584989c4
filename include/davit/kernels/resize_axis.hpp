// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace davit::kernels {

/// One of the axes an image is resized along.
struct ResizeAxis {
  std::int64_t in = 0, out = 0;
  double factor = 0;  ///< the scale factor that was given, or 0

  /// Input elements per output element. Source: area_pixel_compute_scale of ATen's UpSample.h.
  template <class R>
  [[nodiscard]] constexpr R step(bool align_corners) const noexcept {
    if (align_corners) return out > 1 ? static_cast<R>(in - 1) / static_cast<R>(out - 1) : R{};
    return factor > 0 ? static_cast<R>(1.0 / factor) : static_cast<R>(in) / static_cast<R>(out);
  }
  /// The input element nearest to output element `at`; whole factors of 1 and 2 prevail over the factor that was given.
  /// Source: nearest_idx of ATen's UpSample.h.
  template <class R>
  [[nodiscard]] constexpr std::int64_t nearest(std::int64_t at) const noexcept {
    if (out == in) return at;
    if (out == 2 * in) return at / 2;
    const R place = static_cast<R>(at) * step<R>(false);
    return place < static_cast<R>(in) ? std::min(static_cast<std::int64_t>(place), in - 1) : in - 1;
  }
};

/// The two input elements an output element lies between, and their weights.
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

}  // namespace davit::kernels
