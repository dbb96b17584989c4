// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "davit/kernels/quantize.hpp"
#include "davit/kernels/thread_team.hpp"

/// Convolutions of bytes in integers, exact to the last sum, where the CPU multiplies pairs of 16 bits (AVX2) but has no instructions
/// for products of bytes (VNNI). Images lie with their channels innermost.
#if defined(__x86_64__) && __STDC_HOSTED__
#define DAVIT_BYTE_CONVOLUTION 1
#else
#define DAVIT_BYTE_CONVOLUTION 0
#endif

namespace davit::kernels {

/// The sizes of a convolution. A product with a matrix is one of images of one pixel.
struct ByteConvolution {
  std::int64_t images = 1, height = 1, width = 1, channels = 1;  ///< of the source
  std::int64_t out_height = 1, out_width = 1, out_channels = 1;
  std::int64_t kernel_height = 1, kernel_width = 1, stride_height = 1, stride_width = 1, dilation_height = 1, dilation_width = 1;
  std::int64_t top = 0, left = 0;  ///< padding before; behind, whatever the sizes of the result need
  bool depthwise = false;          ///< each channel by itself; else all of them make each

  /// Products that are added up.
  [[nodiscard]] std::int64_t terms() const noexcept { return kernel_height * kernel_width * (depthwise ? 1 : channels); }
  [[nodiscard]] bool is_pointwise() const noexcept {
    return kernel_height == 1 && kernel_width == 1 && !depthwise && stride_height == 1 && stride_width == 1 && top == 0 && left == 0 && out_height == height && out_width == width;
  }
};

/// False for sizes that no image has: the work of a thread would take more than 64 MB, or cannot be counted.
[[nodiscard]] inline bool is_countable(const ByteConvolution& c) noexcept {
  constexpr std::int64_t most = 1 << 24;
  for (const std::int64_t size : {c.images, c.height, c.width, c.channels, c.out_height, c.out_width, c.out_channels, c.kernel_height, c.kernel_width, c.stride_height,
                                  c.stride_width, c.dilation_height, c.dilation_width})
    if (size < 1 || size > most) return false;
  if (c.top < 0 || c.top > most || c.left < 0 || c.left > most || c.images * c.height > most * 8 / c.width) return false;
  const std::int64_t window = (c.kernel_height - 1) * c.dilation_height + 1, line = (c.out_width - 1) * c.stride_width + (c.kernel_width - 1) * c.dilation_width + 1;
  return window <= most && line <= most && line * c.channels <= most && window * line * c.channels <= most;
}

/// What the sums become: the byte quantized(sum * scale + bias), with a scale and a bias for each channel, in one product by scale *
/// inverse. The lists are as long as `padded_channels` says. No sum may become a number beyond 32 bits (`sums_fit`).
struct ByteResult {
  const float* scales = nullptr;
  const float* biases = nullptr;
  ByteRange range{};
};

/// True if no sum of a channel's products becomes a number beyond 32 bits.
[[nodiscard]] inline bool sums_fit(const ByteConvolution& c, float scale, float bias, const ByteRange& range) noexcept {
  constexpr double most = 2147483000.0;
  const double sum = 255.0 * 128.0 * static_cast<double>(c.terms());
  const double inverse = static_cast<double>(range.inverse);
  return sum < most && (sum * std::abs(static_cast<double>(scale)) + std::abs(static_cast<double>(bias))) * std::abs(inverse) < most;
}

/// True if this CPU runs `convolve_bytes`.
[[nodiscard]] inline bool can_convolve_bytes() noexcept {
#if DAVIT_BYTE_CONVOLUTION
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

namespace detail {

inline constexpr std::int64_t byte_block = 16;  // channels of the result that are computed together

/// How a convolution goes over the memory: the source of some lines of the result, as numbers of 16 bits around zero, padded.
struct BytePlan {
  ByteConvolution c;
  std::int64_t line = 0;      // elements of a line
  std::int64_t runs = 0;      // stretches of the source that a pixel is made of, and how many elements each has
  std::int64_t run = 0;
  std::int64_t rows = 0;      // of the result, at once: a stripe

  explicit BytePlan(const ByteConvolution& convolution) noexcept : c(convolution) {
    if (c.is_pointwise()) {  // every pixel is a line
      c.height = c.out_height = c.images * c.height * c.width;
      c.images = c.width = c.out_width = 1;
    }
    line = ((c.out_width - 1) * c.stride_width + (c.kernel_width - 1) * c.dilation_width + 1) * c.channels;
    const bool whole = c.dilation_width == 1 && !c.depthwise;  // a line of the window lies in one piece
    runs = whole ? c.kernel_height : c.kernel_height * c.kernel_width;
    run = whole ? c.kernel_width * c.channels : c.channels;
    constexpr std::int64_t elements = 48 << 10;  // with the weights of a block within a cache of the second level
    rows = std::clamp<std::int64_t>((elements / line - window_lines()) / c.stride_height + 1, 1, c.out_height);
  }
  [[nodiscard]] std::int64_t window_lines() const noexcept { return (c.kernel_height - 1) * c.dilation_height + 1; }
  [[nodiscard]] std::int64_t pairs() const noexcept { return c.depthwise ? (runs + 1) / 2 : (run + 1) / 2; }
  /// Where a run begins, from the first element of the pixel's window.
  [[nodiscard]] std::int64_t run_offset(std::int64_t r) const noexcept {
    if (runs == c.kernel_height) return r * c.dilation_height * line;
    return r / c.kernel_width * c.dilation_height * line + r % c.kernel_width * c.dilation_width * c.channels;
  }
  /// Weights of one block of channels.
  [[nodiscard]] std::int64_t block_weights(std::int64_t channels) const noexcept {
    return c.depthwise ? pairs() * 2 * byte_block : runs * pairs() * 2 * (channels > 8 ? 16 : 8);
  }
  /// Numbers of a stripe; what is read behind the last is multiplied by zero.
  [[nodiscard]] std::int64_t stripe_elements() const noexcept { return (((rows - 1) * c.stride_height + window_lines()) * line + 3 * byte_block) / byte_block * byte_block; }
  [[nodiscard]] std::int64_t work_of_thread() const noexcept {  // in bytes: the numbers, then where each pixel begins, then the runs
    const std::int64_t bytes = stripe_elements() * 2 + (rows * c.out_width + runs + 1) * 8;
    return (bytes + 63) / 64 * 64;
  }
};

}  // namespace detail

/// Numbers in each list of a ByteResult: those behind the channels' are not looked at.
[[nodiscard]] inline std::int64_t padded_channels(const ByteConvolution& c) noexcept { return (c.out_channels + 15) / 16 * 16; }

/// Elements that `pack_bytes` writes.
[[nodiscard]] inline std::int64_t packed_bytes_size(const ByteConvolution& c) noexcept {
  const detail::BytePlan plan(c);
  const std::int64_t blocks = c.out_channels / detail::byte_block, rest = c.out_channels % detail::byte_block;
  return blocks * plan.block_weights(detail::byte_block) + (rest == 0 ? 0 : plan.block_weights(rest));
}
/// Weights (out_channels, channels or 1, kernel_height, kernel_width) in the order that `convolve_bytes` takes them. O(size).
inline void pack_bytes(const ByteConvolution& c, const std::int8_t* weights, std::int16_t* to) noexcept {
  const detail::BytePlan plan(c);
  const std::int64_t window = c.kernel_height * c.kernel_width, depth = c.depthwise ? 1 : c.channels;
  const auto weight = [&](std::int64_t o, std::int64_t channel, std::int64_t tap) {
    return o < c.out_channels ? static_cast<std::int16_t>(weights[(o * depth + channel) * window + tap]) : std::int16_t{0};
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
        for (std::int64_t o = 0; o < channels; ++o) to[e / 2 * 2 * channels + 2 * o + e % 2] = e < plan.run ? weight(b + o, channel, tap) : std::int16_t{0};
        if (++channel == c.channels) channel = 0, ++tap;
      }
    }
  }
}

