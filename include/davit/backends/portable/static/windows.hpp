// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/static/operands.hpp"
#include "davit/backends/portable/static/packs.hpp"

namespace davit::static_kernels {

/// Windows over an image with `Dims` dimensions, the width last; an absent dimension has size 1.
template <std::size_t Dims>
struct Windows {
  using Sizes = std::array<std::int32_t, Dims>;
  Sizes in = all(1), out = all(1), kernel = all(1), stride = all(1), padding{}, dilation = all(1);

  [[nodiscard]] constexpr Index in_plane() const noexcept {
    Index product = 1;
    for (const std::int32_t size : in) product *= size;
    return product;
  }

 private:
  [[nodiscard]] static constexpr Sizes all(std::int32_t size) noexcept {
    Sizes sizes{};
    for (std::int32_t& each : sizes) each = size;
    return sizes;
  }
};

namespace detail {

/// The input indices of a window along one dimension: from `begin` in steps of the dilation, below `end`; `padded` is
/// their number with padding.
struct WindowRange {
  Index begin, end, padded;

  template <std::size_t Dims>
  [[gnu::always_inline]] constexpr WindowRange(const Windows<Dims>& w, std::size_t d, Index place) noexcept {
    const Index first = place * w.stride[d] - w.padding[d], dilation = w.dilation[d], size = w.in[d];
    const Index behind = first + (w.kernel[d] - 1) * dilation + 1;
    begin = first < 0 ? first + (dilation - 1 - first) / dilation * dilation : first;
    end = std::min<Index>(behind, size);
    padded = std::min<Index>(behind, size + w.padding[d]) - first;
  }
};

/// Calls f(a range for each dimension) for each output of a plane, in order.
template <class F>
[[gnu::always_inline]] constexpr void each_window(const Windows<2>& w, F&& f) noexcept {
  for (Index a = 0; a < w.out[0]; ++a) {
    const WindowRange rows(w, 0, a);
    for (Index b = 0; b < w.out[1]; ++b) f(rows, WindowRange(w, 1, b));
  }
}
template <class F>
[[gnu::always_inline]] constexpr void each_window(const Windows<3>& w, F&& f) noexcept {
  for (Index a = 0; a < w.out[0]; ++a)
    for (Index b = 0; b < w.out[1]; ++b)
      for (Index c = 0; c < w.out[2]; ++c) f(WindowRange(w, 0, a), WindowRange(w, 1, b), WindowRange(w, 2, c));
}
/// Calls f(offset in the plane) for each element of a window in order.
template <class F>
[[gnu::always_inline]] constexpr void each_element(const Windows<2>& w, const WindowRange& rows,
                                                   const WindowRange& columns, F&& f) noexcept {
  for (Index a = rows.begin; a < rows.end; a += w.dilation[0])
    for (Index b = columns.begin; b < columns.end; b += w.dilation[1]) f(a * w.in[1] + b);
}
template <class F>
[[gnu::always_inline]] constexpr void each_element(const Windows<3>& w, const WindowRange& depth,
                                                   const WindowRange& rows, const WindowRange& columns,
                                                   F&& f) noexcept {
  for (Index a = depth.begin; a < depth.end; a += w.dilation[0])
    for (Index b = rows.begin; b < rows.end; b += w.dilation[1])
      for (Index c = columns.begin; c < columns.end; c += w.dilation[2]) f((a * w.in[1] + b) * w.in[2] + c);
}

}  // namespace detail

}  // namespace davit::static_kernels

namespace davit::static_lowering {

/// Makes the windows of a convolution or pooling from its input and its first output.
template <std::size_t Dims, class View>
[[nodiscard]] constexpr sf::Windows<Dims> windows_of(const EmbedNode& n, const View& v) noexcept {
  sf::Windows<Dims> w;
  for (std::size_t d = 0; d < Dims; ++d) {
    const std::size_t from = d + 3 - Dims;
    w.kernel[d] = int32(v.kernel[from]);
    w.stride[d] = int32(v.stride[from]);
    w.padding[d] = int32(v.padding[from]);
    w.dilation[d] = int32(v.dilation[from]);
  }
  for (std::size_t d = 0; d < v.dims; ++d) {
    const std::int64_t from_end = -1 - static_cast<std::int64_t>(d);
    w.in[Dims - 1 - d] = int32(n.g.size(v.input, from_end));
    w.out[Dims - 1 - d] = int32(n.g.size(n.output(), from_end));
  }
  return w;
}

}  // namespace davit::static_lowering
