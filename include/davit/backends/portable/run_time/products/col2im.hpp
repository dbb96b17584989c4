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

/// Adds filter responses at `rows` rows of positions, or a part of one, to the pixels that the taps of channels [first,
/// end) read there: tap t adds responses + t * step, times factors[t] if given. With a stride of two, the taps of two
/// neighbouring pixels are added together.
struct SpreadRows {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const ConvolutionMap* m, const PlaceRun* places, std::int64_t rows,
                                         const C* responses, std::int64_t step, const C* factors, std::int64_t first,
                                         std::int64_t end, C* image) {
    const std::int64_t stride = m->stride[2], window = volume(m->kernel), pixels = volume(m->image);
    Tap tap(*m, 0);
    for (std::int64_t k = 0; k < window;) {
      const bool two = stride == 2 && m->dilation[2] == 1 && tap.k[2] + 1 < m->kernel[2];
      const std::int64_t z = places->at[0] * m->stride[0] + m->offset(0, tap.k[0]);
      const std::int64_t y = places->at[1] * m->stride[1] + m->offset(1, tap.k[1]);
      const std::int64_t x = places->at[2] * stride + m->offset(2, tap.k[2]);
      const Inside seen = z < 0 || z >= m->image[0] ? Inside(0, 1, 0, 0) : Inside(rows, m->stride[1], y, m->image[1]);
      const Inside here(places->count, stride, x, m->image[2]);
      const Inside beside = two ? Inside(places->count, stride, x + 1, m->image[2]) : here;
      for (std::int64_t c = first; c < end; ++c) {
        const std::int64_t t = c * window + k;
        const C factor = factors == nullptr ? C{1} : factors[t];
        const C second = factors == nullptr || !two ? C{1} : factors[t + 1];
        const C* from = responses + t * step + seen.begin * m->places[2];
        C* to = image + c * pixels + (z * m->image[1] + y + seen.begin * m->stride[1]) * m->image[2] + x;
        for (std::int64_t r = seen.begin; r < seen.end; ++r, from += m->places[2], to += m->stride[1] * m->image[2]) {
          if (two) {
            if (beside.begin < here.begin) to[2 * beside.begin + 1] += from[step + beside.begin] * second;
            add_two<Bytes>(from + here.begin, factor, from + step + here.begin, second, to + 2 * here.begin,
                           beside.end - here.begin);
            if (beside.end < here.end) to[2 * beside.end] += from[beside.end] * factor;
          } else if (stride == 1) {
            add<Bytes>(from + here.begin, factor, to + here.begin, here.end - here.begin);
          } else {
            for (std::int64_t i = here.begin; i < here.end; ++i) to[i * stride] += from[i] * factor;
          }
        }
      }
      for (const std::int64_t next = k + (two ? 2 : 1); k < next; ++k) tap.next(*m);
    }
  }

 private:
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void add(const C* from, C factor, C* to, std::int64_t count) {
    constexpr std::int64_t n = lanes<C, Bytes>;
    for (; count >= n; count -= n, from += n, to += n)
      kernels::vector_at<Bytes>(to) += kernels::vector_at<Bytes>(from) * factor;
    if constexpr (Bytes > 16) return add<Bytes / 2>(from, factor, to, count);
    for (std::int64_t i = 0; i < count; ++i) to[i] += from[i] * factor;
  }
  /// Adds pairs of pixels.
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void add_two(const C* evens, C factor, const C* odds, C second, C* to,
                                             std::int64_t count) {
    constexpr auto n = static_cast<std::size_t>(lanes<C, Bytes>);
    constexpr std::int64_t step = lanes<C, Bytes>;
    for (; count >= step; count -= step, evens += step, odds += step, to += 2 * step) {
      const Vector<C, Bytes> a = kernels::vector_at<Bytes>(evens) * factor;
      const Vector<C, Bytes> b = kernels::vector_at<Bytes>(odds) * second;
      [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
        kernels::vector_at<Bytes>(to) += __builtin_shufflevector(a, b, (I / 2 + I % 2 * n)...);
        kernels::vector_at<Bytes>(to + n) += __builtin_shufflevector(a, b, ((n + I) / 2 + (n + I) % 2 * n)...);
      }(std::make_index_sequence<n>{});
    }
    if constexpr (Bytes > 16) return add_two<Bytes / 2>(evens, factor, odds, second, to, count);
    for (std::int64_t i = 0; i < count; ++i) {
      to[2 * i] += evens[i] * factor;
      to[2 * i + 1] += odds[i] * second;
    }
  }
};

/// Groups of up to so many filters multiply responses while adding them, without a matrix product.
inline constexpr std::int64_t few_filters = 2;

/// Images whose responses are computed together: several if each has few positions.
template <class C>
[[nodiscard]] std::int64_t images_together(const ConvolutionMap& m) noexcept {
  return std::clamp<std::int64_t>(columns_aside<C>(m.taps()) / std::max<std::int64_t>(volume(m.places), 1), 1,
                                  std::max<std::int64_t>(m.batch, 1));
}

/// Elements of work space of `col2im`.
template <class C>
[[nodiscard]] std::int64_t col2im_work(const ConvolutionMap& m) noexcept {
  const std::int64_t chunk = columns_aside<C>(m.taps());
  return m.taps() * chunk + (images_together<C>(m) > 1 ? m.group_filters() * chunk : 0) +
         multiply_work<C>(m.taps(), chunk);
}

/// Adds the responses of one group of filters to the pixels that they see.
template <class C>
void col2im(const ConvolutionMap& m, std::int64_t g, const C* responses, const C* weight, C* work, C* image) {
  const std::int64_t places = volume(m.places);
  responses += g * m.group_filters() * places;
  image += g * m.group_channels() * volume(m.image);
  const auto spread = [&](std::int64_t first_place, std::int64_t count, const C* from, std::int64_t step,
                          const C* factors) {
    kernels::in_parallel(
        m.group_channels(), 1, kernels::operations(m.taps(), count, 8),
        [&](std::size_t, std::int64_t first, std::int64_t end) {
          for (std::int64_t at = 0; at < count;) {
            const PlaceRun run(m, first_place + at, count - at);
            const std::int64_t rows =
                run.count < m.places[2] ? 1 : std::min((count - at) / m.places[2], m.places[1] - run.at[1]);
            kernels::run_widest_for<C, SpreadRows>(&m, &run, rows, from + at, step, factors, first, end,
                                                   image + run.image * m.channels * volume(m.image));
            at += rows * run.count;
          }
        });
  };
  if (m.group_filters() <= few_filters) {
    for (std::int64_t n = 0; n < m.batch; ++n)
      for (std::int64_t f = 0; f < m.group_filters(); ++f)
        spread(n * places, places, responses + (n * m.filters + f) * places, 0,
               weight + (g * m.group_filters() + f) * m.taps());
    return;
  }
  const std::int64_t chunk = columns_aside<C>(m.taps());
  const std::int64_t images = images_together<C>(m);
  const Matrix<C> filters{weight + g * m.group_filters() * m.taps(), 1, m.taps()};
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
          for (std::int64_t i = 0; i < count; ++i)
            std::copy_n(from + (i * m.filters + f) * places, places, gathered + f * columns + i * places);
        right = {gathered, columns, 1};
      }
      multiply<C>(m.taps(), columns, m.group_filters(), filters, right, own, work, columns);
      spread(n * places + j, columns, work, columns, nullptr);
    }
  }
}

}  // namespace davit::portable_kernels::detail
