// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/vectors.hpp"
#include "davit/kernels/winograd_weights.hpp"

/// Winograd's algorithm for convolutions of 3 x 3 with stride 1: squares of outputs from matrix products, one per
/// element of a transformed square of inputs. It needs 1 / 2.25 of the products for squares of 2 x 2 outputs, 1 / 4 for
/// 4 x 4. Infinities become NaN. Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks".
namespace davit::kernels {

namespace detail {

/// The operands and the result of a convolution; `sum` has the layout of `made`.
struct WinogradOperands {
  const float *source, *packed, *bias, *sum;
  float* made;
  bool relu;
};

/// Convolves squares `first` to `end`, at most `together`.
template <std::int64_t Out>
struct WinogradTiles {
  static constexpr std::int64_t in = Out + 2;

  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const WinogradConvolution* c, const WinogradOperands* on, std::int64_t first,
                                         std::int64_t end, float* space) noexcept {
    const std::int64_t rows = c->together();
    float* const sums = space + in * in * rows * c->channels;
    const std::int64_t across = c->tiles_across(), each = c->tiles() / c->images;
    for (std::int64_t t = first; t < end; ++t) {
      const std::int64_t image = t / each, y = t % each / across * Out, x = t % across * Out;
      transform_input<Bytes>(*c, on->source + image * c->source.image, y - c->top, x - c->left,
                             space + (t - first) * c->channels, rows * c->channels);
    }
    for (std::int64_t k = 0; k < in * in; ++k)
      multiply<Bytes>(space + k * rows * c->channels, on->packed + k * c->channels * c->out_channels,
                      sums + k * rows * c->out_channels, end - first, c->channels, c->out_channels);
    for (std::int64_t t = first; t < end; ++t) {
      const std::int64_t image = t / each, y = t % each / across * Out, x = t % across * Out;
      transform_sums<Bytes>(*c, *on, sums + (t - first) * c->out_channels, rows * c->out_channels, image, y, x);
    }
  }

 private:
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void transform_input(const WinogradConvolution& c, const float* image, std::int64_t y0,
                                                     std::int64_t x0, float* to, std::int64_t apart) noexcept {
    using V = Vector<float, Bytes>;
    const bool inside = y0 >= 0 && x0 >= 0 && y0 + in <= c.height && x0 + in <= c.width;
    for (std::int64_t i = 0; i < c.channels; i += lanes<float, Bytes>) {
      const float* const at =
          image + i / winograd_block * c.source.block + i % winograd_block + y0 * c.source.row + x0 * c.source.pixel;
      V d[in * in], half[in * in];
      if (inside) {
#pragma GCC unroll 36
        for (std::int64_t y = 0; y < in; ++y)
#pragma GCC unroll 36
          for (std::int64_t x = 0; x < in; ++x)
            d[y * in + x] = vector_at<Bytes>(at + y * c.source.row + x * c.source.pixel);
      } else {
#pragma GCC unroll 36
        for (std::int64_t y = 0; y < in; ++y)
#pragma GCC unroll 36
          for (std::int64_t x = 0; x < in; ++x) {
            const bool there = y0 + y >= 0 && y0 + y < c.height && x0 + x >= 0 && x0 + x < c.width;
            d[y * in + x] = V{};
            if (there) d[y * in + x] = vector_at<Bytes>(at + y * c.source.row + x * c.source.pixel);
          }
      }
#pragma GCC unroll 36
      for (std::int64_t x = 0; x < in; ++x) WinogradTile<Out>::of_input(d + x, in, half + x, in);
#pragma GCC unroll 36
      for (std::int64_t y = 0; y < in; ++y) WinogradTile<Out>::of_input(half + y * in, 1, d + y * in, 1);
#pragma GCC unroll 36
      for (std::int64_t k = 0; k < in * in; ++k) vector_at<Bytes>(to + k * apart + i) = d[k];
    }
  }

  template <std::size_t Bytes>
  [[gnu::always_inline]] static void transform_sums(const WinogradConvolution& c, const WinogradOperands& on,
                                                    const float* sums, std::int64_t apart, std::int64_t image,
                                                    std::int64_t y0, std::int64_t x0) noexcept {
    using V = Vector<float, Bytes>;
    const std::int64_t high = std::min(Out, c.out_height - y0), wide = std::min(Out, c.out_width - x0);
    for (std::int64_t o = 0; o < c.out_channels; o += lanes<float, Bytes>) {
      V m[in * in], half[Out * in], made[Out * Out];
#pragma GCC unroll 36
      for (std::int64_t k = 0; k < in * in; ++k) m[k] = vector_at<Bytes>(sums + k * apart + o);
#pragma GCC unroll 36
      for (std::int64_t x = 0; x < in; ++x) WinogradTile<Out>::of_product(m + x, in, half + x, in);
#pragma GCC unroll 36
      for (std::int64_t y = 0; y < Out; ++y) WinogradTile<Out>::of_product(half + y * in, 1, made + y * Out, 1);
      V bias{};
      if (on.bias != nullptr) bias = vector_at<Bytes>(on.bias + o);
      const std::int64_t at = image * c.made.image + o / winograd_block * c.made.block + o % winograd_block +
                              y0 * c.made.row + x0 * c.made.pixel;
      for (std::int64_t y = 0; y < high; ++y)
        for (std::int64_t x = 0; x < wide; ++x) {
          const std::int64_t place = at + y * c.made.row + x * c.made.pixel;
          V v = made[y * Out + x] + bias;
          if (on.sum != nullptr) v += vector_at<Bytes>(on.sum + place);
          if (on.relu) v = v > V{} ? v : V{};
          vector_at<Bytes>(on.made + place) = v;
        }
    }
  }

