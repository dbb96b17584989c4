// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/static/lowering/operands.hpp"
#include "davit/backends/portable/static/windows.hpp"

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
