// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/product.hpp"
#include "davit/backends/portable/static/tile.hpp"
#include "davit/backends/portable/static/windows.hpp"
#include "davit/program/operators/convolution.hpp"

namespace davit::static_kernels {

/// y (batch, filters, out) = a convolution of x (batch, channels, in). A convolution over one dimension has height 1.
struct Conv2d {
  std::int32_t batch = 1, channels = 0, filters = 0, groups = 1;
  std::int32_t in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  std::int32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1;
  std::int32_t pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
  Layout layout = Layout::contiguous;
  std::int32_t bias = 1;  ///< 0: none; else one element per filter

  [[nodiscard]] constexpr std::int32_t group_channels() const noexcept { return channels / groups; }
  [[nodiscard]] constexpr std::int32_t group_filters() const noexcept { return filters / groups; }
  [[nodiscard]] constexpr Index taps() const noexcept { return Index{group_channels()} * kernel_h * kernel_w; }
  /// True if sums begin with the bias, as in portable's convolution of single channels; else the bias is added last.
  [[nodiscard]] constexpr bool bias_first() const noexcept { return group_channels() == 1 && group_filters() <= 2; }
  /// True if packs of filters are computed side by side; else they are computed one by one.
  [[nodiscard]] constexpr bool has_tiles() const noexcept {
    return layout == Layout::output_inner && !bias_first() && (groups == 1 || group_filters() % 8 == 0);
  }
  /// The same convolution with all places in one row, if every place reads only its own pixel.
  [[nodiscard]] constexpr Conv2d flattened() const noexcept {
    Conv2d c = *this;
    const bool pointwise = kernel_h == 1 && kernel_w == 1 && stride_h == 1 && stride_w == 1 && pad_h == 0 && pad_w == 0;
    if (!pointwise) return c;
    c.in_h = c.out_h = 1;
    c.in_w = c.out_w = in_h * in_w;
    return c;
  }
};

namespace detail {

/// The taps [begin, end) that are inside [0, size) for a place whose first tap is at `first`.
struct TapRange {
  Index begin, end;

  constexpr TapRange(Index first, Index dilation, Index kernel, Index size) noexcept
      : begin(first < 0 ? (-first + dilation - 1) / dilation : 0),
        end(first + (kernel - 1) * dilation < size ? kernel
            : size > first                         ? (size - first - 1) / dilation + 1
                                                   : 0) {}
};

/// The layout of a group's weights: filter f and tap t are at data[f * filter + t * tap].
struct Filters {
  const float* data;
  Index filter, tap;

  constexpr Filters(const Conv2d& c, const float* weight, Index group) noexcept
      : data(weight), filter(c.taps()), tap(1) {
    if (c.layout == Layout::output_inner) {
      filter = 1;
      tap = padded_to_8(c.filters);
    }
    data += group * c.group_filters() * filter;
  }
};

/// The places [begin, end) of an output row whose taps are all inside the image row.
struct InnerPlaces {
  Index begin, end;

