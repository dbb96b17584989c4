// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/portable/static/move.hpp"
#include "davit/backends/portable/static/packs.hpp"
#include "davit/kernels/resize_axis.hpp"
#include "davit/program/operators/resize.hpp"

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

/// Static lowering of image resizing.
namespace davit::static_lowering {

/// Reads the axes along which images are resized.
constexpr const char* read_axes(const EmbedNode& n, operators::ResizeView& v,
                                std::array<kernels::ResizeAxis, 3>& axes) {
  if (const operators::Refusal wrong = operators::read_resize(n, v)) return wrong.what;
  if (const char* why = not_movable(n, v.input)) return why;
  if (n.g.rank(n.output()) != v.dims + 2) return "its result has other dimensions than it resizes";
  for (std::size_t d = 0; d < v.dims; ++d) axes[d] = {n.size(v.input, d + 2), n.size(n.output(), d + 2), v.factor[d]};
  return nullptr;
}
constexpr const char* lower_upsample_nearest(const EmbedNode& n, StepWriter& steps) {
  operators::ResizeView v;
  std::array<kernels::ResizeAxis, 3> axes{};
  if (const char* why = read_axes(n, v, axes)) return why;
  const bool exact = v.function == operators::ResizeFunction::nearest_exact;
  return write_table_copy(n, steps, v.input, [&](std::size_t d, std::int64_t i) {
    return d < 2 ? i : exact ? axes[d - 2].nearest_exact<float>(i) : axes[d - 2].nearest<float>(i);
  });
}
constexpr const char* lower_upsample_bilinear(const EmbedNode& n, StepWriter& steps) {
  operators::ResizeView v;
  std::array<kernels::ResizeAxis, 3> axes{};
  if (const char* why = read_axes(n, v, axes)) return why;
  if (const char* why = not_float(n, v.input)) return why;
  std::vector<std::int32_t> taps;
  std::vector<float> shares;
  for (const kernels::ResizeAxis& axis : std::span(axes).first(2)) {
    std::vector<std::int32_t> seconds;
    for (std::int64_t i = 0; i < axis.out; ++i) {
      const kernels::LinearTap<float> tap(axis, axis.step<float>(v.aligned), i, v.aligned);
      taps.push_back(int32(tap.first));
      seconds.push_back(int32(tap.second));
      shares.push_back(tap.of_second);
    }
    taps.insert(taps.end(), seconds.begin(), seconds.end());
  }
  const sf::linear_resize::Params p{int32(n.g.size(v.input, 0) * n.g.size(v.input, 1)),
                                    int32(axes[0].in),
                                    int32(axes[1].in),
                                    int32(axes[0].out),
                                    int32(axes[1].out),
                                    v.function == operators::ResizeFunction::linear_by_difference ? 1 : 0};
  steps.step<sf::linear_resize>(p).out(n.output()).in(v.input).table<std::int32_t>(taps).table<float>(shares);
  return nullptr;
}
constexpr const char* lower_upsample_by_taps(const EmbedNode& n, StepWriter& steps) {
  operators::ResizeView v;
  std::array<kernels::ResizeAxis, 3> axes{};
  if (const char* why = read_axes(n, v, axes)) return why;
  if (const char* why = not_float(n, v.input)) return why;
  const kernels::ResizeFilter filter{v.function != operators::ResizeFunction::smooth_linear,
                                     v.function != operators::ResizeFunction::cubic};
  sf::tap_resize::Params p{int32(n.g.size(v.input, 0) * n.g.size(v.input, 1)), int32(axes[0].in), int32(axes[1].in),
                           int32(axes[0].out), int32(axes[1].out)};
  std::vector<std::int32_t> table;
  std::vector<float> weights;
  for (const kernels::ResizeAxis& axis : std::span(axes).first(2)) {
    const kernels::ResizeTaps<float> taps(axis, filter, v.aligned);
    const std::int64_t most = taps.most(axis.in + 4);
    (&axis == axes.data() ? p.rows : p.columns) = int32(most);
    std::vector<std::int64_t> elements(static_cast<std::size_t>(most), 0);
    std::vector<float> own(static_cast<std::size_t>(most), 0.0f);
    for (std::int64_t i = 0; i < axis.out; ++i) {
      table.push_back(int32(taps.write(i, most, elements.data(), own.data())));
      for (const std::int64_t e : elements) table.push_back(int32(e));
      weights.insert(weights.end(), own.begin(), own.end());
    }
  }
  steps.step<sf::tap_resize>(p).out(n.output()).in(v.input).table<std::int32_t>(table).table<float>(weights);
  return nullptr;
}

using resize_kernels = kernel_list<sf::linear_resize, sf::tap_resize>;

inline constexpr std::array resize_rows{
    EmbedRow{"aten.upsample_nearest2d.vec", lower_upsample_nearest},
    EmbedRow{"aten.upsample_bilinear2d.lerp", lower_upsample_bilinear},
    EmbedRow{"aten.upsample_bilinear2d.vec", lower_upsample_bilinear},
    EmbedRow{"aten.upsample_bicubic2d.default", lower_upsample_by_taps},
    EmbedRow{"aten.upsample_bicubic2d.vec", lower_upsample_by_taps},
    EmbedRow{"aten._upsample_bilinear2d_aa.default", lower_upsample_by_taps},
    EmbedRow{"aten._upsample_bilinear2d_aa.vec", lower_upsample_by_taps},
    EmbedRow{"aten._upsample_bicubic2d_aa.default", lower_upsample_by_taps},
    EmbedRow{"aten._upsample_bicubic2d_aa.vec", lower_upsample_by_taps},
    EmbedRow{"aten._upsample_nearest_exact1d.default", lower_upsample_nearest},
    EmbedRow{"aten._upsample_nearest_exact1d.vec", lower_upsample_nearest},
    EmbedRow{"aten._upsample_nearest_exact2d.default", lower_upsample_nearest},
    EmbedRow{"aten._upsample_nearest_exact2d.vec", lower_upsample_nearest},
    EmbedRow{"aten._upsample_nearest_exact3d.default", lower_upsample_nearest},
    EmbedRow{"aten._upsample_nearest_exact3d.vec", lower_upsample_nearest},
};

}  // namespace davit::static_lowering
