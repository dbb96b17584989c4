// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/products/convolution_map.hpp"
#include "davit/backends/portable/run_time/products/convolution_plan.hpp"
#include "davit/backends/portable/run_time/products/multiply.hpp"
#include "davit/backends/portable/run_time/products/padded_image.hpp"
#include "davit/backends/portable/run_time/products/col2im.hpp"
#include "davit/kernels/thread_team.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Copies the elements that a tap reads at the places of a run: `row` is the image row, `x` the column at the first
/// place.
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

/// out[i] = bias + sum over taps of weight[k] * image[offsets[k] + i], for n elements and fewer than `beyond` more.
/// Returns to how many of them the epilogue, of one row, is applied.
struct SumOfTaps {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static std::int64_t run(const C* weight, const std::int64_t* offsets, std::int64_t taps,
                                                 const C* image, C bias, const RowEpilogue* epilogue, C* out,
                                                 std::int64_t n) {
    std::int64_t i = 0, finished = 0;
    if constexpr (kernels::many_narrow_registers<Bytes>)
      if (taps == 9) {
        const bool finishes = std::is_same_v<C, float> && !epilogue->is_none() && epilogue->clamps_vectors();
        i = !finishes ? nine_taps<Bytes, Finish::no>(weight, offsets, image, bias, *epilogue, out, n)
            : epilogue->factors == nullptr
                ? nine_taps<Bytes, Finish::clamp>(weight, offsets, image, bias, *epilogue, out, n)
                : nine_taps<Bytes, Finish::scale>(weight, offsets, image, bias, *epilogue, out, n);
        if (finishes) finished = std::min(i, n);
      }
    constexpr std::int64_t least =
        (kernels::many_narrow_registers<Bytes> ? 2 : 4) * lanes<C, Bytes>;  // a block has four vectors
    for (; i + least <= n; i += 4 * lanes<C, Bytes>) block<Bytes, 4>(weight, offsets, taps, image + i, bias, out + i);
    for (; i < n; i += lanes<C, Bytes>) block<Bytes, 1>(weight, offsets, taps, image + i, bias, out + i);
    return finished;
  }

 private:
  enum class Finish { no, clamp, scale };
  /// The same for windows of 3 x 3, whose weights and places stay in registers; returns the first element left over.
  template <std::size_t Bytes, Finish How, class C>
  [[gnu::always_inline]] static std::int64_t nine_taps(const C* weight, const std::int64_t* offsets, const C* image,
                                                       C bias, const RowEpilogue& e, C* out, std::int64_t n) {
    constexpr std::size_t taps = 9, vectors = 6;
    constexpr auto step = static_cast<std::size_t>(lanes<C, Bytes>);
    C factors[taps];
    const C* from[taps];
    unroll<taps>([&]<std::size_t K>() __attribute__((always_inline)) {
      factors[K] = weight[K];
      from[K] = image + offsets[K];
    });
    const float factor = How == Finish::scale ? e.factors[0] : 1, shift = How == Finish::scale ? e.shifts[0] : 0;
    const Vector<float, Bytes> low = e.low - Vector<float, Bytes>{}, high = e.high - Vector<float, Bytes>{};
    std::int64_t i = 0;
    for (constexpr auto block = static_cast<std::int64_t>(vectors * step); i + block / 2 < n; i += block) {
      Vector<C, Bytes> sums[vectors];
      unroll<vectors>([&]<std::size_t N>() __attribute__((always_inline)) { sums[N] = Vector<C, Bytes>{} + bias; });
      unroll<taps>([&]<std::size_t K>() __attribute__((always_inline)) {
        unroll<vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
          sums[N] += kernels::vector_at<Bytes>(from[K] + N * step) * factors[K];
        });
        from[K] += block;
        asm("" : "+r"(from[K]));
      });
      if constexpr (How != Finish::no && std::is_same_v<C, float>)
        finish_vectors<How == Finish::scale>(factor, shift, low, high, sums);
      unroll<vectors>([&]<std::size_t N>()
                          __attribute__((always_inline)) { kernels::vector_at<Bytes>(out + i + N * step) = sums[N]; });
    }
    return i;
  }
  template <std::size_t Bytes, std::size_t Vectors, class C>
  [[gnu::always_inline]] static void block(const C* weight, const std::int64_t* offsets, std::int64_t taps,
                                           const C* image, C bias, C* out) {
    constexpr auto step = static_cast<std::size_t>(lanes<C, Bytes>);
    Vector<C, Bytes> sums[Vectors];
    unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) { sums[N] = Vector<C, Bytes>{} + bias; });
    for (std::int64_t k = 0; k < taps; ++k) {
      const C* const from = image + offsets[k];
      const C factor = weight[k];
      unroll<Vectors>([&]<std::size_t N>() __attribute__((always_inline)) {
        sums[N] += kernels::vector_at<Bytes>(from + N * step) * factor;
      });
    }
    unroll<Vectors>([&]<std::size_t N>()
                        __attribute__((always_inline)) { kernels::vector_at<Bytes>(out + N * step) = sums[N]; });
  }
};

