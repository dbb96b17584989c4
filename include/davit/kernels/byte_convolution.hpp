// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/kernels/byte_blocks.hpp"
#include "davit/kernels/quantize.hpp"
#include "davit/kernels/thread_team.hpp"

/// Convolutions of bytes with exact integer sums, on CPUs that multiply pairs of 16-bit numbers (AVX2; faster with
/// AVX512_VNNI, which adds the products in the same instruction). Images are channels_last.
namespace davit::kernels {

/// The sizes of a convolution. A matrix product is a convolution of images of one pixel.
struct ByteConvolution {
  std::int64_t images = 1, height = 1, width = 1, channels = 1;  ///< of the source
  std::int64_t out_height = 1, out_width = 1, out_channels = 1;
  std::int64_t kernel_height = 1, kernel_width = 1, stride_height = 1, stride_width = 1, dilation_height = 1,
               dilation_width = 1;
  std::int64_t top = 0, left = 0;  ///< padding before; the padding behind follows from the result's sizes
  bool depthwise = false;          ///< one filter per channel; else each filter reads all channels

  /// The number of products per sum.
  [[nodiscard]] std::int64_t terms() const noexcept {
    return kernel_height * kernel_width * (depthwise ? 1 : channels);
  }
  [[nodiscard]] bool is_pointwise() const noexcept {
    return kernel_height == 1 && kernel_width == 1 && !depthwise && stride_height == 1 && stride_width == 1 &&
           top == 0 && left == 0 && out_height == height && out_width == width;
  }
};

/// False for sizes beyond any image: a thread's work space would exceed 64 MB, or overflow.
[[nodiscard]] inline bool is_countable(const ByteConvolution& c) noexcept {
  constexpr std::int64_t most = 1 << 24;
  for (const std::int64_t size :
       {c.images, c.height, c.width, c.channels, c.out_height, c.out_width, c.out_channels, c.kernel_height,
        c.kernel_width, c.stride_height, c.stride_width, c.dilation_height, c.dilation_width})
    if (size < 1 || size > most) return false;
  if (c.top < 0 || c.top > most || c.left < 0 || c.left > most || c.images * c.height > most * 8 / c.width)
    return false;
  const std::int64_t window = (c.kernel_height - 1) * c.dilation_height + 1,
                     line = (c.out_width - 1) * c.stride_width + (c.kernel_width - 1) * c.dilation_width + 1;
  return window <= most && line <= most && line * c.channels <= most && window * line * c.channels <= most;
}

/// True if no scaled sum of a channel's products can exceed 32 bits.
[[nodiscard]] inline bool sums_fit(const ByteConvolution& c, float scale, float bias, const ByteRange& range) noexcept {
  constexpr double most = 2147483000.0;
  const double sum = 255.0 * 128.0 * static_cast<double>(c.terms());
  const double inverse = static_cast<double>(range.inverse);
  return sum < most &&
         (sum * std::abs(static_cast<double>(scale)) + std::abs(static_cast<double>(bias))) * std::abs(inverse) < most;
}

namespace detail {

/// The traversal of a convolution's memory: the source of some lines of the result, padded, as 16-bit numbers around
/// zero.
struct BytePlan {
  ByteConvolution c;
  std::int64_t line = 0;  // elements of a line
  std::int64_t runs = 0;  // stretches of the source per pixel, and the elements of each
  std::int64_t run = 0;
  std::int64_t rows = 0;  // lines of the result in a stripe