/// Bytes of work space for `convolve_bytes`, on all threads of the team.
[[nodiscard]] inline std::int64_t convolve_bytes_work(const ByteConvolution& c) noexcept { return detail::BytePlan(c).work_of_thread() * team_size(); }

#if DAVIT_BYTE_CONVOLUTION

namespace detail {

using ByteInts = Vector<std::int32_t, 32>;
using BytePairs = Vector<std::int16_t, 32>;

/// What makes bytes of the sums of a block of channels.
struct ByteStore {
  std::int64_t channels;      // of the block
  std::int64_t all_channels;  // from pixel to pixel
  Vector<float, 32> scales[2], biases[2];
  BytePairs low, high, zero_point;  // the bounds from the zero point; the zero point so that its bytes have a sign
  Vector<std::int8_t, 32> sign;     // what takes it away
  ByteInts order;                   // of four channels at a time
};
/// Sums of a depthwise convolution are those of channels 0 to 3 and 8 to 11, and of the others.
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void read_store(const ByteResult& result, std::int64_t first, bool depthwise, ByteStore& store) noexcept {
  using Floats = Vector<float, 32>;
  const ByteRange& range = result.range;
  for (const auto& [from, to] : {std::pair(result.scales + first, store.scales), std::pair(result.biases + first, store.biases)}) {
    const Floats one = vector_at<32>(from) * range.inverse, other = vector_at<32>(from + 8) * range.inverse;
    to[0] = depthwise ? __builtin_shufflevector(one, other, 0, 1, 2, 3, 8, 9, 10, 11) : one;
    to[1] = depthwise ? __builtin_shufflevector(one, other, 4, 5, 6, 7, 12, 13, 14, 15) : other;
  }
  const std::int32_t middle = range.high > 127 ? 128 : 0;  // bytes without a sign
  store.low = static_cast<std::int16_t>(range.low - range.zero_point) + BytePairs{};
  store.high = static_cast<std::int16_t>(range.high - range.zero_point) + BytePairs{};
  store.zero_point = static_cast<std::int16_t>(range.zero_point - middle) + BytePairs{};
  store.sign = static_cast<std::int8_t>(-middle) + Vector<std::int8_t, 32>{};
  store.order = depthwise ? ByteInts{0, 1, 4, 5, 2, 3, 6, 7} : ByteInts{0, 4, 1, 5, 2, 6, 3, 7};
}
/// The bytes of a pixel as numbers of 16 bits, in an order of their own. What these do not hold is cut, and beyond the bounds either way.
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void round_sums(const ByteInts& first, const ByteInts& second, const ByteStore& s, BytePairs& out) noexcept {
  using Floats = Vector<float, 32>;
  // the same rounding however it is compiled
  const auto low = __builtin_ia32_cvtps2dq256(__builtin_ia32_vfmaddps256(__builtin_convertvector(first, Floats), s.scales[0], s.biases[0]));
  const auto high = __builtin_ia32_cvtps2dq256(__builtin_ia32_vfmaddps256(__builtin_convertvector(second, Floats), s.scales[1], s.biases[1]));
  BytePairs x = __builtin_bit_cast(BytePairs, __builtin_ia32_packssdw256(low, high));
  x = x < s.low ? s.low : x;
  x = x > s.high ? s.high : x;
  out = x + s.zero_point;
}
/// Stores the bytes of some pixels, whose sums lie in two vectors each; those of either dtype are the same bits.
template <int Pixels>
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void store_bytes(const ByteInts (&first)[Pixels], const ByteInts (&second)[Pixels], const ByteStore& s,
                                                                        std::uint8_t* to) noexcept {
#pragma GCC unroll 8
  for (int p = 0; p < Pixels; p += 2, to += 2 * s.all_channels) {
    const int q = p + 1 < Pixels ? p + 1 : p;
    BytePairs one, other;
    round_sums(first[p], second[p], s, one);
    round_sums(first[q], second[q], s, other);
    const auto both = __builtin_bit_cast(Vector<std::int8_t, 32>, __builtin_ia32_packsswb256(one, other)) ^ s.sign;
    const auto bytes = __builtin_bit_cast(Vector<std::int64_t, 32>, __builtin_ia32_permvarsi256(__builtin_bit_cast(ByteInts, both), s.order));
    const auto low = __builtin_shufflevector(bytes, bytes, 0, 1), high = __builtin_shufflevector(bytes, bytes, 2, 3);
    const auto count = static_cast<std::size_t>(s.channels);
    if (s.channels >= byte_block) {
      std::memcpy(to, &low, sizeof low);
      if (q != p) std::memcpy(to + s.all_channels, &high, sizeof high);
    } else {
      std::memcpy(to, &low, count);
      if (q != p) std::memcpy(to + s.all_channels, &high, count);
    }
  }
}

/// A block of channels of some pixels.
struct ByteBlock {
  const BytePlan& plan;
  const std::int16_t* source;
  const std::int64_t* pixels;       // where each begins
  const std::int64_t* run_offsets;  // from there
  const std::int16_t* weights;
  ByteStore store;
  std::uint8_t* to;
};
/// Makes the bytes of the pixels from `first` on, `Pixels` at a time, and 8 * `Vectors` channels. Answers where fewer are left.
template <int Pixels, int Vectors>
[[gnu::target("avx2,fma")]] inline std::int64_t multiply_bytes(const ByteBlock& block, std::int64_t first, std::int64_t end) noexcept {
  const std::int64_t runs = block.plan.runs, pairs = block.plan.pairs();
  for (; first + Pixels <= end; first += Pixels) {
    ByteInts sums[2][Pixels];
#pragma GCC unroll 8
    for (int p = 0; p < Pixels; ++p) sums[0][p] = sums[1][p] = ByteInts{};
    const std::int16_t* weights = block.weights;
    for (std::int64_t r = 0; r < runs; ++r) {
      const std::int16_t* x[Pixels];
#pragma GCC unroll 8
      for (int p = 0; p < Pixels; ++p) x[p] = block.source + block.pixels[first + p] + block.run_offsets[r];
      for (std::int64_t k = 0; k < pairs; ++k, weights += 16 * Vectors) {
        BytePairs w[Vectors];
#pragma GCC unroll 8
        for (int v = 0; v < Vectors; ++v) w[v] = vector_at<32>(weights + 16 * v);
#pragma GCC unroll 8
        for (int p = 0; p < Pixels; ++p) {
          std::int32_t pair;
          std::memcpy(&pair, x[p] + 2 * k, sizeof pair);
          const auto repeated = __builtin_bit_cast(BytePairs, pair + ByteInts{});
#pragma GCC unroll 8
          for (int v = 0; v < Vectors; ++v) sums[v][p] += __builtin_bit_cast(ByteInts, __builtin_ia32_pmaddwd256(repeated, w[v]));
        }
      }
    }
    store_bytes(sums[0], sums[1], block.store, block.to + first * block.store.all_channels);
  }
  return first;
}

/// The same of 16 channels, each by itself.
template <int Pixels>
[[gnu::target("avx2,fma")]] inline std::int64_t multiply_bytes_depthwise(const ByteBlock& block, std::int64_t first, std::int64_t end) noexcept {
  const std::int64_t runs = block.plan.runs;
  for (; first + Pixels <= end; first += Pixels) {
    ByteInts low[Pixels], high[Pixels];  // channels 0 to 3 and 8 to 11, the others
    const std::int16_t* x[Pixels];
#pragma GCC unroll 8
    for (int p = 0; p < Pixels; ++p) {
      low[p] = high[p] = ByteInts{};
      x[p] = block.source + block.pixels[first + p];
    }
    const std::int16_t* weights = block.weights;
    for (std::int64_t r = 0; r < runs; r += 2, weights += 2 * byte_block) {
      const BytePairs first_weights = vector_at<32>(weights), second_weights = vector_at<32>(weights + byte_block);
      const std::int64_t one = block.run_offsets[r], other = block.run_offsets[r + 1];
#pragma GCC unroll 8
      for (int p = 0; p < Pixels; ++p) {
        const BytePairs a = vector_at<32>(x[p] + one), b = vector_at<32>(x[p] + other);
        const BytePairs even = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27);
        const BytePairs odd = __builtin_shufflevector(a, b, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31);
        low[p] += __builtin_bit_cast(ByteInts, __builtin_ia32_pmaddwd256(even, first_weights));
        high[p] += __builtin_bit_cast(ByteInts, __builtin_ia32_pmaddwd256(odd, second_weights));
      }
    }
    store_bytes(low, high, block.store, block.to + first * block.store.all_channels);
  }
  return first;
}