/// The same convolution, with all places in one row if it is pointwise.
[[nodiscard]] inline ConvolutionMap in_one_row(ConvolutionMap m) noexcept {
  if (volume(m.kernel) == 1 && m.places == m.image && volume(m.stride) == 1)
    m.places = m.image = {1, 1, volume(m.image)};
  return m;
}

/// The offset of each tap of a filter in padded channels.
inline void tap_offsets(const ConvolutionMap& m, const PaddedImage& image, std::int64_t taps, std::int64_t* offsets) {
  Tap tap(m, 0);
  for (std::int64_t k = 0; k < taps; ++k, tap.next(m))
    offsets[k] = tap.channel * image.count() + image.offset(m, tap.k);
}

/// The distribution of groups over threads.
[[nodiscard]] inline kernels::EntrySharing sharing_of_groups(const ConvolutionMap& m) noexcept {
  return {m.groups, kernels::operations(m.batch, m.group_filters(), m.taps(), volume(m.places))};
}

/// Elements of work space of a thread that computes group by group; 0 if groups are not shared out.
template <class C>
[[nodiscard]] std::int64_t work_of_group(const ConvolutionMap& m) noexcept;

}  // namespace detail

/// Elements of work space of `convolve`, `convolve_adjoint` and `convolve_weights`.
template <class C>
[[nodiscard]] std::int64_t convolution_work(ConvolutionMap m) noexcept {
  m = detail::in_one_row(m);
  const auto plan = detail::ConvolutionPlan::of<C>(m);
  const PaddedImage image(m, 0, plan.rows);
  const std::int64_t padded = plan.padded && !plan.as_is ? plan.channels(m) * image.count() + detail::beyond : 0;
  const std::int64_t forward = plan.depthwise && plan.padded
                                   ? kernels::team_size() * (padded + image.columns() + detail::beyond)
                                   : padded + detail::ThreadColumns<C>::work_of(m, plan);
  const std::int64_t offsets = m.taps() * static_cast<std::int64_t>(sizeof(std::int64_t) / sizeof(C));
  const std::int64_t work = std::max(offsets + forward, detail::col2im_work<C>(m));
  return std::max(work, detail::sharing_of_groups(m).spaces() * detail::work_of_group<C>(m));
}

