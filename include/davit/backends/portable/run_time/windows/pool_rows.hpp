// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "davit/backends/portable/run_time/products/convolution_plan.hpp"
#include "davit/backends/portable/run_time/windows/pool_window.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vectors.hpp"

/// Windows that slide over rows of floats: one window per vector lane.
namespace davit::portable_kernels::detail {

/// out[i] = the largest of image[offsets[k] + i], for n elements rounded up to a vector; a NaN wins.
struct LargestOfTaps {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const std::int64_t* offsets, std::int64_t taps, const C* image, C* out,
                                         std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += kernels::lanes<C, Bytes>) {
      kernels::Vector<C, Bytes> largest = kernels::vector_at<Bytes>(image + offsets[0] + i);
      for (std::int64_t k = 1; k < taps; ++k) {
        const kernels::Vector<C, Bytes> v = kernels::vector_at<Bytes>(image + offsets[k] + i),
                                        larger = v > largest ? v : largest;
        kernels::take_nan<kernels::Vector<C, Bytes>>(v, larger, largest);
      }
      kernels::vector_at<Bytes>(out + i) = largest;
    }
  }
};

/// rows[i] = the larger of rows[i] and more[i], n of them; a NaN wins.
struct LargerOfRows {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const C* more, C* rows, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + kernels::lanes<C, Bytes> <= n; i += kernels::lanes<C, Bytes>) {
      const kernels::Vector<C, Bytes> v = kernels::vector_at<Bytes>(more + i),
                                      other = kernels::vector_at<Bytes>(rows + i);
      kernels::Vector<C, Bytes> largest = v > other ? v : other;
      kernels::take_nan<kernels::Vector<C, Bytes>>(v, largest, largest);
      kernels::vector_at<Bytes>(rows + i) = largest;
    }
    if constexpr (Bytes > 16) return run<Bytes / 2>(more + i, rows + i, n - i);
    for (; i < n; ++i)
      if (more[i] > rows[i] || more[i] != more[i]) rows[i] = more[i];
  }
};

/// sums[i] += image[offsets[k] + i], tap by tap, for n elements rounded up to a vector.
struct AddTaps {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const std::int64_t* offsets, std::int64_t taps, const C* image, C* sums,
                                         std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += kernels::lanes<C, Bytes>) {
      kernels::Vector<C, Bytes> sum = kernels::vector_at<Bytes>(sums + i);
      for (std::int64_t k = 0; k < taps; ++k) sum += kernels::vector_at<Bytes>(image + offsets[k] + i);
      kernels::vector_at<Bytes>(sums + i) = sum;
    }
  }
};
/// sums[i] /= counts[i] * more, for n elements rounded up to a vector.
struct DivideByCounts {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const C* counts, C more, C* sums, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += kernels::lanes<C, Bytes>)
      kernels::vector_at<Bytes>(sums + i) =
          kernels::vector_at<Bytes>(sums + i) / (kernels::vector_at<Bytes>(counts + i) * more);
  }
};

/// The index in the plane of tap k at position i: first + k * dilation + i * stride.
template <class Place>
struct PlacesOfTaps {
  Place first, stride, dilation;
};
/// If image[offsets[k] + i] is larger than largest[i], or NaN, replaces it and its index, tap by tap, for n elements
/// rounded up to a vector.
struct LargestWithPlaces {
  template <std::size_t Bytes, class C, class Place>
  [[gnu::always_inline]] static void run(const std::int64_t* offsets, std::int64_t taps, const C* image,
                                         const PlacesOfTaps<Place>* of, C* largest, Place* places, std::int64_t n) {
    using V = kernels::Vector<C, Bytes>;
    using Places = kernels::Vector<Place, Bytes>;
    constexpr std::int64_t width = kernels::lanes<C, Bytes>;
    Places steps{};
    for (std::int64_t j = 0; j < width; ++j) steps[j] = static_cast<Place>(j) * of->stride;
    for (std::int64_t i = 0; i < n; i += width) {
      V best = kernels::vector_at<Bytes>(largest + i);
      Places at = kernels::vector_at<Bytes>(places + i);
      Places own = steps + (of->first + static_cast<Place>(i) * of->stride);
      for (std::int64_t k = 0; k < taps; ++k, own += of->dilation) {
        const V v = kernels::vector_at<Bytes>(image + offsets[k] + i);
        auto larger = v > best, odd = v != v;
        kernels::keep_bits(larger);
        kernels::keep_bits(odd);
        larger |= odd;
        kernels::take_where(larger, own, at, at);
        kernels::take_where(larger, v, best, best);
      }
      kernels::vector_at<Bytes>(largest + i) = best;
      kernels::vector_at<Bytes>(places + i) = at;
    }
  }
};

