// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/convolution_map.hpp"
#include "davit/backends/portable/run_time/multiply.hpp"

namespace davit::portable_kernels {

namespace detail {

/// A tap of a filter: channel within the group, and kernel indices.
struct Tap {
  std::int64_t channel;
  Spatial k;

  Tap(const ConvolutionMap& m, std::int64_t index) noexcept {
    for (std::size_t d = 3; d-- > 0; index /= m.kernel[d]) k[d] = index % m.kernel[d];
    channel = index;
  }
  void next(const ConvolutionMap& m) noexcept {
    for (std::size_t d = 3; d-- > 0;) {
      if (++k[d] < m.kernel[d]) return;
      k[d] = 0;
    }
    ++channel;
  }
};

/// Places that follow one another in a row of the response: the first, and how many.
struct PlaceRun {
  std::int64_t image;  ///< index in the batch
  Spatial at;
  std::int64_t count;

  /// The run that starts at place `index` of all places of the batch, of at most `limit` places.
  PlaceRun(const ConvolutionMap& m, std::int64_t index, std::int64_t limit) noexcept {
    for (std::size_t d = 3; d-- > 0; index /= m.places[d]) at[d] = index % m.places[d];
    image = index;
    count = std::min(limit, m.places[2] - at[2]);
  }
  /// The image row that a tap meets: its first element's index within a channel, or -1 if it lies in the padding.
  [[nodiscard]] std::int64_t row(const ConvolutionMap& m, const Tap& tap) const noexcept {
    const std::int64_t z = at[0] * m.stride[0] + m.offset(0, tap.k[0]);
    const std::int64_t y = at[1] * m.stride[1] + m.offset(1, tap.k[1]);
    if (z < 0 || z >= m.image[0] || y < 0 || y >= m.image[1]) return -1;
    return (z * m.image[1] + y) * m.image[2];
  }
};

/// Copies what a tap meets at the places of a run: `row` is the image row, `x` the column at the first place.
template <class C>
void gather_row(const C* row, std::int64_t width, std::int64_t x, std::int64_t stride, std::int64_t count, C* to) {
  const Inside inside(count, stride, x, width);
  std::fill(to, to + inside.begin, C{});
  if (stride == 1) {
    if (inside.begin < inside.end) std::copy(row + x + inside.begin, row + x + inside.end, to + inside.begin);
  } else {
    for (std::int64_t i = inside.begin; i < inside.end; ++i) to[i] = row[x + i * stride];
  }
  std::fill(to + inside.end, to + count, C{});
}

/// out[i] += the sum over `count` taps of weight[k] * row[x + i * stride + k * spacing], where that lies in the row.
template <class C>
void add_filtered_row(const C* row, std::int64_t width, std::int64_t x, std::int64_t stride, std::int64_t spacing,
                      const C* weight, std::int64_t count, C* out, std::int64_t places) {
  // Places at which every tap lies inside.
  Inside all(places, stride, x, width);
  all.end = std::max(all.begin, Inside(places, stride, x + (count - 1) * spacing, width).end);
  if (stride != 1 || std::is_integral_v<C>) all.end = all.begin;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t at = x + k * spacing;
    const Inside inside(places, stride, at, width);
    const C factor = weight[k];
    for (std::int64_t i = inside.begin; i < std::min(inside.end, all.begin); ++i)
      out[i] += factor * row[at + i * stride];
    for (std::int64_t i = std::max(inside.begin, all.end); i < inside.end; ++i) out[i] += factor * row[at + i * stride];
  }
  std::int64_t i = all.begin;
  for (; i + 2 * lanes<C> <= all.end; i += 2 * lanes<C>) {
    Vector<C> a = load_vector(out + i);
    Vector<C> b = load_vector(out + i + lanes<C>);
    const C* from = row + x + i;
    for (std::int64_t k = 0; k < count; ++k, from += spacing) {
      a += load_vector(from) * weight[k];
      b += load_vector(from + lanes<C>) * weight[k];
    }
    store_vector<C>(out + i, a);
    store_vector<C>(out + i + lanes<C>, b);
  }
  for (; i + lanes<C> <= all.end; i += lanes<C>) {
    Vector<C> sum = load_vector(out + i);
    for (std::int64_t k = 0; k < count; ++k) sum += load_vector(row + x + i + k * spacing) * weight[k];
    store_vector<C>(out + i, sum);
  }
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t rest = i; rest < all.end; ++rest) out[rest] += weight[k] * row[x + rest + k * spacing];
}