  /// [rows, inner] times blocks of columns, [inner, 16] each.
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void multiply(const float* a, const float* b, float* to, std::int64_t rows,
                                              std::int64_t inner, std::int64_t columns) noexcept {
    constexpr std::int64_t most = Bytes == 64 ? 8 : 2;
    std::int64_t j = 0;
    if constexpr (Bytes == 64)
      for (; j + 32 <= columns; j += 32)
        multiply_columns<Bytes, most, 2>(a, b + j * inner, to + j, rows, inner, columns);
    for (; j < columns; j += winograd_block)
      multiply_columns<Bytes, most, 1>(a, b + j * inner, to + j, rows, inner, columns);
  }
  template <std::size_t Bytes, std::int64_t Rows, std::int64_t Blocks>
  [[gnu::always_inline]] static void multiply_columns(const float* a, const float* b, float* to, std::int64_t rows,
                                                      std::int64_t inner, std::int64_t columns) noexcept {
    std::int64_t r = 0;
    for (; r + Rows <= rows; r += Rows)
      multiply_rows<Bytes, Rows, Blocks>(a + r * inner, b, to + r * columns, inner, columns);
    if constexpr (Rows > 4)
      for (; r + 4 <= rows; r += 4) multiply_rows<Bytes, 4, Blocks>(a + r * inner, b, to + r * columns, inner, columns);
    for (; r < rows; ++r) multiply_rows<Bytes, 1, Blocks>(a + r * inner, b, to + r * columns, inner, columns);
  }
  template <std::size_t Bytes, std::int64_t Rows, std::int64_t Blocks>
  [[gnu::always_inline]] static void multiply_rows(const float* a, const float* b, float* to, std::int64_t inner,
                                                   std::int64_t columns) noexcept {
    constexpr std::int64_t each = winograd_block / lanes<float, Bytes>, vectors = Blocks * each;
    Vector<float, Bytes> sums[Rows][vectors] = {};
    for (std::int64_t i = 0; i < inner; ++i) {
      Vector<float, Bytes> w[vectors];
#pragma GCC unroll 36
      for (std::int64_t v = 0; v < vectors; ++v)
        w[v] = vector_at<Bytes>(b + v / each * inner * winograd_block + i * winograd_block +
                                v % each * lanes<float, Bytes>);
#pragma GCC unroll 36
      for (std::int64_t r = 0; r < Rows; ++r)
#pragma GCC unroll 36
        for (std::int64_t v = 0; v < vectors; ++v) sums[r][v] += a[r * inner + i] * w[v];
    }
#pragma GCC unroll 36
    for (std::int64_t r = 0; r < Rows; ++r)
#pragma GCC unroll 36
      for (std::int64_t v = 0; v < vectors; ++v)
        vector_at<Bytes>(to + r * columns + v * lanes<float, Bytes>) = sums[r][v];
  }
};

}  // namespace detail

/// made = relu(convolution + bias + sum); `bias` and `sum` may be null, and `sum` may be `made`. `space`: space()
/// floats per thread. O(outputs * channels).
inline void convolve_winograd(const WinogradConvolution& c, const float* source, const float* packed, const float* bias,
                              const float* sum, bool relu, float* made, float* space) noexcept {
  const detail::WinogradOperands on{source, packed, bias, sum, made, relu};
  const std::int64_t rows = c.together();
  in_parallel(c.tiles(), 8, operations(c.tiles(), c.products(), c.channels, c.out_channels),
              [&](std::size_t part, std::int64_t first, std::int64_t end) {
                float* const own = space + static_cast<std::int64_t>(part) * c.space();
                for (; first < end; first += rows) {
                  const std::int64_t until = std::min(first + rows, end);
                  c.tile() == 4 ? run_widest<detail::WinogradTiles<4>>(&c, &on, first, until, own)
                                : run_widest<detail::WinogradTiles<2>>(&c, &on, first, until, own);
                }
              });
}

}  // namespace davit::kernels
