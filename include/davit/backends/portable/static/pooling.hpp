// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/windows.hpp"
#include "davit/program/operators/pooling.hpp"

namespace davit::static_kernels {

/// Windows that slide over planes (batch times channels).
template <std::size_t Dims>
struct Pool {
  std::int32_t planes = 1;
  Windows<Dims> windows{};
  std::int32_t count_include_pad = 1;  ///< avg_pool alone
  std::int32_t divisor = 0;            ///< avg_pool alone; 0: the elements of the window
};

namespace detail {

/// The larger of each pair; of equal ones the first, and a NaN of `next` wins.
template <class V>
[[nodiscard, gnu::always_inline]] constexpr V larger(V best, V next) noexcept {
  const V kept = next > best ? next : best;
  return next != next ? next : kept;
}

/// The even elements of 2 N floats.
template <Index N>
[[nodiscard, gnu::always_inline]] inline Pack<N> load_even(const float* from) noexcept {
  const Pack<N> a = load<N>(from), b = load<N>(from + N);
  return [&]<Index... I>(std::integer_sequence<Index, I...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, (2 * I)...);
  }(std::make_integer_sequence<Index, N>{});
}
template <Index N>
[[nodiscard, gnu::always_inline]] inline Pack<N> load_odd(const float* from) noexcept {
  const Pack<N> a = load<N>(from), b = load<N>(from + N);
  return [&]<Index... I>(std::integer_sequence<Index, I...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, (2 * I + 1)...);
  }(std::make_integer_sequence<Index, N>{});
}

/// The maxima of N adjacent windows of two by two, with elements in row-major order.
template <Index N>
[[gnu::always_inline]] inline void max_of_pairs(const float* row, Index width, float* to) noexcept {
  const Pack<N> above = larger(load_even<N>(row), load_odd<N>(row));
  store<N>(to, larger(larger(above, load_even<N>(row + width)), load_odd<N>(row + width)));
}

/// Pools one plane with windows of two by two that do not overlap.
template <Index Lanes>
[[gnu::always_inline]] inline void max_pool_pairs(const Windows<2>& w, const float* x, float* y) noexcept {
  const Index in_w = w.in[1], out_w = w.out[1];
  for (Index r = 0; r < w.out[0]; ++r, y += out_w) {
    const float* row = x + 2 * r * in_w;
    Index i = 0;
    for (; i + Lanes <= out_w; i += Lanes) max_of_pairs<Lanes>(row + 2 * i, in_w, y + i);
    if constexpr (Lanes > 4)
      for (; i + 4 <= out_w; i += 4) max_of_pairs<4>(row + 2 * i, in_w, y + i);
    for (; i < out_w; ++i) {
      const float* at = row + 2 * i;
      y[i] = larger(larger(larger(at[0], at[1]), at[in_w]), at[in_w + 1]);
    }
  }
}
/// True for windows that max_pool_pairs takes.
[[nodiscard, gnu::always_inline]] constexpr bool is_pairs(const Windows<2>& w) noexcept {
  bool pairs = true;
  for (std::size_t d = 0; d < 2; ++d)
    pairs = pairs && w.kernel[d] == 2 && w.stride[d] == 2 && w.padding[d] == 0 && w.dilation[d] == 1 &&
            w.in[d] >= 2 * w.out[d];
  return pairs;
}

}  // namespace detail

/// y = the largest element of each window; a NaN wins, the last of several. O(planes * out * kernel).
/// Source: at::max_pool2d, at::max_pool3d.
template <std::size_t Dims>
struct max_pool {
  using Params = Pool<Dims>;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x) noexcept {
    using C = std::conditional_t<kernels::is_reduced_float<T>, float, T>;
    const Params& p = numbers_of(params);
    const Windows<Dims>& w = p.windows;
    if !consteval {
      if constexpr (Dims == 2 && std::is_same_v<T, float> && simd > 1 && kernels::compares_vectors) {
        if (detail::is_pairs(w)) {
          const Index in = w.in_plane(), out = Index{w.out[0]} * w.out[1];
          for (Index plane = 0; plane < p.planes; ++plane, x += in, y += out) detail::max_pool_pairs<simd>(w, x, y);
          return;
        }
      }
    }
    for (Index plane = 0; plane < p.planes; ++plane, x += w.in_plane())
      detail::each_window(w, [&](const auto&... ranges) __attribute__((always_inline)) {
        C best = ExtremeOf<true>::start<C>;
        detail::each_element(w, ranges..., [&](Index at) __attribute__((always_inline)) {
          best = detail::larger(best, kernels::convert<C>(x[at]));
        });
        *y++ = kernels::convert<T>(best);
      });
  }
};
/// max_pool with `places`: the index of each largest element in its plane. Source: at::max_pool2d_with_indices.
template <std::size_t Dims>
struct max_pool_places {
  using Params = Pool<Dims>;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, std::int64_t* places, const T* x) noexcept {
    const Params& p = numbers_of(params);
    const Windows<Dims>& w = p.windows;
    for (Index plane = 0; plane < p.planes; ++plane, x += w.in_plane())
      detail::each_window(w, [&](const auto&... ranges) __attribute__((always_inline)) {
        Index best = -1;
        detail::each_element(w, ranges..., [&](Index at) __attribute__((always_inline)) {
          if (best < 0 || x[at] != x[at] || x[at] > x[best]) best = at;
        });
        *y++ = x[best < 0 ? 0 : best];
        *places++ = best;
      });
  }
};

