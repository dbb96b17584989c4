// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "davit/backends/portable/run_time/products/convolution_map.hpp"
#include "davit/backends/portable/run_time/products/convolution_plan.hpp"
#include "davit/backends/portable/run_time/products/multiply.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/thread_team.hpp"

namespace davit::portable_kernels::detail {

/// Adds the responses of taps at a run of places, rows of `columns` elements, to the pixels that they see, of channels [first, end)
/// of a group. With a stride of two, the taps of two neighbouring pixels are taken together.
struct SpreadRun {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const ConvolutionMap* m, const PlaceRun* places, const C* responses, std::int64_t columns,
                                         std::int64_t first, std::int64_t end, C* image) {
    const std::int64_t stride = m->stride[2];
    for (std::int64_t k = 0; k < m->kernel[2];) {
      const bool two = stride == 2 && m->dilation[2] == 1 && k + 1 < m->kernel[2];
      const std::int64_t x = places->at[2] * stride + m->offset(2, k);
      const Inside here(places->count, stride, x, m->image[2]);
      const Inside beside = two ? Inside(places->count, stride, x + 1, m->image[2]) : here;
      const C* from = responses + (first * volume(m->kernel) + k) * columns;
      Tap tap(*m, first * volume(m->kernel));
      for (; tap.channel < end; from += m->kernel[2] * columns) {
        const std::int64_t row = places->row(*m, tap);
        C* const to = image + tap.channel * volume(m->image) + row + x;
        tap.k[2] = m->kernel[2] - 1;
        tap.next(*m);
        if (row < 0) continue;
        if (two) {
          if (beside.begin < here.begin) to[2 * beside.begin + 1] += from[columns + beside.begin];
          add_two<Bytes>(from + here.begin, from + columns + here.begin, to + 2 * here.begin, beside.end - here.begin);
          if (beside.end < here.end) to[2 * beside.end] += from[beside.end];
        } else if (stride == 1) {
          add<Bytes>(from + here.begin, to + here.begin, here.end - here.begin);
        } else {
          for (std::int64_t i = here.begin; i < here.end; ++i) to[i * stride] += from[i];
        }
      }
      k += two ? 2 : 1;
    }
  }

 private:
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void add(const C* from, C* to, std::int64_t count) {
    constexpr std::int64_t step = lanes<C, Bytes>;
    for (; count >= step; count -= step, from += step, to += step) kernels::vector_at<Bytes>(to) += kernels::vector_at<Bytes>(from);
    if constexpr (Bytes > 16) return add<Bytes / 2>(from, to, count);
    for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
  }
  /// Adds to pairs of pixels.
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void add_two(const C* evens, const C* odds, C* to, std::int64_t count) {
    constexpr auto n = static_cast<std::size_t>(lanes<C, Bytes>);
    constexpr std::int64_t step = lanes<C, Bytes>;
    for (; count >= step; count -= step, evens += step, odds += step, to += 2 * step) {
      const Vector<C, Bytes> a = kernels::vector_at<Bytes>(evens);
      const Vector<C, Bytes> b = kernels::vector_at<Bytes>(odds);
      [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
        kernels::vector_at<Bytes>(to) += __builtin_shufflevector(a, b, (I / 2 + I % 2 * n)...);
        kernels::vector_at<Bytes>(to + n) += __builtin_shufflevector(a, b, ((n + I) / 2 + I % 2 * n)...);
      }(std::make_index_sequence<n>{});
    }
    if constexpr (Bytes > 16) return add_two<Bytes / 2>(evens, odds, to, count);
    for (std::int64_t i = 0; i < count; ++i) {
      to[2 * i] += evens[i];
      to[2 * i + 1] += odds[i];
    }
  }
};

/// Images whose responses are computed together: several if one has few places.
template <class C>
[[nodiscard]] std::int64_t images_together(const ConvolutionMap& m) noexcept {
  return std::clamp<std::int64_t>(columns_aside<C>(m.taps()) / std::max<std::int64_t>(volume(m.places), 1), 1, std::max<std::int64_t>(m.batch, 1));
}

/// Elements of work space that `spread_responses` takes.
template <class C>
[[nodiscard]] std::int64_t spread_work(const ConvolutionMap& m) noexcept {
  const std::int64_t chunk = columns_aside<C>(m.taps());
  return m.taps() * chunk + (images_together<C>(m) > 1 ? m.group_filters() * chunk : 0) + multiply_work<C>(m.taps(), chunk);
}

/// Adds the responses of one group of filters to the pixels that they see.
template <class C>
void spread_responses(const ConvolutionMap& m, std::int64_t g, const C* responses, const C* weight, C* work, C* image) {
  const std::int64_t places = volume(m.places);
  const std::int64_t chunk = columns_aside<C>(m.taps());
  const std::int64_t images = images_together<C>(m);
  const Matrix<C> filters{weight + g * m.group_filters() * m.taps(), 1, m.taps()};
  responses += g * m.group_filters() * places;
  image += g * m.group_channels() * volume(m.image);
  C* const gathered = work + m.taps() * chunk;
  C* const own = gathered + (images > 1 ? m.group_filters() * chunk : 0);
  for (std::int64_t n = 0; n < m.batch; n += images) {
    const std::int64_t count = std::min(images, m.batch - n);
    const C* const from = responses + n * m.filters * places;
    for (std::int64_t j = 0; j < count * places; j += chunk) {
      const std::int64_t columns = std::min(chunk, count * places - j);
      Matrix<C> right{from + j, places, 1};
      if (count > 1) {
        for (std::int64_t f = 0; f < m.group_filters(); ++f)
          for (std::int64_t i = 0; i < count; ++i) std::copy_n(from + (i * m.filters + f) * places, places, gathered + f * columns + i * places);
        right = {gathered, columns, 1};
      }
      multiply<C>(m.taps(), columns, m.group_filters(), filters, right, own, work, columns);
      kernels::in_parallel(m.group_channels(), 1, kernels::operations(m.taps(), columns, 8), [&](std::size_t, std::int64_t first, std::int64_t end) {
        for (std::int64_t at = 0; at < columns;) {
          const PlaceRun run(m, n * places + j + at, columns - at);
          kernels::run_widest_for<C, SpreadRun>(&m, &run, static_cast<const C*>(work + at), columns, first, end,
                                                image + run.image * m.channels * volume(m.image));
          at += run.count;
        }
      });
    }
  }
}

}  // namespace davit::portable_kernels::detail