namespace detail {

template <class C>
std::int64_t work_of_group(const ConvolutionMap& m) noexcept {
  if (sharing_of_groups(m).spaces() == 1) return 0;
  const kernels::TeamScope alone(nullptr);
  return (convolution_work<C>(m) + 15) / 16 * 16;  // whole vectors
}

/// A convolution with one channel per group.
template <class C>
void convolve_channels(const ConvolutionMap& m, const ConvolutionPlan& plan, const C* image, const C* weight,
                       const C* bias, const RowEpilogue& epilogue, std::int64_t* offsets, C* work, C* out) {
  for (std::int64_t first = 0; first < m.places[1]; first += plan.rows) {
    const PaddedImage padded(m, first, std::min(plan.rows, m.places[1] - first));
    tap_offsets(m, padded, m.taps(), offsets);
    const std::int64_t copy = plan.channels(m) * padded.count() + beyond;
    const double operations = kernels::operations(m.batch, m.channels, m.group_filters(), m.taps(), padded.columns());
    kernels::in_parallel(
        m.batch * m.channels, plan.together, operations, [&](std::size_t part, std::int64_t begin, std::int64_t end) {
          C* const copied = work + static_cast<std::int64_t>(part) * (copy + padded.columns() + beyond);
          C* const aside = copied + copy;
          std::fill_n(copied, copy, C{});
          for (std::int64_t i = begin; i < end; i += plan.together) {
            const std::int64_t channels = std::min(plan.together, end - i);
            padded.fill(m, image + i * volume(m.image), channels, copied);
            for (std::int64_t f = 0; f < channels * m.group_filters(); ++f) {
              const std::int64_t response = i * m.group_filters() + f;
              const std::int64_t filter = response % m.filters;
              const RowEpilogue own = epilogue.from(filter);
              const std::int64_t finished = kernels::run_widest_for<C, SumOfTaps>(
                  weight + filter * m.taps(), static_cast<const std::int64_t*>(offsets), m.taps(),
                  static_cast<const C*>(copied + f / m.group_filters() * padded.count()),
                  bias == nullptr ? C{} : bias[filter], &own, aside, padded.columns());
              if constexpr (std::is_same_v<C, float>)
                if (!own.is_none())
                  kernels::run_widest<FinishRows>(&own, std::int64_t{1}, padded.columns() - finished, aside + finished,
                                                  padded.columns());
              padded.take_places(m, static_cast<const C*>(aside), 0, padded.columns(),
                                 out + response * volume(m.places));
            }
          }
        });
  }
}

/// A product whose right operand is the (padded) image: from `channels` of a group to its first filter's response.
template <class C>
void convolve_padded(const ConvolutionMap& m, const ConvolutionPlan& plan, const C* channels, const C* weight,
                     const C* bias, const RowEpilogue& epilogue, std::int64_t* offsets, C* work, C* out) {
  const std::int64_t places = volume(m.places);
  for (std::int64_t first = 0; first < m.places[1]; first += plan.rows) {
    const PaddedImage padded(m, first, std::min(plan.rows, m.places[1] - first));
    tap_offsets(m, padded, m.taps(), offsets);
    const C* from = channels;
    if (!plan.as_is) {
      kernels::in_parallel(m.group_channels(), 1, kernels::operations(m.group_channels(), padded.count(), 8),
                           [&](std::size_t, std::int64_t begin, std::int64_t end) {
                             C* const to = work + begin * padded.count();
                             std::fill_n(to, (end - begin) * padded.count(), C{});
                             padded.fill(m, channels + begin * volume(m.image), end - begin, to);
                           });
      std::fill_n(work + m.group_channels() * padded.count(), beyond, C{});
      from = work;
    }
    const ThreadColumns<C> own(m, plan, plan.as_is ? work : work + m.group_channels() * padded.count() + beyond);
    const Matrix<C> filters{weight, m.taps(), 1};
    const auto source_at = [&](std::int64_t j) {
      return [&, j](C*, const PanelRange& r) { return Panel<C>{from + j + r.j, offsets + r.k}; };
    };
    if (padded.dense()) {
      gemm<C>(m.group_filters(), padded.columns(), m.taps(), filters, own.panels(0), source_at(0),
              out + first * m.places[2], places, bias, epilogue);
      continue;
    }
    own.share(padded.columns(), [&](std::size_t part, std::int64_t j, std::int64_t count) {
      // columns behind the last place of a copy may be read and computed, too
      const std::int64_t full =
          plan.as_is ? count : (count + tile_width<C>() / 2 - 1) / (tile_width<C>() / 2) * (tile_width<C>() / 2);
      C* const aside = own.aside(part);
      gemm<C>(m.group_filters(), full, m.taps(), filters, own.panels(part), source_at(j), aside, full, bias, epilogue);
      for (std::int64_t f = 0; f < m.group_filters(); ++f)
        padded.take_places(m, static_cast<const C*>(aside + f * full), j, count, out + f * places);
    });
  }
}

/// A product whose right operand is gathered from the image; its columns are the places of the whole batch.
template <class C>
void convolve_gathered(const ConvolutionMap& m, const ConvolutionPlan& plan, const C* channels, const C* weight,
                       const C* bias, const RowEpilogue& epilogue, C* work, C* out) {
  const std::int64_t places = volume(m.places);
  const ThreadColumns<C> own(m, plan, work);
  own.share(m.batch * places, [&](std::size_t part, std::int64_t j, std::int64_t columns) {
    C* const aside = own.aside(part);
    gemm<C>(
        m.group_filters(), columns, m.taps(), Matrix<C>{weight, m.taps(), 1}, own.panels(part),
        [&](C* to, const PanelRange& r) {
          for (std::int64_t at = 0; at < r.count;) {
            const PlaceRun run(m, j + r.j + at, r.count - at);
            const C* base = channels + run.image * m.channels * volume(m.image);
            const std::int64_t x = run.at[2] * m.stride[2];
            Tap tap(m, r.k);
            for (std::int64_t k = 0; k < r.depth; ++k, tap.next(m)) {
              C* const row_to = to + k * r.width + at;
              const std::int64_t row = run.row(m, tap);
              if (row < 0) {
                std::fill(row_to, row_to + run.count, C{});
              } else {
                gather_row(base + tap.channel * volume(m.image) + row, m.image[2], x + m.offset(2, tap.k[2]),
                           m.stride[2], run.count, row_to);
              }
            }
            at += run.count;
          }
          return Panel<C>{to, r.packed_rows};
        },
        aside, columns, bias, epilogue);
    for (std::int64_t at = 0; at < columns;) {
      const std::int64_t place = (j + at) % places;
      const std::int64_t count = std::min(columns - at, places - place);
      for (std::int64_t f = 0; f < m.group_filters(); ++f)
        std::copy_n(aside + f * columns + at, count, out + ((j + at) / places * m.filters + f) * places + place);
      at += count;
    }
  });
}

}  // namespace detail

