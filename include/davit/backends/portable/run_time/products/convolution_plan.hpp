// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/products/convolution_map.hpp"
#include "davit/backends/portable/run_time/products/gemm.hpp"
#include "davit/backends/portable/run_time/products/padded_image.hpp"
#include "davit/kernels/thread_team.hpp"

namespace davit::portable_kernels::detail {

/// Elements of padded channels that are copied at once, but at least `fewest_rows` rows; elements of depthwise channels
/// that are copied together; elements of a product in a buffer; elements behind the last that vectors may read and
/// write.
inline constexpr std::int64_t padded_elements = 1 << 17;
inline constexpr std::int64_t channels_elements = 1 << 12;
inline constexpr std::int64_t fewest_rows = 4;
inline constexpr std::int64_t aside_elements = 1 << 15;
inline constexpr std::int64_t beyond = 64;

/// The columns of a product of `rows` rows that are computed at once in a buffer.
template <class C>
[[nodiscard]] std::int64_t columns_aside(std::int64_t rows) noexcept {
  const std::int64_t width = tile_width<C>();
  return std::clamp(aside_elements / std::max<std::int64_t>(rows, 1) / width, std::int64_t{1}, panels_at_once) * width;
}

/// The method of a convolution: the image itself is the right operand if it needs no padding, or a padded copy of it;
/// else the elements under the taps are gathered for each panel of a product.
struct ConvolutionPlan {
  bool depthwise = false;     ///< one channel per group: no product
  bool padded = false;        ///< a padded copy
  bool as_is = false;         ///< the image itself
  std::int64_t rows = 0;      ///< rows of places computed at once
  std::int64_t together = 1;  ///< depthwise: channels copied at once
  std::int64_t chunk = 0;     ///< columns of a product in a buffer at once

  template <class C>
  [[nodiscard]] static ConvolutionPlan of(const ConvolutionMap& m) noexcept {
    ConvolutionPlan plan;
    plan.chunk = columns_aside<C>(m.group_filters());
    plan.rows = m.places[1];
    bool unpadded = true;
    for (std::size_t d = 0; d < 3; ++d)
      unpadded = unpadded && m.stride[d] == 1 && m.image[d] == m.places[d] + (m.kernel[d] - 1) * m.dilation[d] &&
                 m.padding[d] == 0;
    plan.depthwise = std::is_floating_point_v<C> && m.group_channels() == 1 && m.group_filters() <= 2;
    PaddedImage image(m, 0, m.places[1]);
    if (!image.pays(m)) return plan;
    if (!plan.depthwise && 2 * image.columns() > 3 * volume(m.places) + 64) return plan;
    if (!plan.depthwise && m.batch > 1 && volume(m.places) < 64) return plan;
    plan.padded = true;
    plan.as_is = unpadded && !plan.depthwise;
    if (plan.depthwise)
      plan.together = std::clamp<std::int64_t>(channels_elements / std::max<std::int64_t>(image.count(), 1), 1,
                                               m.batch * m.channels);
    if (plan.as_is || m.places[0] > 1) return plan;
    const std::int64_t row =
        (plan.depthwise ? 1 : m.group_channels()) * volume(image.phases) * image.sizes[0] * image.sizes[2];
    const std::int64_t more = image.sizes[1] - m.places[1];
    plan.rows = std::min(plan.rows, std::max(fewest_rows, padded_elements / std::max<std::int64_t>(row, 1) - more));
    return plan;
  }
  [[nodiscard]] std::int64_t channels(const ConvolutionMap& m) const noexcept {
    return depthwise ? together : m.group_channels();
  }
};

/// The chunks of a product's columns in buffers, and the buffer of each thread.
template <class C>
class ThreadColumns {
 public:
  ThreadColumns(const ConvolutionMap& m, const ConvolutionPlan& plan, C* work) noexcept
      : rows_(m.group_filters()), taps_(m.taps()), chunk_(plan.chunk), work_(work), threads_(kernels::team_size()) {}
  /// Elements of `work` that it needs.
  [[nodiscard]] static std::int64_t work_of(const ConvolutionMap& m, const ConvolutionPlan& plan) noexcept {
    return kernels::team_size() * m.group_filters() * plan.chunk + gemm_work<C>(m.group_filters());
  }
  [[nodiscard]] C* aside(std::size_t part) const noexcept {
    return work_ + static_cast<std::int64_t>(part) * rows_ * chunk_;
  }
  [[nodiscard]] C* panels(std::size_t part) const noexcept {
    return work_ + threads_ * rows_ * chunk_ + static_cast<std::int64_t>(part) * gemm_work_of_thread<C>(rows_);
  }
  /// Calls compute(part, first, columns) for every chunk of `chunk` columns.
  template <class F>
  void share(std::int64_t columns, F&& compute) const {
    kernels::in_parallel(columns, tile_width<C>(), kernels::operations(rows_, taps_, columns),
                         [&](std::size_t part, std::int64_t begin, std::int64_t end) {
                           for (std::int64_t j = begin; j < end; j += chunk_)
                             compute(part, j, std::min(chunk_, end - j));
                         });
  }

 private:
  std::int64_t rows_, taps_, chunk_;
  C* work_;
  std::int64_t threads_;
};

}  // namespace davit::portable_kernels::detail