  constexpr explicit InnerPlaces(const Conv2d& c) noexcept
      : begin(std::min<Index>((c.pad_w + c.stride_w - 1) / c.stride_w, c.out_w)), end(begin) {
    const Index room = c.in_w + c.pad_w - Index{c.dilation_w} * (c.kernel_w - 1) - 1;
    if (room >= 0) end = std::clamp<Index>(room / c.stride_w + 1, begin, c.out_w);
  }
};

/// Sums of `Count` filters at `Places` packs of N neighbouring places of a row, in order of the taps. `x` is the
/// group's first channel, `column` the column of the first place's first tap; the taps `across` are inside for all
/// places.
template <Index N, Index Places, Index Count>
[[gnu::always_inline]] constexpr void add_taps(const Conv2d& c, const float* x, Index row, const TapRange& down,
                                               Index column, const TapRange& across, const Filters& w,
                                               Pack<N> (&sum)[Places][Count]) noexcept {
  for (Index i = 0; i < c.group_channels(); ++i, x += Index{c.in_h} * c.in_w) {
    for (Index ky = down.begin; ky < down.end; ++ky) {
      const Index from = (row + ky * c.dilation_h) * c.in_w + column;
      const float* weight = w.data + (i * c.kernel_h + ky) * c.kernel_w * w.tap;
      for (Index kx = across.begin; kx < across.end; ++kx) {
        unroll<Places>([&]<Index P>() __attribute__((always_inline)) {
          const Pack<N> value = load<N>(x + (from + kx * c.dilation_w + P * N * c.stride_w));
          unroll<Count>([&]<Index F>() __attribute__((always_inline)) {
            sum[P][F] = add_product(sum[P][F], value, weight[F * w.filter + kx * w.tap]);
          });
        });
      }
    }
  }
}

/// Computes a row of the responses of `Count` filters, several places at once. `y` is the row of the first filter.
template <bool Fixed, Index Count>
[[gnu::always_inline]] constexpr void filter_row(const Conv2d& c, const float* x, Index place_y, const Filters& w,
                                                 const float* bias, float* y) noexcept {
  const Index row = place_y * c.stride_h - c.pad_h;
  const TapRange down(row, c.dilation_h, c.kernel_h, c.in_h);
  const Index plane = Index{c.out_h} * c.out_w;
  const bool first = c.bias_first();
  const auto take = [&]<Index N, Index Places>(Index place) __attribute__((always_inline)) {
    const Index column = place * c.stride_w - c.pad_w;
    const TapRange across(column, c.dilation_w, c.kernel_w, c.in_w);
    Pack<N> sum[Places][Count]{};
    if (first && bias != nullptr)
      unroll<Places * Count>(
          [&]<Index I>() __attribute__((always_inline)) { sum[I / Count][I % Count] = bias[I % Count] - Pack<N>{}; });
    add_taps<N, Places, Count>(c, x, row, down, column, across, w, sum);
    unroll<Places * Count>([&]<Index I>() __attribute__((always_inline)) {
      Pack<N>& done = sum[I / Count][I % Count];
      if (!first && bias != nullptr) done += bias[I % Count] - Pack<N>{};
      store<N>(y + I % Count * plane + place + I / Count * N, done);
    });
  };
  const InnerPlaces inner(c);
  for (Index place = 0; place < c.out_w;) {
    const Index room = place < inner.begin ? 0 : inner.end - place;
    if !consteval {
      if constexpr (simd > 1) {
        if (c.stride_w == 1 && room >= simd) {
          take.template operator()<simd, 1>(place);
          place += simd;
          continue;
        }
      }
      if constexpr (Fixed || Count == 1) {
        if (room >= 4) {
          take.template operator()<1, 4>(place);
          place += 4;
          continue;
        }
      }
    }
    take.template operator()<1, 1>(place++);
  }
}

/// Convolves filter by filter, for any groups and layout.
template <bool Fixed>
[[gnu::always_inline]] constexpr void convolve_filters(const Conv2d& c, const float* x, const float* weight,
                                                       const float* bias, float* y) noexcept {
  const Index pixels = Index{c.in_h} * c.in_w;
  const Index places = Index{c.out_h} * c.out_w;
  for (Index n = 0; n < Index{c.batch} * c.groups; ++n) {
    const Index g = n % c.groups;
    const Filters all(c, weight, g);
    const float* channels = x + n * c.group_channels() * pixels;
    const auto take = [&]<Index Count>(Index f) __attribute__((always_inline)) {
      Filters w = all;
      w.data += f * w.filter;
      const float* added = bias == nullptr ? nullptr : bias + g * c.group_filters() + f;
      float* to = y + (n * c.group_filters() + f) * places;
      for (Index r = 0; r < c.out_h; ++r) filter_row<Fixed, Count>(c, channels, r, w, added, to + r * c.out_w);
    };
    const Index fours = c.group_filters() / 4, rest = c.group_filters() % 4;
    for (Index i = 0; i < fours; ++i) take.template operator()<4>(4 * i);
    for (Index i = 0; i < rest; ++i) take.template operator()<1>(4 * fours + i);
  }
}

/// The tiles of a row, if the parameters are constant; see RowTiles.
template <class P, Index Places>
struct TilesOf {
  static constexpr bool few = false;
};
template <class P, Index Places>
  requires is_constant<P>
struct TilesOf<P, Places> : RowTiles<P::value.in_w, P::value.out_w, P::value.kernel_w, P::value.stride_w,
                                     P::value.pad_w, P::value.dilation_w, Places> {};

/// Computes responses of some packs of filters with output-inner weights, for one row of places. `x` is the group's
/// first channel.
template <class P, Index Vectors>
[[gnu::always_inline]] constexpr void tile_row(const P& params, const float* x, Index place_y, const float* weight,
                                               const float* bias, Index count, float* y) noexcept {
  const Conv2d& c = numbers_of(params);
  const Index row = place_y * c.stride_h - c.pad_h;
  const TapRange down(row, c.dilation_h, c.kernel_h, c.in_h);
  const Index tap = padded_to_8(c.filters);
  const Index plane = Index{c.out_h} * c.out_w;
  const auto each_row = [&](auto&& add) __attribute__((always_inline)) {
    for (Index i = 0; i < c.group_channels(); ++i)
      for (Index ky = down.begin; ky < down.end; ++ky)
        add(x + (i * c.in_h + row + ky * c.dilation_h) * c.in_w, weight + (i * c.kernel_h + ky) * c.kernel_w * tap);
  };
  using Tiles = TilesOf<P, tile_sums / Vectors>;
  if constexpr (Tiles::few) {
    Tiles::for_each([&]<class Tile>(Tile, Index place) __attribute__((always_inline)) {
      Pack<simd> sum[Tile::places][Vectors]{};
      each_row([&](const float* from, const float* w)
                   __attribute__((always_inline)) { Tile::template add<Vectors>(from, place, w, tap, sum); });
      store_tile(sum, bias, count, y + place, plane);
    });
  } else {
    const auto take = [&]<Index Places>(Index place) __attribute__((always_inline)) {
      const Index column = place * c.stride_w - c.pad_w;
      const TapRange across(column, c.dilation_w, c.kernel_w, c.in_w);
      Pack<simd> sum[Places][Vectors]{};
      each_row([&](const float* from, const float* w) __attribute__((always_inline)) {
        for (Index kx = across.begin; kx < across.end; ++kx)
          unroll<Places * Vectors>([&]<Index I>() __attribute__((always_inline)) {
            Pack<simd>& at = sum[I / Vectors][I % Vectors];
            at = add_product(at, load<simd>(w + kx * tap + I % Vectors * simd),
                             from[column + kx * c.dilation_w + I / Vectors * c.stride_w]);
          });
      });
      store_tile(sum, bias, count, y + place, plane);
    };
    constexpr Index step = tile_sums / Vectors;
    const InnerPlaces inner(c);
    for (Index place = 0; place < c.out_w;) {
      if (place >= inner.begin && place + step <= inner.end) {
        take.template operator()<step>(place);
        place += step;
      } else {
        take.template operator()<1>(place++);
      }
    }
  }
}

/// Convolves with output-inner weights, several packs of filters at once.
template <class P>
[[gnu::always_inline]] constexpr void convolve_tiles(const P& params, const float* x, const float* weight,
                                                     const float* bias, float* y) noexcept {
  const Conv2d& c = numbers_of(params);
  const Index pixels = Index{c.in_h} * c.in_w;
  const Index places = Index{c.out_h} * c.out_w;
  for (Index n = 0; n < Index{c.batch} * c.groups; ++n) {
    const Index first = n % c.groups * c.group_filters();
    const auto take = [&]<Index Vectors>(Index f) __attribute__((always_inline)) {
      for (Index r = 0; r < c.out_h; ++r)
        tile_row<P, Vectors>(params, x + n * c.group_channels() * pixels, r, weight + first + f,
                             bias == nullptr ? nullptr : bias + first + f, c.group_filters() - f,
                             y + (n * c.group_filters() + f) * places + r * c.out_w);
    };
    if constexpr (is_constant<P>) {
      const Index packs = (c.group_filters() + simd - 1) / simd;
      const Index tiles = packs / tile_filters, rest = packs % tile_filters;
      for (Index i = 0; i < tiles; ++i) take.template operator()<tile_filters>(i * tile_filters * simd);
      for (Index i = 0; i < rest; ++i) take.template operator()<1>((tiles * tile_filters + i) * simd);
    } else {  // one tile of 8 filters, to which weights are padded
      for (Index f = 0; f < c.group_filters(); f += 8) take.template operator()<8 / simd>(f);
    }
  }
}

template <class P>
struct Flattened {
  static constexpr Conv2d value = P::value.flattened();
};
template <class P>
[[nodiscard, gnu::always_inline]] constexpr auto flattened(const P& params) noexcept {
  if constexpr (is_constant<P>) {
    return Flattened<P>{};
  } else {
    return params.flattened();
  }
}

}  // namespace detail

/// @name conv2d: y = conv2d(x, weight, bias), each sum in order of (channel, ky, kx), the bias last (or first, see
/// bias_first); `bias` is read only if Conv2d::bias says so. Taps in the padding are skipped. O(batch * filters *
/// places * taps). Source: at::convolution.
/// @{

/// For convolutions with Conv2d::has_tiles().
struct conv2d_tiles {
  using Params = Conv2d;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    const auto flat = detail::flattened(params);
    const Conv2d& c = numbers_of(flat);
    const float* added = c.bias != 0 ? bias : nullptr;
    if consteval {
      detail::convolve_filters<is_constant<P>>(c, x, weight, added, y);
    } else {
      detail::convolve_tiles(flat, x, weight, added, y);
    }
  }
};
/// Filter by filter, for any layout and groups.
struct conv2d_filters {
  using Params = Conv2d;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    const auto flat = detail::flattened(params);
    const Conv2d& c = numbers_of(flat);
    detail::convolve_filters<is_constant<P>>(c, x, weight, c.bias != 0 ? bias : nullptr, y);
  }
};
/// @}