/// Numbers around zero: what a byte stands for, in steps of its scale.
template <class From>
[[gnu::target("avx2,fma")]] inline void widen_bytes(const From* from, std::int64_t n, std::int16_t zero_point, std::int16_t* to) noexcept {
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    Vector<From, 16> bytes;
    std::memcpy(&bytes, from + i, sizeof bytes);
    vector_at<32>(to + i) = __builtin_convertvector(bytes, BytePairs) - zero_point;
  }
  for (; i < n; ++i) to[i] = static_cast<std::int16_t>(from[i] - zero_point);
}

/// The source of `rows` lines of the result from `y`.
template <class From>
void widen_stripe(const BytePlan& plan, const From* image, std::int64_t y, std::int64_t rows, std::int16_t zero_point, std::int16_t* to) noexcept {
  const ByteConvolution& c = plan.c;
  const std::int64_t first = y * c.stride_height - c.top, lines = (rows - 1) * c.stride_height + plan.window_lines();
  const std::int64_t own = c.width * c.channels, before = c.left * c.channels;
  if (own == plan.line && before == 0 && first >= 0 && first + lines <= c.height) return widen_bytes(image + first * own, lines * own, zero_point, to);
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

/// Some lines of the result, from its numbers.
[[gnu::target("avx2,fma")]] inline void convolve_stripe(const BytePlan& plan, const std::int16_t* source, const std::int64_t* pixels, std::int64_t count,
                                                        const std::int64_t* run_offsets, const std::int16_t* weights, const ByteResult& result, std::uint8_t* to) noexcept {
  for (std::int64_t b = 0; b < plan.c.out_channels; b += byte_block) {
    ByteBlock block{plan, source, pixels, run_offsets, weights, {}, to + b};
    block.store.channels = std::min(byte_block, plan.c.out_channels - b);
    block.store.all_channels = plan.c.out_channels;
    read_store(result, b, plan.c.depthwise, block.store);
    std::int64_t p = 0;  // as many at a time as registers allow
    if (plan.c.depthwise) {
      block.source += b;
      p = multiply_bytes_depthwise<4>(block, p, count);
      multiply_bytes_depthwise<1>(block, p, count);
    } else if (block.store.channels > 8) {
      p = multiply_bytes<6, 2>(block, p, count);
      p = multiply_bytes<3, 2>(block, p, count);
      multiply_bytes<1, 2>(block, p, count);
    } else {
      p = multiply_bytes<6, 1>(block, p, count);
      p = multiply_bytes<3, 1>(block, p, count);
      multiply_bytes<1, 1>(block, p, count);
    }
    weights += plan.block_weights(block.store.channels);
  }
}

}  // namespace detail