/// Splits a row of n elements into those of even and those of odd index.
struct SplitPairs {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const C* from, std::int64_t n, C* even, C* odd) {
    constexpr auto width = static_cast<std::size_t>(kernels::lanes<C, Bytes>);
    std::int64_t x = 0;
    const auto split = [&]<std::size_t... L>(std::index_sequence<L...>) __attribute__((always_inline)) {
      for (; x + 2 * static_cast<std::int64_t>(width) <= n; x += 2 * static_cast<std::int64_t>(width)) {
        const kernels::Vector<C, Bytes> a = kernels::vector_at<Bytes>(from + x),
                                        b = kernels::vector_at<Bytes>(from + x + width);
        kernels::vector_at<Bytes>(even + x / 2) = __builtin_shufflevector(a, b, (2 * L)...);
        kernels::vector_at<Bytes>(odd + x / 2) = __builtin_shufflevector(a, b, (2 * L + 1)...);
      }
    };
    split(std::make_index_sequence<width>());
    for (; x < n; ++x) (x % 2 == 0 ? even : odd)[x / 2] = from[x];
  }
};

/// Calls f(depth, height) for each row of windows, in order, with the ranges in the first two dimensions.
template <class F>
void for_each_row_of_windows(const PoolWindow& w, F&& f) {
  for (std::int64_t z = 0; z < w.out[0]; ++z)
    for (std::int64_t y = 0; y < w.out[1]; ++y) f(sliding_span(w, 0, z), sliding_span(w, 1, y));
}
/// Calls f(index of its first element) for each row of a plane that these windows read, in order.
template <class F>
void for_each_covered_row(const PoolWindow& w, const PoolSpan& depth, const PoolSpan& height, F&& f) {
  for (std::int64_t i = depth.begin; i < depth.end; i += w.dilation[0])
    for (std::int64_t j = height.begin; j < height.end; j += w.dilation[1]) f((i * w.in[1] + j) * w.in[2]);
}

/// A padded row of the input, split by index modulo stride: the elements that one tap reads are adjacent.
struct PoolRow {
  std::int64_t width, padding, stride, phase_size;

  explicit PoolRow(const PoolWindow& w) noexcept
      : width(w.in[2]),
        padding(w.padding[2]),
        stride(w.stride[2]),
        phase_size((std::max(w.padding[2] + w.in[2], (w.out[2] - 1) * stride + (w.kernel[2] - 1) * w.dilation[2] + 1) +
                    stride - 1) /
                   stride) {}
  /// False if a file declares windows far larger than the input: such rows are not made.
  [[nodiscard]] static bool pays(const PoolWindow& w) noexcept {
    const std::int64_t most = 2 * w.in[2] + 64;
    return w.kernel[2] <= most && w.padding[2] <= most && w.stride[2] <= most &&
           w.kernel[2] - 1 <= most / w.dilation[2];
  }
  /// With room for vectors at the last positions.
  [[nodiscard]] std::int64_t count() const noexcept { return stride * phase_size + beyond; }
  [[nodiscard]] std::int64_t offset(std::int64_t index) const noexcept {
    return index % stride * phase_size + index / stride;
  }
  /// Writes a row of the input in that order; the padding stays.
  template <class C>
  void split(const C* from, C* apart) const {
    if (stride == 2) {
      kernels::run_widest_for<C, SplitPairs>(from, width, apart + offset(padding), apart + offset(padding + 1));
      return;
    }
    for (std::int64_t first = 0; first < std::min(stride, width); ++first) {
      C* to = apart + offset(first + padding);
      for (std::int64_t x = first; x < width; x += stride) *to++ = from[x];
    }
  }
};

}  // namespace davit::portable_kernels::detail