/// A convolution over up to three dimensions, for elements of any type. Element (first, rest) of the weight, where
/// `first` indexes its dimension 0, is at first * first_step + rest * rest_step.
struct Convolution {
  std::int32_t batch = 1, channels = 1, filters = 1, groups = 1;
  Windows<3> windows{};
  std::int32_t first_step = 1, rest_step = 1, bias = 0;
};
/// y = conv(x, weight) + bias, or the transposed convolution, by plain loops. O(elements of y * channels / groups *
/// taps). Source: at::convolution.
template <bool Transposed>
struct convolve {
  using Params = Convolution;
  template <class P, class T, class B>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x, const T* weight,
                                                   const B* bias) noexcept {
    using C = Computed<T>;
    const Params& p = numbers_of(params);
    const Windows<3>& w = p.windows;
    const Index own_channels = p.channels / p.groups, own_filters = p.filters / p.groups;
    const Index taps = Index{w.kernel[0]} * w.kernel[1] * w.kernel[2], plane = w.in_plane();
    const auto each_place = [](const Windows<3>::Sizes& sizes, auto&& f) __attribute__((always_inline)) {
      for (Index a = 0; a < sizes[0]; ++a)
        for (Index b = 0; b < sizes[1]; ++b)
          for (Index c = 0; c < sizes[2]; ++c) f(std::array{a, b, c});
    };
    for (Index n = 0; n < p.batch; ++n)
      for (Index f = 0; f < p.filters; ++f) {
        const Index first_channel = f / own_filters * own_channels;
        const C start = p.bias != 0 ? kernels::convert<C>(bias[f]) : C{};
        each_place(w.out, [&](const std::array<Index, 3>& o) __attribute__((always_inline)) {
          C sum = start;
          each_place(w.kernel, [&](const std::array<Index, 3>& k) __attribute__((always_inline)) {
            Index at = 0;
            for (std::size_t d = 0; d < 3; ++d) {
              Index i = Transposed ? o[d] + w.padding[d] - k[d] * w.dilation[d]
                                   : o[d] * w.stride[d] - w.padding[d] + k[d] * w.dilation[d];
              if (Transposed) {
                if (i < 0 || i % w.stride[d] != 0) return;
                i /= w.stride[d];
              }
              if (i < 0 || i >= w.in[d]) return;
              at = at * w.in[d] + i;
            }
            const Index tap = (k[0] * w.kernel[1] + k[1]) * w.kernel[2] + k[2];
            const T* const from = x + (n * p.channels + first_channel) * plane + at;
            for (Index c = 0; c < own_channels; ++c) {
              const Index first = Transposed ? first_channel + c : f;
              const Index rest = (Transposed ? f % own_filters : c) * taps + tap;
              sum += loaded(from[c * plane]) * loaded(weight[first * p.first_step + rest * p.rest_step]);
            }
          });
          *y++ = kernels::convert<T>(sum);
        });
      }
  }
};

}  // namespace davit::static_kernels

