// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

/// Winograd's algorithm for convolutions of 3 x 3 with stride 1: sizes, and the form of its weights. Source: Lavin and
/// Gray, "Fast Algorithms for Convolutional Neural Networks".
namespace davit::kernels {

/// The channels of a block.
inline constexpr std::int64_t winograd_block = 16;

/// The strides of an image in elements: images, blocks of channels, rows and pixels. The channels of a block are
/// adjacent.
struct BlockedImage {
  std::int64_t image = 0, block = 0, row = 0, pixel = 0;
};

/// Channels are whole blocks. Pixels outside the source are zero.
struct WinogradConvolution {
  std::int64_t images = 0, channels = 0, height = 0, width = 0;
  std::int64_t out_channels = 0, out_height = 0, out_width = 0;
  std::int64_t top = 0, left = 0;
  BlockedImage source, made;

  /// Squares of 4 x 4 for large images; on small ones more outputs would be outside the image, and the larger weights
  /// take longer to read.
  [[nodiscard]] constexpr std::int64_t tile() const noexcept { return out_height * out_width >= 400 ? 4 : 2; }
  /// Elements of a transformed square.
  [[nodiscard]] constexpr std::int64_t products() const noexcept { return (tile() + 2) * (tile() + 2); }
  [[nodiscard]] constexpr std::int64_t tiles_across() const noexcept { return (out_width + tile() - 1) / tile(); }
  [[nodiscard]] constexpr std::int64_t tiles() const noexcept {
    return images * tiles_across() * ((out_height + tile() - 1) / tile());
  }
  /// Squares that are computed together: their transforms fit an inner cache.
  [[nodiscard]] constexpr std::int64_t together() const noexcept {
    constexpr std::int64_t room = 160 * 1024;
    return std::clamp<std::int64_t>(room / ((channels + out_channels) * products()) / 8 * 8, 16, 64);
  }
  /// Floats of the transformed weights.
  [[nodiscard]] constexpr std::int64_t packed_size() const noexcept { return products() * channels * out_channels; }
  /// Floats of the work space of a thread.
  [[nodiscard]] constexpr std::int64_t space() const noexcept {
    return products() * together() * (channels + out_channels);
  }
};

namespace detail {

/// Transforms along one dimension, from `from` at multiples of `step` to multiples of `to_step`.
template <std::int64_t Out>
struct WinogradTile;

template <>
struct WinogradTile<2> {
  template <class T>
  [[gnu::always_inline]] static void of_input(const T* d, std::int64_t s, T* r, std::int64_t t) noexcept {
    const T a = d[0] - d[2 * s], b = d[s] + d[2 * s], c = d[2 * s] - d[s], e = d[s] - d[3 * s];
    r[0] = a, r[t] = b, r[2 * t] = c, r[3 * t] = e;
  }
  template <class T>
  [[gnu::always_inline]] static void of_product(const T* m, std::int64_t s, T* r, std::int64_t t) noexcept {
    const T a = m[0] + m[s] + m[2 * s], b = m[s] - m[2 * s] - m[3 * s];
    r[0] = a, r[t] = b;
  }
  static void of_weight(const double* g, std::int64_t s, double* r, std::int64_t t) noexcept {
    r[0] = g[0];
    r[t] = (g[0] + g[s] + g[2 * s]) / 2;
    r[2 * t] = (g[0] - g[s] + g[2 * s]) / 2;
    r[3 * t] = g[2 * s];
  }
};

template <>
struct WinogradTile<4> {
  template <class T>
  [[gnu::always_inline]] static void of_input(const T* d, std::int64_t s, T* r, std::int64_t t) noexcept {
    const T even = d[4 * s] - 4 * d[2 * s], odd = d[3 * s] - 4 * d[s], low = d[4 * s] - d[2 * s],
            high = 2 * (d[3 * s] - d[s]);
    const T first = 4 * d[0] - 5 * d[2 * s] + d[4 * s], last = 4 * d[s] - 5 * d[3 * s] + d[5 * s];
    r[0] = first, r[t] = even + odd, r[2 * t] = even - odd, r[3 * t] = low + high, r[4 * t] = low - high,
    r[5 * t] = last;
  }
  template <class T>
  [[gnu::always_inline]] static void of_product(const T* m, std::int64_t s, T* r, std::int64_t t) noexcept {
    const T a = m[s] + m[2 * s], b = m[s] - m[2 * s], c = m[3 * s] + m[4 * s], d = m[3 * s] - m[4 * s];
    const T first = m[0] + a + c, last = b + 8 * d + m[5 * s];
    r[0] = first, r[t] = b + 2 * d, r[2 * t] = a + 4 * c, r[3 * t] = last;
  }
  static void of_weight(const double* g, std::int64_t s, double* r, std::int64_t t) noexcept {
    const double ends = g[0] + g[2 * s], far = g[0] + 4 * g[2 * s];
    r[0] = g[0] / 4;
    r[t] = -(ends + g[s]) / 6;
    r[2 * t] = -(ends - g[s]) / 6;
    r[3 * t] = (far + 2 * g[s]) / 24;
    r[4 * t] = (far - 2 * g[s]) / 24;
    r[5 * t] = g[2 * s];
  }
};

template <std::int64_t Out>
void pack_winograd(const WinogradConvolution& c, const float* weight, float* to) noexcept {
  constexpr std::int64_t in = Out + 2;
  for (std::int64_t o = 0; o < c.out_channels; ++o)
    for (std::int64_t i = 0; i < c.channels; ++i, weight += 9) {
      double taps[9], half[in * 3], whole[in * in];
      std::copy_n(weight, 9, taps);
      for (std::int64_t x = 0; x < 3; ++x) WinogradTile<Out>::of_weight(taps + x, 3, half + x, 3);
      for (std::int64_t y = 0; y < in; ++y) WinogradTile<Out>::of_weight(half + y * 3, 1, whole + y * in, 1);
      float* const at = to + (o / winograd_block * c.channels + i) * winograd_block + o % winograd_block;
      for (std::int64_t k = 0; k < in * in; ++k) at[k * c.channels * c.out_channels] = static_cast<float>(whole[k]);
    }
}

}  // namespace detail

/// Transforms weights [out_channels, channels, 3, 3]; `to`: packed_size() floats.
inline void pack_winograd_weights(const WinogradConvolution& c, const float* weight, float* to) noexcept {
  c.tile() == 4 ? detail::pack_winograd<4>(c, weight, to) : detail::pack_winograd<2>(c, weight, to);
}

}  // namespace davit::kernels
