// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace davit::portable_kernels {

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

}  // namespace davit::portable_kernels