/// A filter on one channel, row by row.
template <class C>
void convolve_plane(const ConvolutionMap& m, const C* image, const C* weight, C bias, C* out) {
  for (std::int64_t i = 0; i < m.places[0] * m.places[1]; ++i, out += m.places[2]) {
    std::fill(out, out + m.places[2], bias);
    const PlaceRun run(m, i * m.places[2], m.places[2]);
    Tap tap(m, 0);
    for (std::int64_t z = 0; z < m.kernel[0]; ++z) {
      for (std::int64_t y = 0; y < m.kernel[1]; ++y) {
        tap.k = {z, y, 0};
        const std::int64_t row = run.row(m, tap);
        if (row < 0) continue;
        add_filtered_row(image + row, m.image[2], m.offset(2, 0), m.stride[2], m.dilation[2],
                         weight + (z * m.kernel[1] + y) * m.kernel[2], m.kernel[2], out, m.places[2]);
      }
    }
  }
}

}  // namespace detail

/// Elements of work space that `convolve`, `convolve_adjoint` and `convolve_weights` take.
template <class C>
[[nodiscard]] std::int64_t convolution_work(const ConvolutionMap& m) noexcept {
  const std::int64_t places = volume(m.places);
  return std::max({gemm_work<C>(m.group_filters(), m.batch * places, m.taps()),
                   multiply_work<C>(m.taps(), places, m.group_filters()),
                   gemm_work<C>(m.group_filters(), m.taps(), places)});
}

/// out (batch, filters, places) = responses of the filters to the image, plus a bias per filter (may be nullptr).
/// O(batch * places * filters * taps).
template <class C>
void convolve(ConvolutionMap m, const C* image, const C* weight, const C* bias, C* work, C* out) {
  if (volume(m.kernel) == 1 && m.places == m.image && volume(m.stride) == 1)
    m.places = m.image = {1, 1, volume(m.image)};  // pointwise: all places are one row
  const std::int64_t places = volume(m.places);
  const std::int64_t pixels = volume(m.image);
  if (std::is_floating_point_v<C> && m.group_channels() == 1 && m.group_filters() <= 2) {
    for (std::int64_t i = 0; i < m.batch * m.filters; ++i) {
      const std::int64_t filter = i % m.filters;
      const std::int64_t plane = i / m.filters * m.channels + filter / m.group_filters();
      detail::convolve_plane(m, image + plane * pixels, weight + filter * m.taps(),
                             bias == nullptr ? C{} : bias[filter], out + i * places);
    }
    return;
  }
  for (std::int64_t g = 0; g < m.groups; ++g) {
    const std::int64_t first = g * m.group_filters();
    const C* channels = image + g * m.group_channels() * pixels;
    gemm<C>(
        m.group_filters(), m.batch * places, m.taps(), Matrix<C>{weight + first * m.taps(), m.taps(), 1}, work,
        [&](C* to, const PanelRange& r) {
          for (std::int64_t j = 0; j < r.count;) {
            const detail::PlaceRun run(m, r.j + j, r.count - j);
            const C* base = channels + run.image * m.channels * pixels;
            const std::int64_t x = run.at[2] * m.stride[2];
            detail::Tap tap(m, r.k);
            for (std::int64_t k = 0; k < r.depth; ++k, tap.next(m)) {
              C* at = to + k * r.width + j;
              const std::int64_t row = run.row(m, tap);
              if (row < 0) {
                std::fill(at, at + run.count, C{});
              } else {
                detail::gather_row(base + tap.channel * pixels + row, m.image[2], x + m.offset(2, tap.k[2]),
                                   m.stride[2], run.count, at);
              }
            }
            j += run.count;
          }
          for (std::int64_t k = 0; k < r.depth; ++k) std::fill(to + k * r.width + r.count, to + (k + 1) * r.width, C{});
          return Panel<C>{to, r.width};
        },
        [&](const Block<C>& block) {
          for (std::int64_t j = 0; j < block.columns;) {
            const std::int64_t n = (block.j + j) / places;
            const std::int64_t place = (block.j + j) % places;
            const std::int64_t count = std::min(block.columns - j, places - place);
            for (std::int64_t r = 0; r < block.rows; ++r) {
              const std::int64_t filter = first + block.i + r;
              const C* from = block.data + r * block.row + j;
              C* to = out + (n * m.filters + filter) * places + place;
              const C add = bias == nullptr ? C{} : bias[filter];
              for (std::int64_t c = 0; c < count; ++c) to[c] = from[c] + add;
            }
            j += count;
          }
        });
  }
}

