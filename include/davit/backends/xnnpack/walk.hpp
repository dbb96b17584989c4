// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "davit/backends/xnnpack/call.hpp"

namespace davit::xnnpack_parts {

/// Sizes and element strides of a tensor that kernels walk through.
struct Walk {
  std::array<std::int64_t, max_dims> size{};
  std::array<std::int64_t, max_dims> from{};
  std::array<std::int64_t, max_dims> to{};
  std::size_t rank = 0;
};

/// Sorts the dimensions by the destination's strides, the largest first, and joins those that both sides step through
/// alike.
inline void simplify(Walk& w) noexcept {
  std::size_t kept = 0;
  for (std::size_t d = 0; d < w.rank; ++d) {
    if (w.size[d] == 1) continue;
    w.size[kept] = w.size[d], w.from[kept] = w.from[d], w.to[kept] = w.to[d];
    ++kept;
  }
  w.rank = kept;
  for (std::size_t i = 1; i < w.rank; ++i)
    for (std::size_t k = i; k > 0 && w.to[k] > w.to[k - 1]; --k) {
      std::swap(w.size[k], w.size[k - 1]);
      std::swap(w.from[k], w.from[k - 1]);
      std::swap(w.to[k], w.to[k - 1]);
    }
  for (std::size_t d = 0; d + 1 < w.rank;) {
    if (w.to[d] == w.to[d + 1] * w.size[d + 1] && w.from[d] == w.from[d + 1] * w.size[d + 1]) {
      w.size[d] *= w.size[d + 1];
      w.from[d] = w.from[d + 1];
      w.to[d] = w.to[d + 1];
      for (std::size_t k = d + 1; k + 1 < w.rank; ++k)
        w.size[k] = w.size[k + 1], w.from[k] = w.from[k + 1], w.to[k] = w.to[k + 1];
      --w.rank;
    } else {
      ++d;
    }
  }
}

}  // namespace davit::xnnpack_parts