  explicit BytePlan(const ByteConvolution& convolution) noexcept : c(convolution) {
    if (c.is_pointwise()) {  // every pixel is a line
      c.height = c.out_height = c.images * c.height * c.width;
      c.images = c.width = c.out_width = 1;
    }
    line = ((c.out_width - 1) * c.stride_width + (c.kernel_width - 1) * c.dilation_width + 1) * c.channels;
    const bool whole = c.dilation_width == 1 && !c.depthwise;  // a line of the window is contiguous
    runs = whole ? c.kernel_height : c.kernel_height * c.kernel_width;
    run = whole ? c.kernel_width * c.channels : c.channels;
    constexpr std::int64_t elements = 48 << 10;  // fits a second-level cache together with a block's weights
    rows = std::clamp<std::int64_t>((elements / line - window_lines()) / c.stride_height + 1, 1, c.out_height);
  }
  [[nodiscard]] std::int64_t window_lines() const noexcept { return (c.kernel_height - 1) * c.dilation_height + 1; }
  [[nodiscard]] std::int64_t pairs() const noexcept { return c.depthwise ? (runs + 1) / 2 : (run + 1) / 2; }
  /// The offset of a stretch from the first element of the pixel's window.
  [[nodiscard]] std::int64_t run_offset(std::int64_t r) const noexcept {
    if (runs == c.kernel_height) return r * c.dilation_height * line;
    return r / c.kernel_width * c.dilation_height * line + r % c.kernel_width * c.dilation_width * c.channels;
  }
  /// The weights of one block of channels.
  [[nodiscard]] std::int64_t block_weights(std::int64_t channels) const noexcept {
    return c.depthwise ? pairs() * 2 * byte_block : runs * pairs() * 2 * (channels > 8 ? 16 : 8);
  }
  /// Elements of a stripe, with slack: elements read behind the last are multiplied by zero.
  [[nodiscard]] std::int64_t stripe_elements() const noexcept {
    return (((rows - 1) * c.stride_height + window_lines()) * line + 3 * byte_block) / byte_block * byte_block;
  }
  [[nodiscard]] std::int64_t work_of_thread()
      const noexcept {  // in bytes: elements, offsets of pixels, offsets of stretches
    const std::int64_t bytes = stripe_elements() * 2 + (rows * c.out_width + runs + 1) * 8;
    return (bytes + 63) / 64 * 64;
  }
};

}  // namespace detail

/// The length of the lists of a ByteResult; elements behind the channels' are ignored.
[[nodiscard]] inline std::int64_t padded_channels(const ByteConvolution& c) noexcept {
  return (c.out_channels + 15) / 16 * 16;
}

/// Elements of the result of `pack_bytes`.
[[nodiscard]] inline std::int64_t packed_bytes_size(const ByteConvolution& c) noexcept {
  const detail::BytePlan plan(c);
  const std::int64_t blocks = c.out_channels / detail::byte_block, rest = c.out_channels % detail::byte_block;
  return blocks * plan.block_weights(detail::byte_block) + (rest == 0 ? 0 : plan.block_weights(rest));
}
/// Reorders weights (out_channels, channels or 1, kernel_height, kernel_width) for `convolve_bytes`. O(size).
inline void pack_bytes(const ByteConvolution& c, const std::int8_t* weights, std::int16_t* to) noexcept {
  const detail::BytePlan plan(c);
  const std::int64_t window = c.kernel_height * c.kernel_width, depth = c.depthwise ? 1 : c.channels;
  const auto weight = [&](std::int64_t o, std::int64_t channel, std::int64_t tap) {
    return o < c.out_channels ? static_cast<std::int16_t>(weights[(o * depth + channel) * window + tap])
                              : std::int16_t{0};
  };
  for (std::int64_t b = 0; b < c.out_channels; b += detail::byte_block) {
    if (c.depthwise) {
      constexpr std::int64_t order[16] = {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15};
      for (std::int64_t tap = 0; tap < window; tap += 2)
        for (const std::int64_t o : order)
          for (std::int64_t t = tap; t < tap + 2; ++t) *to++ = t < window ? weight(b + o, 0, t) : std::int16_t{0};
      continue;
    }
    const std::int64_t channels = c.out_channels - b > 8 ? 16 : 8;
    for (std::int64_t r = 0; r < plan.runs; ++r, to += plan.pairs() * 2 * channels) {
      std::int64_t channel = 0, tap = plan.runs == c.kernel_height ? r * c.kernel_width : r;
      for (std::int64_t e = 0; e < 2 * plan.pairs(); ++e) {
        for (std::int64_t o = 0; o < channels; ++o)
          to[e / 2 * 2 * channels + 2 * o + e % 2] = e < plan.run ? weight(b + o, channel, tap) : std::int16_t{0};
        if (++channel == c.channels) channel = 0, ++tap;
      }
    }
  }
}

/// Bytes of work space of `convolve_bytes`, for all threads of the team.
[[nodiscard]] inline std::int64_t convolve_bytes_work(const ByteConvolution& c) noexcept {
  return detail::BytePlan(c).work_of_thread() * team_size();
}

#if DAVIT_BYTE_CONVOLUTION

namespace detail {

/// Converts bytes to numbers around zero, in steps of their scale.
template <class From>
[[gnu::target("avx2,fma")]] inline void widen_bytes(const From* from, std::int64_t n, std::int16_t zero_point,
                                                    std::int16_t* to) noexcept {
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    Vector<From, 16> bytes;
    std::memcpy(&bytes, from + i, sizeof bytes);
    vector_at<32>(to + i) = __builtin_convertvector(bytes, BytePairs) - zero_point;
  }
  for (; i < n; ++i) to[i] = static_cast<std::int16_t>(from[i] - zero_point);
}

/// Converts the source of `rows` lines of the result from `y` on.
template <class From>
void widen_stripe(const BytePlan& plan, const From* image, std::int64_t y, std::int64_t rows, std::int16_t zero_point,
                  std::int16_t* to) noexcept {
  const ByteConvolution& c = plan.c;
  const std::int64_t first = y * c.stride_height - c.top, lines = (rows - 1) * c.stride_height + plan.window_lines();
  const std::int64_t own = c.width * c.channels, before = c.left * c.channels;
  if (own == plan.line && before == 0 && first >= 0 && first + lines <= c.height)
    return widen_bytes(image + first * own, lines * own, zero_point, to);
  const std::int64_t count = std::clamp<std::int64_t>(plan.line - before, 0, own), zeros = std::min(before, plan.line);
  for (std::int64_t l = first; l < first + lines; ++l, to += plan.line) {
    if (l < 0 || l >= c.height) {
      std::fill_n(to, plan.line, std::int16_t{0});
      continue;
    }
    std::fill_n(to, zeros, std::int16_t{0});
    widen_bytes(image + l * own, count, zero_point, to + zeros);
    std::fill(to + zeros + count, to + plan.line, std::int16_t{0});
  }
}

/// Computes the bytes of pixels from `first` on, for some whole blocks of channels, as many at a time as registers
/// allow.
template <int Blocks>
[[gnu::target("avx2,fma")]] inline void multiply_all_wide(const ByteBlock (&blocks)[Blocks],
                                                          std::int64_t count) noexcept {
  std::int64_t p = multiply_bytes_wide<8>(blocks, 0, count);
  p = multiply_bytes_wide<3>(blocks, p, count);
  multiply_bytes_wide<1>(blocks, p, count);
}

/// Computes some lines of the result from converted elements.
[[gnu::target("avx2,fma")]] inline void convolve_stripe(const BytePlan& plan, const std::int16_t* source,
                                                        const std::int64_t* pixels, std::int64_t count,
                                                        const std::int64_t* run_offsets, const std::int16_t* weights,
                                                        const ByteResult& result, std::uint8_t* to) noexcept {
  const auto block_at = [&](std::int64_t b) __attribute__((target("avx2,fma"))) {
    ByteBlock block{plan.runs, plan.pairs(), source, pixels, run_offsets, weights, {}, to + b};
    block.store.channels = std::min(byte_block, plan.c.out_channels - b);
    block.store.all_channels = plan.c.out_channels;
    read_store(result, b, plan.c.depthwise, block.store);
    weights += plan.block_weights(block.store.channels);
    return block;
  };
  const bool wide = !plan.c.depthwise && has_wide_byte_products();
  for (std::int64_t b = 0; b < plan.c.out_channels; b += byte_block) {
    ByteBlock block = block_at(b);
    std::int64_t p = 0;
    if (plan.c.depthwise) {
      block.source += b;
      p = multiply_bytes_depthwise<4>(block, p, count);
      multiply_bytes_depthwise<1>(block, p, count);
    } else if (wide && block.store.channels > 8) {
      if (plan.c.out_channels - b <= byte_block + 8) {
        multiply_all_wide<1>({block}, count);
      } else {
        b += byte_block;
        multiply_all_wide<2>({block, block_at(b)}, count);
      }
    } else if (block.store.channels > 8) {
      p = multiply_bytes<6, 2>(block, p, count);
      p = multiply_bytes<3, 2>(block, p, count);
      multiply_bytes<1, 2>(block, p, count);
    } else {
      p = multiply_bytes<6, 1>(block, p, count);
      p = multiply_bytes<3, 1>(block, p, count);
      multiply_bytes<1, 1>(block, p, count);
    }
  }
}

}  // namespace detail