/// Convolves images of bytes, `zero_point` standing for zero, with weights that were packed. Sums are exact, on any number of threads, if
/// `sums_fit`. `work` lies at a multiple of 64; `to` are the bytes of either dtype.
template <class From>
void convolve_bytes(const ByteConvolution& c, const From* source, std::int32_t zero_point, const std::int16_t* weights, const ByteResult& result, std::byte* work,
                    std::uint8_t* to) noexcept {
  const detail::BytePlan plan(c);
  const std::int64_t work_size = plan.work_of_thread();
  const double all = operations(plan.c.images, plan.c.out_height, plan.c.out_width, plan.c.out_channels, c.terms()) / (c.depthwise ? 1 : 4);
  in_parallel(plan.c.images * plan.c.out_height, 1, all, [&](std::size_t part, std::int64_t first, std::int64_t end) {
    std::byte* const own = work + static_cast<std::int64_t>(part) * work_size;
    auto* const numbers = reinterpret_cast<std::int16_t*>(own);
    auto* const pixels = reinterpret_cast<std::int64_t*>(numbers + plan.stripe_elements());
    std::int64_t* const run_offsets = pixels + plan.rows * plan.c.out_width;
    for (std::int64_t i = 0; i < plan.rows * plan.c.out_width; ++i)
      pixels[i] = i / plan.c.out_width * plan.c.stride_height * plan.line + i % plan.c.out_width * plan.c.stride_width * plan.c.channels;
    for (std::int64_t r = 0; r < plan.runs + 1; ++r) run_offsets[r] = plan.run_offset(std::min(r, plan.runs - 1));
    std::fill_n(numbers + plan.stripe_elements() - 2 * detail::byte_block, 2 * detail::byte_block, std::int16_t{0});
    while (first < end) {
      const std::int64_t image = first / plan.c.out_height, y = first % plan.c.out_height, rows = std::min({plan.rows, plan.c.out_height - y, end - first});
      detail::widen_stripe(plan, source + image * plan.c.height * plan.c.width * plan.c.channels, y, rows, static_cast<std::int16_t>(zero_point), numbers);
      detail::convolve_stripe(plan, numbers, pixels, rows * plan.c.out_width, run_offsets, weights, result, to + first * plan.c.out_width * plan.c.out_channels);
      first += rows;
    }
  });
}

#endif

}  // namespace davit::kernels