/// y = the mean of each window. O(planes * out * kernel). Source: at::avg_pool2d, at::avg_pool3d.
template <std::size_t Dims>
struct avg_pool {
  using Params = Pool<Dims>;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x) noexcept {
    using C = std::conditional_t<std::is_same_v<T, float>, float, Summed<T>>;
    const Params& p = numbers_of(params);
    const Windows<Dims>& w = p.windows;
    for (Index plane = 0; plane < p.planes; ++plane, x += w.in_plane())
      detail::each_window(w, [&](const auto&... ranges) __attribute__((always_inline)) {
        const Index elements = (std::max<Index>(ranges.end - ranges.begin, 0) * ...);
        const Index divisor = p.divisor != 0 ? p.divisor : p.count_include_pad != 0 ? (ranges.padded * ...) : elements;
        C sum{};
        detail::each_element(w, ranges...,
                             [&](Index at) __attribute__((always_inline)) { sum += kernels::convert<C>(x[at]); });
        *y++ = elements == 0 ? T{} : kernels::convert<T>(static_cast<Computed<T>>(sum / static_cast<C>(divisor)));
      });
  }
};

/// y = the mean of each of the out_h by out_w windows of a plane. O(planes * (in + out)). Source:
/// at::adaptive_avg_pool2d.
struct adaptive_avg_pool2d {
  struct Params {
    std::int32_t planes = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  };
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x) noexcept {
    const Params& p = numbers_of(params);
    const auto begin = [](Index i, Index in, Index out) { return i * in / out; };
    const auto end = [](Index i, Index in, Index out) { return ((i + 1) * in - 1) / out + 1; };
    for (Index plane = 0; plane < p.planes; ++plane, x += Index{p.in_h} * p.in_w)
      for (Index r = 0; r < p.out_h; ++r)
        for (Index c = 0; c < p.out_w; ++c) {
          const Index top = begin(r, p.in_h, p.out_h), bottom = end(r, p.in_h, p.out_h);
          const Index left = begin(c, p.in_w, p.out_w), right = end(c, p.in_w, p.out_w);
          float sum = 0;
          for (Index i = top; i < bottom; ++i)
            for (Index j = left; j < right; ++j) sum += x[i * p.in_w + j];
          *y++ = sum / static_cast<float>(bottom - top) / static_cast<float>(right - left);
        }
  }
};

}  // namespace davit::static_kernels

/// Static lowering of pooling.
namespace davit::static_lowering {

template <std::size_t Dims>
constexpr void write_pool(const EmbedNode& n, StepWriter& steps, const operators::PoolView& v) {
  sf::Pool<Dims> p{
      .windows = windows_of<Dims>(n, v), .count_include_pad = v.count_include_pad ? 1 : 0, .divisor = int32(v.divisor)};
  p.planes = int32(n.g.numel(v.input) / p.windows.in_plane());
  if (!v.maximum)
    steps.step<sf::avg_pool<Dims>>(p).out(n.output()).in(v.input);
  else if (n.uses_output(1))
    steps.step<sf::max_pool_places<Dims>>(p).out(n.output()).out(n.output(1)).in(v.input);
  else
    steps.step<sf::max_pool<Dims>>(p).out(n.output()).in(v.input);
}
constexpr const char* lower_pool(const EmbedNode& n, StepWriter& steps) {
  operators::PoolView v;
  if (const operators::Refusal wrong = operators::read_pool(n, v)) return wrong.what;
  if (const char* why = not_of_one_type(n, v.input, v.input)) return why;
  v.dims < 3 ? write_pool<2>(n, steps, v) : write_pool<3>(n, steps, v);
  return nullptr;
}
constexpr const char* lower_adaptive_pool(const EmbedNode& n, StepWriter& steps) {
  operators::AdaptivePoolView v;
  if (const operators::Refusal wrong = operators::read_adaptive_pool(n, v)) return wrong.what;
  if (const char* why = not_float(n, v.input)) return why;
  if (v.dims != 2) return "it is over other than two dimensions";
  const int32 h = int32(n.g.size(v.input, -2)), w = int32(n.g.size(v.input, -1));
  steps.step<sf::adaptive_avg_pool2d>({int32(n.g.numel(v.input)) / (h * w), h, w, int32(v.out[1]), int32(v.out[2])})
      .out(n.output())
      .in(v.input);
  return nullptr;
}

using pooling_kernels = kernel_list<sf::max_pool<2>, sf::max_pool<3>, sf::max_pool_places<2>, sf::max_pool_places<3>,
                                    sf::avg_pool<2>, sf::avg_pool<3>, sf::adaptive_avg_pool2d>;

inline constexpr std::array pooling_rows{
    EmbedRow{"aten.max_pool1d.default", lower_pool},
    EmbedRow{"aten.max_pool2d.default", lower_pool},
    EmbedRow{"aten.max_pool3d.default", lower_pool},
    EmbedRow{"aten.max_pool2d_with_indices.default", lower_pool},
    EmbedRow{"aten.max_pool3d_with_indices.default", lower_pool},
    EmbedRow{"aten.avg_pool1d.default", lower_pool},
    EmbedRow{"aten.avg_pool2d.default", lower_pool},
    EmbedRow{"aten.avg_pool3d.default", lower_pool},
    EmbedRow{"aten._adaptive_avg_pool2d.default", lower_adaptive_pool},
    EmbedRow{"aten.adaptive_avg_pool2d.default", lower_adaptive_pool},
};

}  // namespace davit::static_lowering
