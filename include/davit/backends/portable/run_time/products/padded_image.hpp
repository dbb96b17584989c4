// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "davit/backends/portable/run_time/products/convolution_map.hpp"
#include "davit/kernels/instruction_set.hpp"

namespace davit::portable_kernels {

namespace detail {

/// to[r * to_row + i] = from[r * from_row + i * step].
struct CopyRows {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const C* from, std::int64_t from_row, std::int64_t step, C* to,
                                         std::int64_t to_row, std::int64_t rows, std::int64_t columns) {
    if (step == 1 && columns >= kernels::lanes<C, Bytes>) return copy<Bytes>(from, from_row, to, to_row, rows, columns);
    if constexpr (Bytes > 32)
      if (step == 1 && columns >= kernels::lanes<C, 32>) return copy<32>(from, from_row, to, to_row, rows, columns);
    if constexpr (Bytes > 16)
      if (step == 1 && columns >= kernels::lanes<C, 16>) return copy<16>(from, from_row, to, to_row, rows, columns);
    if constexpr (kernels::many_narrow_registers<Bytes>)
      if (step == 2 && columns > kernels::lanes<C, Bytes>)
        return take_seconds<Bytes>(from, from_row, to, to_row, rows, columns);
    for (std::int64_t r = 0; r < rows; ++r, from += from_row, to += to_row) {
      std::int64_t i = 0;
      if (step == 2)
        for (; i + kernels::lanes<C, Bytes> < columns; i += kernels::lanes<C, Bytes>)
          take_second<Bytes>(from + 2 * i, to + i);
      for (; i < columns; ++i) to[i] = from[i * step];
    }
  }

 private:
  /// The last vector of a row overlaps with the previous one.
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void copy(const C* from, std::int64_t from_row, C* to, std::int64_t to_row,
                                          std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t step = kernels::lanes<C, Bytes>;
    if constexpr (kernels::many_narrow_registers<Bytes>) {
      if (columns >= 2 * step) return copy_pairs<Bytes>(from, from_row, to, to_row, rows, columns);
      for (; rows > 0; --rows, from += from_row, to += to_row) {
        kernels::vector_at<Bytes>(to) = kernels::vector_at<Bytes>(from);
        kernels::vector_at<Bytes>(to + columns - step) = kernels::vector_at<Bytes>(from + columns - step);
      }
      return;
    }
    for (std::int64_t r = 0; r < rows; ++r, from += from_row, to += to_row) {
      std::int64_t i = 0;
      for (; i + step < columns; i += step) kernels::vector_at<Bytes>(to + i) = kernels::vector_at<Bytes>(from + i);
      kernels::vector_at<Bytes>(to + columns - step) = kernels::vector_at<Bytes>(from + columns - step);
    }
  }
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void copy_pair(const C* from, C* to) {
    constexpr std::int64_t step = kernels::lanes<C, Bytes>;
    const kernels::Vector<C, Bytes> first = kernels::vector_at<Bytes>(from),
                                    second = kernels::vector_at<Bytes>(from + step);
    kernels::vector_at<Bytes>(to) = first;
    kernels::vector_at<Bytes>(to + step) = second;
  }
  /// Rows of pairs of vectors, of which the last overlaps with the one before it. Short rows have no loop.
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void copy_pairs(const C* from, std::int64_t from_row, C* to, std::int64_t to_row,
                                                std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t pair = 2 * kernels::lanes<C, Bytes>;
    const std::int64_t last = columns - pair;
    const auto each_row = [&](auto&& leading) __attribute__((always_inline)) {
      for (; rows > 0; --rows, from += from_row, to += to_row) {
        leading();
        const C* source = from + last;
        C* target = to + last;
        asm("" : "+r"(source), "+r"(target));  // one address each: a load and a store of two vectors
        copy_pair<Bytes>(source, target);
      }
    };
    const auto some = [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      each_row([&]() __attribute__((always_inline)) {
        (copy_pair<Bytes>(from + static_cast<std::int64_t>(I) * pair, to + static_cast<std::int64_t>(I) * pair), ...);
      });
    };
    if (last <= 0) return some(std::make_index_sequence<0>{});
    if (last <= pair) return some(std::make_index_sequence<1>{});
    if (last <= 2 * pair) return some(std::make_index_sequence<2>{});
    if (last <= 3 * pair) return some(std::make_index_sequence<3>{});
    each_row([&]() __attribute__((always_inline)) {
      const C* source = from;
      C* target = to;
      for (const C* const end = from + last; source < end; source += pair, target += pair)
        copy_pair<Bytes>(source, target);
    });
  }
  /// Every second element. The last vector of a row overlaps with the previous one, and reads no element behind the
  /// row.
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void take_seconds(const C* from, std::int64_t from_row, C* to, std::int64_t to_row,
                                                  std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t step = kernels::lanes<C, Bytes>;
    for (std::int64_t r = 0; r < rows; ++r, from += from_row, to += to_row) {
      std::int64_t i = 0;
      for (; i + 2 * step < columns; i += 2 * step) {
        take_second<Bytes>(from + 2 * i, to + i);
        take_second<Bytes>(from + 2 * (i + step), to + i + step);
      }
      if (i + step < columns) take_second<Bytes>(from + 2 * i, to + i);
      take_second<Bytes, 1>(from + 2 * (columns - step) - 1, to + columns - step);
    }
  }
  /// Every second element of two vectors, from the first or the second on.
  template <std::size_t Bytes, std::size_t First = 0, class C>
  [[gnu::always_inline]] static void take_second(const C* from, C* to) {
    constexpr auto n = static_cast<std::size_t>(kernels::lanes<C, Bytes>);
    const kernels::Vector<C, Bytes> a = kernels::vector_at<Bytes>(from);
    const kernels::Vector<C, Bytes> b = kernels::vector_at<Bytes>(from + n);
    [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      kernels::vector_at<Bytes>(to) = __builtin_shufflevector(a, b, 2 * I + First...);
    }(std::make_index_sequence<n>{});
  }
};

}  // namespace detail

