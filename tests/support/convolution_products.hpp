// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/run_time/products/convolution_map.hpp"

namespace support {

/// Calls f(image index, response index, weight index) for each product that a convolution sums up.
template <class F>
void each_product(const davit::portable_kernels::ConvolutionMap& m, F&& f) {
  using namespace davit;
  using operators::volume;
  for (std::int64_t k = 0; k < m.taps(); ++k) {
    const portable_kernels::detail::Tap tap(m, k);
    for (std::int64_t n = 0; n < m.batch; ++n)
      for (std::int64_t place = 0; place < volume(m.places); ++place) {
        const portable_kernels::detail::PlaceRun at(m, place, 1);
        const std::int64_t row = at.row(m, tap);
        const std::int64_t x = at.at[2] * m.stride[2] + m.offset(2, tap.k[2]);
        if (row < 0 || x < 0 || x >= m.image[2]) continue;
        for (std::int64_t filter = 0; filter < m.filters; ++filter) {
          const std::int64_t channel = filter / m.group_filters() * m.group_channels() + tap.channel;
          f((n * m.channels + channel) * volume(m.image) + row + x, (n * m.filters + filter) * volume(m.places) + place,
            filter * m.taps() + k);
        }
      }
  }
}

}  // namespace support
