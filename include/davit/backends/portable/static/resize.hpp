// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"

/// Image resizing by tables from lowering.
namespace davit::static_kernels {

/// Resizes planes by two elements per axis: output row i is between input rows taps[i] and taps[out_h + i], and
/// shares[i] is the weight of the second; columns follow the rows in the tables. O(elements of y). Source:
/// at::upsample_bilinear2d.
struct linear_resize {
  struct Params {
    std::int32_t planes = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
    std::int32_t by_difference = 0;  ///< nonzero: a + (b - a) * share along each axis whose size changes
  };
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x, const std::int32_t* taps,
                                                   const float* shares) noexcept {
    const Params& p = numbers_of(params);
    const std::int32_t* const columns = taps + 2 * p.out_h;
    for (Index plane = 0; plane < p.planes; ++plane, x += Index{p.in_h} * p.in_w)
      for (Index row = 0; row < p.out_h; ++row) {
        const float* const above = x + Index{taps[row]} * p.in_w;
        const float* const below = x + Index{taps[p.out_h + row]} * p.in_w;
        const float down = shares[row];
        for (Index column = 0; column < p.out_w; ++column) {
          const Index first = columns[column], second = columns[p.out_w + column];
          const float across = shares[p.out_h + column];
          if (p.by_difference == 0) {
            *y++ = (1 - down) * ((1 - across) * above[first] + across * above[second]) +
                   down * ((1 - across) * below[first] + across * below[second]);
            continue;
          }
          const auto mixed = [&](const float* line) {
            return p.in_w == p.out_w ? line[first] : line[first] + (line[second] - line[first]) * across;
          };
          const float upper = mixed(above);
          *y++ = p.in_h == p.out_h ? upper : upper + (mixed(below) - upper) * down;
        }
      }
  }
};

/// Resizes planes by the taps of each axis: for output row i taps[i * (rows + 1)] is their number, followed by their
/// input rows; their weights begin at weights[i * rows]; columns follow the rows in the tables. O(elements of y *
/// taps). Source: at::upsample_bicubic2d, at::_upsample_bicubic2d_aa.
struct tap_resize {
  struct Params {
    std::int32_t planes = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
    std::int32_t rows = 1, columns = 1;  ///< the maximal numbers of taps
  };
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x, const std::int32_t* taps,
                                                   const float* weights) noexcept {
    const Params& p = numbers_of(params);
    for (Index plane = 0; plane < p.planes; ++plane, x += Index{p.in_h} * p.in_w)
      for (Index row = 0; row < p.out_h; ++row) {
        const std::int32_t* const down = taps + row * (p.rows + 1);
        for (Index column = 0; column < p.out_w; ++column) {
          const std::int32_t* const across = taps + Index{p.out_h} * (p.rows + 1) + column * (p.columns + 1);
          float sum = 0;
          for (Index i = 0; i < down[0]; ++i) {
            const float* const line = x + Index{down[1 + i]} * p.in_w;
            float of_line = 0;
            for (Index k = 0; k < across[0]; ++k)
              of_line += weights[Index{p.out_h} * p.rows + column * p.columns + k] * line[across[1 + k]];
            sum += weights[row * p.rows + i] * of_line;
          }
          *y++ = sum;
        }
      }
  }
};

}  // namespace davit::static_kernels