/// Some rows of places of a convolution, with the part of a channel that their taps read, padded with zeros so that
/// each tap reads at one distance: place (z, y, x) is column (z * sizes[1] + y) * sizes[2] + x, and a tap reads
/// `offset` elements behind it. With a stride, elements are grouped by their index modulo the stride: `phases` groups
/// of `sizes` elements.
struct PaddedImage {
  Spatial places{}, phases{}, sizes{};
  std::int64_t first_row = 0;

  PaddedImage(const ConvolutionMap& m, std::int64_t first, std::int64_t rows) noexcept
      : places(m.places), first_row(first) {
    places[1] = rows;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t reach = (m.kernel[d] - 1) * m.dilation[d];
      phases[d] = m.dilation[d] % m.stride[d] == 0 ? 1 : std::min(m.stride[d], reach + 1);
      sizes[d] = places[d] + reach / m.stride[d];
    }
  }
  /// Elements of a channel.
  [[nodiscard]] std::int64_t count() const noexcept { return volume(phases) * volume(sizes); }
  /// Columns from the first to the last place; unless `dense`, some are not places.
  [[nodiscard]] std::int64_t columns() const noexcept {
    return ((places[0] - 1) * sizes[1] + places[1] - 1) * sizes[2] + places[2];
  }
  [[nodiscard]] bool dense() const noexcept {
    return sizes[2] == places[2] && (sizes[1] == places[1] || places[0] == 1);
  }
  /// False if padding, or the gaps between places, outweigh the elements.
  [[nodiscard]] bool pays(const ConvolutionMap& m) const noexcept {
    for (std::size_t d = 0; d < 3; ++d)
      if (sizes[d] > 2 * places[d] + 16 || phases[d] > m.image[d]) return false;
    return true;
  }
  [[nodiscard]] std::int64_t offset(const ConvolutionMap& m, const Spatial& tap) const noexcept {
    std::int64_t phase = 0;
    std::int64_t at = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t index = tap[d] * m.dilation[d];
      phase = phase * phases[d] + index % m.stride[d];
      at = at * sizes[d] + index / m.stride[d];
    }
    return phase * volume(sizes) + at;
  }
  /// Copies `channels` of the image, stored one after another; the padding is not written.
  template <class C>
  void fill(const ConvolutionMap& m, const C* image, std::int64_t channels, C* to) const {
    Spatial phase{};
    for (phase[0] = 0; phase[0] < phases[0]; ++phase[0]) {
      for (phase[1] = 0; phase[1] < phases[1]; ++phase[1]) {
        for (phase[2] = 0; phase[2] < phases[2]; ++phase[2], to += volume(sizes)) {
          const auto inside = [&](std::size_t d, std::int64_t first) {
            return Inside(sizes[d], m.stride[d], first * m.stride[d] + phase[d] - m.padding[d], m.image[d]);
          };
          const Inside z = inside(0, 0), y = inside(1, first_row), x = inside(2, 0);
          if (y.begin == y.end || x.begin == x.end) continue;
          for (std::int64_t i = z.begin; i < z.end; ++i) {
            const std::int64_t plane = i * m.stride[0] + phase[0] - m.padding[0];
            const std::int64_t row = (first_row + y.begin) * m.stride[1] + phase[1] - m.padding[1];
            const std::int64_t column = x.begin * m.stride[2] + phase[2] - m.padding[2];
            const C* from = image + (plane * m.image[1] + row) * m.image[2] + column;
            C* into = to + (i * sizes[1] + y.begin) * sizes[2] + x.begin;
            for (std::int64_t c = 0; c < channels; ++c, from += volume(m.image), into += count())
              kernels::run_widest_for<C, detail::CopyRows>(from, m.stride[1] * m.image[2], m.stride[2], into, sizes[2],
                                                           y.end - y.begin, x.end - x.begin);
          }
        }
      }
    }
  }
  /// Copies the columns [first, first + count) from `from` to their places in a response.
  template <class C>
  void take_places(const ConvolutionMap& m, const C* from, std::int64_t first, std::int64_t count, C* response) const {
    if (count == columns() && places[0] == 1)  // all but the tail behind the last row
      return kernels::run_widest_for<C, detail::CopyRows>(
          from, sizes[2], std::int64_t{1}, response + first_row * m.places[2], m.places[2], places[1], places[2]);
    for (std::int64_t j = 0; j < count;) {
      const std::int64_t x = (first + j) % sizes[2];
      const std::int64_t row = (first + j) / sizes[2];
      const std::int64_t z = row / sizes[1];
      const std::int64_t y = row % sizes[1];
      // whole rows at once, up to the last row of this z
      const std::int64_t rows = x == 0 ? std::min((count - j) / sizes[2], places[1] - y) : 0;
      C* const to = response + (z * m.places[1] + first_row + y) * m.places[2] + x;
      if (rows > 0) {
        kernels::run_widest_for<C, detail::CopyRows>(from + j, sizes[2], std::int64_t{1}, to, m.places[2], rows,
                                                     places[2]);
        j += rows * sizes[2];
        continue;
      }
      const std::int64_t left = std::min(sizes[2] - x, count - j);
      if (y < places[1] && x < places[2]) std::copy_n(from + j, std::min(left, places[2] - x), to);
      j += left;
    }
  }
};

}  // namespace davit::portable_kernels