/// Convolves images of bytes with packed weights; `zero_point` is the byte of zero. Sums are exact, for any number of
/// threads, if `sums_fit`. `work` is aligned to 64 bytes; `to` receives bytes of either dtype.
template <class From>
void convolve_bytes(const ByteConvolution& c, const From* source, std::int32_t zero_point, const std::int16_t* weights,
                    const ByteResult& result, std::byte* work, std::uint8_t* to) noexcept {
  const detail::BytePlan plan(c);
  const std::int64_t work_size = plan.work_of_thread();
  const double all = operations(plan.c.images, plan.c.out_height, plan.c.out_width, plan.c.out_channels, c.terms()) /
                     (c.depthwise ? 1 : 4);
  in_parallel(plan.c.images * plan.c.out_height, 1, all, [&](std::size_t part, std::int64_t first, std::int64_t end) {
    std::byte* const own = work + static_cast<std::int64_t>(part) * work_size;
    auto* const numbers = reinterpret_cast<std::int16_t*>(own);
    auto* const pixels = reinterpret_cast<std::int64_t*>(numbers + plan.stripe_elements());
    std::int64_t* const run_offsets = pixels + plan.rows * plan.c.out_width;
    for (std::int64_t i = 0; i < plan.rows * plan.c.out_width; ++i)
      pixels[i] = i / plan.c.out_width * plan.c.stride_height * plan.line +
                  i % plan.c.out_width * plan.c.stride_width * plan.c.channels;
    for (std::int64_t r = 0; r < plan.runs + 1; ++r) run_offsets[r] = plan.run_offset(std::min(r, plan.runs - 1));
    std::fill_n(numbers + plan.stripe_elements() - 2 * detail::byte_block, 2 * detail::byte_block, std::int16_t{0});
    while (first < end) {
      const std::int64_t image = first / plan.c.out_height, y = first % plan.c.out_height,
                         rows = std::min({plan.rows, plan.c.out_height - y, end - first});
      detail::widen_stripe(plan, source + image * plan.c.height * plan.c.width * plan.c.channels, y, rows,
                           static_cast<std::int16_t>(zero_point), numbers);
      detail::convolve_stripe(plan, numbers, pixels, rows * plan.c.out_width, run_offsets, weights, result,
                              to + first * plan.c.out_width * plan.c.out_channels);
      first += rows;
    }
  });
}

#endif

}  // namespace davit::kernels