/// out (batch, filters, places) = responses of the filters to the image, plus a bias per filter (may be nullptr), then
/// each filter's `epilogue` (for floats alone). O(batch * places * filters * taps).
template <class C>
void convolve(ConvolutionMap m, const C* image, const C* weight, const C* bias, C* work, C* out,
              const RowEpilogue& epilogue = {}) {
  m = detail::in_one_row(m);
  const auto plan = detail::ConvolutionPlan::of<C>(m);
  const std::int64_t table = m.taps() * static_cast<std::int64_t>(sizeof(std::int64_t) / sizeof(C)),
                     work_of_group = detail::work_of_group<C>(m);
  if (plan.depthwise && plan.padded)
    return detail::convolve_channels(m, plan, image, weight, bias, epilogue, reinterpret_cast<std::int64_t*>(work),
                                     work + table, out);
  detail::sharing_of_groups(m).run([&](std::int64_t space, std::int64_t g) {
    auto* const offsets = reinterpret_cast<std::int64_t*>(work + space * work_of_group);
    C* const own = work + space * work_of_group + table;
    const std::int64_t first = g * m.group_filters();
    const C* const channels = image + g * m.group_channels() * volume(m.image);
    const C* const filters = weight + first * m.taps();
    const C* const added = bias == nullptr ? nullptr : bias + first;
    C* const responses = out + first * volume(m.places);
    const RowEpilogue follows = epilogue.from(first);
    if (!plan.padded) return detail::convolve_gathered(m, plan, channels, filters, added, follows, own, responses);
    for (std::int64_t n = 0; n < m.batch; ++n)
      detail::convolve_padded(m, plan, channels + n * m.channels * volume(m.image), filters, added, follows, offsets,
                              own, responses + n * m.filters * volume(m.places));
  });
}

/// image (batch, channels, image) = the adjoint of `convolve` applied to responses, plus a bias per channel (may be
/// nullptr): a transposed convolution, and the gradient of a convolution's input. O(batch * places * filters * taps).
template <class C>
void convolve_adjoint(const ConvolutionMap& m, const C* responses, const C* weight, const C* bias, C* work, C* image) {
  const std::int64_t pixels = volume(m.image);
  for (std::int64_t n = 0; n < m.batch * m.channels; ++n)
    std::fill_n(image + n * pixels, pixels, bias == nullptr ? C{} : bias[n % m.channels]);
  const std::int64_t work_of_group = detail::work_of_group<C>(m);
  detail::sharing_of_groups(m).run([&](std::int64_t space, std::int64_t g) {
    C* const own = work + space * work_of_group;
    detail::col2im(m, g, responses, weight, own, image);
  });
}

/// gradient (filters, channels / groups, kernel) = sum over the batch and all places of response times the element
/// under each tap: the gradient of a convolution's weights. O(batch * places * filters * taps).
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
    const std::int64_t chunk = detail::columns_aside<C>(m.group_filters());
    for (std::int64_t j = 0; j < m.taps(); j += chunk) {
      const std::int64_t columns = std::min(chunk, m.taps() - j);
      gemm<C>(
          m.group_filters(), columns, places, Matrix<C>{responses + (n * m.filters + first) * places, places, 1},
          work + m.group_filters() * chunk,
          [&](C* to, const PanelRange& r) {
            detail::Tap tap(m, j + r.j);
            for (std::int64_t c = 0; c < r.count; ++c, tap.next(m)) {
              for (std::int64_t k = 0; k < r.depth;) {
                const detail::PlaceRun run(m, r.k + k, r.depth - k);
                const std::int64_t row = run.row(m, tap);
                const std::int64_t x = run.at[2] * m.stride[2] + m.offset(2, tap.k[2]);
                for (std::int64_t place = 0; place < run.count; ++place, ++k) {
                  const std::int64_t at = x + place * m.stride[2];
                  const bool meets = row >= 0 && at >= 0 && at < m.image[2];
                  to[k * r.width + c] = meets ? channels[tap.channel * pixels + row + at] : C{};
                }
              }
            }
            return Panel<C>{to, r.packed_rows};
          },
          work, columns);
      for (std::int64_t r = 0; r < m.group_filters(); ++r)
        for (std::int64_t c = 0; c < columns; ++c) gradient[(first + r) * m.taps() + j + c] += work[r * columns + c];
    }
  }
}

}  // namespace davit::portable_kernels