/// Static lowering of convolutions.
namespace davit::static_lowering {

constexpr const char* lower_convolution(const EmbedNode& n, StepWriter& steps) {
  operators::ConvolutionView v;
  if (const operators::Refusal wrong = operators::read_convolution(n, v)) return wrong.what;
  if (const char* why = not_of_one_type(n, v.input, v.weight)) return why;
  const ScalarType type = n.g.dtype(v.input);
  if (!is_floating(type)) return "it is of integers";
  const bool inner = is_output_inner(n, v.weight);
  sf::Convolution c{.batch = v.batched ? int32(n.g.size(v.input, 0)) : 1,
                    .channels = int32(n.g.size(v.input, v.batched ? 1 : 0)),
                    .filters = int32(n.g.size(n.output(), v.batched ? 1 : 0)),
                    .groups = int32(v.groups)};
  c.windows = windows_of<3>(n, v);
  c.bias = v.bias != no_id ? 1 : 0;
  const sf::Windows<3>& w = c.windows;
  const bool same_padding = v.padding[1] == v.padding_end[1] && v.padding[2] == v.padding_end[2];
  if (type == ScalarType::float32 && !v.transposed && v.dims < 3 && same_padding &&
      (v.bias == no_id || n.g.dtype(v.bias) == ScalarType::float32)) {
    const sf::Conv2d p{.batch = c.batch,
                       .channels = c.channels,
                       .filters = c.filters,
                       .groups = c.groups,
                       .in_h = w.in[1],
                       .in_w = w.in[2],
                       .out_h = w.out[1],
                       .out_w = w.out[2],
                       .kernel_h = w.kernel[1],
                       .kernel_w = w.kernel[2],
                       .stride_h = w.stride[1],
                       .stride_w = w.stride[2],
                       .pad_h = w.padding[1],
                       .pad_w = w.padding[2],
                       .dilation_h = w.dilation[1],
                       .dilation_w = w.dilation[2],
                       .layout = inner ? sf::Layout::output_inner : sf::Layout::contiguous,
                       .bias = c.bias};
    StepOperands step = p.has_tiles() ? steps.step<sf::conv2d_tiles>(p) : steps.step<sf::conv2d_filters>(p);
    step.out(n.output()).in(v.input).in(v.weight).in(v.bias);
    return nullptr;
  }
  const std::int64_t first = n.g.size(v.weight, 0);
  c.first_step = inner ? 1 : int32(n.g.numel(v.weight) / first);
  c.rest_step = inner ? sf::padded_to_8(int32(first)) : 1;
  StepOperands step = v.transposed ? steps.step<sf::convolve<true>>(c) : steps.step<sf::convolve<false>>(c);
  step.out(n.output()).in(v.input).in(v.weight).in(v.bias);
  return nullptr;
}

using convolution_kernels = kernel_list<sf::conv2d_tiles, sf::conv2d_filters, sf::convolve<true>, sf::convolve<false>>;

inline constexpr std::array convolution_rows{
    EmbedRow{"aten.convolution.default", lower_convolution},
    EmbedRow{"aten.conv1d.default", lower_convolution},
    EmbedRow{"aten.conv2d.default", lower_convolution},
    EmbedRow{"aten.conv3d.default", lower_convolution},
};

}  // namespace davit::static_lowering