/// image (batch, channels, image) = the adjoint of `convolve` applied to responses, plus a bias per channel (may be
/// nullptr): a transposed convolution, and the gradient of a convolution's input. O(batch * places * filters * taps).
template <class C>
void convolve_adjoint(const ConvolutionMap& m, const C* responses, const C* weight, const C* bias, C* work, C* image) {
  const std::int64_t places = volume(m.places);
  const std::int64_t pixels = volume(m.image);
  for (std::int64_t n = 0; n < m.batch * m.channels; ++n)
    std::fill_n(image + n * pixels, pixels, bias == nullptr ? C{} : bias[n % m.channels]);
  for (std::int64_t i = 0; i < m.batch * m.groups; ++i) {
    const std::int64_t n = i / m.groups;
    const std::int64_t g = i % m.groups;
    const Matrix<C> filters{weight + g * m.group_filters() * m.taps(), 1, m.taps()};
    const Matrix<C> from{responses + (n * m.filters + g * m.group_filters()) * places, places, 1};
    C* const channels = image + (n * m.channels + g * m.group_channels()) * pixels;
    multiply<C>(m.taps(), places, m.group_filters(), filters, from, work, [&](const Block<C>& block) {
      detail::Tap tap(m, block.i);
      for (std::int64_t r = 0; r < block.rows; ++r, tap.next(m)) {
        for (std::int64_t j = 0; j < block.columns;) {
          const detail::PlaceRun run(m, block.j + j, block.columns - j);
          const C* values = block.data + r * block.row + j * block.col;
          j += run.count;
          const std::int64_t row = run.row(m, tap);
          if (row < 0) continue;
          const std::int64_t x = run.at[2] * m.stride[2] + m.offset(2, tap.k[2]);
          C* to = channels + tap.channel * pixels + row;
          const Inside inside(run.count, m.stride[2], x, m.image[2]);
          for (std::int64_t c = inside.begin; c < inside.end; ++c) to[x + c * m.stride[2]] += values[c * block.col];
        }
      }
    });
  }
}

/// gradient (filters, channels / groups, kernel) = sum over the batch and all places of response times what each tap
/// meets there: the gradient of a convolution's weights. O(batch * places * filters * taps).
template <class C>
void convolve_weights(const ConvolutionMap& m, const C* image, const C* responses, C* work, C* gradient) {
  const std::int64_t places = volume(m.places);
  const std::int64_t pixels = volume(m.image);
  std::fill_n(gradient, m.filters * m.taps(), C{});
  for (std::int64_t i = 0; i < m.batch * m.groups; ++i) {
    const std::int64_t n = i / m.groups;
    const std::int64_t g = i % m.groups;
    const std::int64_t first = g * m.group_filters();
    const C* channels = image + (n * m.channels + g * m.group_channels()) * pixels;
    gemm<C>(
        m.group_filters(), m.taps(), places, Matrix<C>{responses + (n * m.filters + first) * places, places, 1}, work,
        [&](C* to, const PanelRange& r) {
          detail::Tap tap(m, r.j);
          for (std::int64_t j = 0; j < r.width; ++j, tap.next(m)) {
            for (std::int64_t k = 0; k < r.depth;) {
              const detail::PlaceRun run(m, r.k + k, r.depth - k);
              const std::int64_t row = j < r.count ? run.row(m, tap) : -1;
              const std::int64_t x = run.at[2] * m.stride[2] + m.offset(2, tap.k[2]);
              for (std::int64_t c = 0; c < run.count; ++c, ++k) {
                const std::int64_t at = x + c * m.stride[2];
                const bool meets = row >= 0 && at >= 0 && at < m.image[2];
                to[k * r.width + j] = meets ? channels[tap.channel * pixels + row + at] : C{};
              }
            }
          }
          return Panel<C>{to, r.width};
        },
        [&](const Block<C>& block) {
          for (std::int64_t r = 0; r < block.rows; ++r) {
            C* to = gradient + (first + block.i + r) * m.taps() + block.j;
            for (std::int64_t c = 0; c < block.columns; ++c) to[c] += block.data[r * block.row + c];
          }
        });
  }
}

}  // namespace davit::portable_kernels
