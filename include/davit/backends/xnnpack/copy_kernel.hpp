// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/vectors.hpp"
#include "davit/kernels/instruction_set.hpp"

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

namespace detail {

struct InterleaveThree {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const std::uint32_t* from, std::int64_t from_step, std::uint32_t* to, std::int64_t as) noexcept {
    const auto* x = reinterpret_cast<const float*>(from);
    const float* y = x + from_step;
    const float* z = y + from_step;
    auto* out = reinterpret_cast<float*>(to);
    std::int64_t a = 0;
    for (; a + vectors::lanes <= as; a += vectors::lanes, out += 3 * vectors::lanes)
      vectors::store_interleaved(out, x + a, y + a, z + a);
    for (; a < as; ++a, out += 3)
      std::memcpy(out, x + a, 4), std::memcpy(out + 1, y + a, 4), std::memcpy(out + 2, z + a, 4);
  }
};
/// to[3 a + b] = from[b * from_step + a] for three b: the colours of an image come together.
inline void interleave_three(const std::uint32_t* from, std::int64_t from_step, std::uint32_t* to, std::int64_t as) noexcept {
  kernels::run_widest<InterleaveThree>(from, from_step, to, as);
}

/// to[a * to_step + b] = from[b * from_step + a], in blocks that stay in the cache.
template <class T>
void transpose(const T* from, std::int64_t from_step, T* to, std::int64_t to_step, std::int64_t as,
               std::int64_t bs) noexcept {
  if constexpr (sizeof(T) == 4)
    if (bs == 3 && to_step == 3) return interleave_three(from, from_step, to, as);
  constexpr std::int64_t block = 16;
  for (std::int64_t a0 = 0; a0 < as; a0 += block)
    for (std::int64_t b0 = 0; b0 < bs; b0 += block) {
      const std::int64_t a1 = std::min(a0 + block, as);
      const std::int64_t b1 = std::min(b0 + block, bs);
      for (std::int64_t a = a0; a < a1; ++a)
        for (std::int64_t b = b0; b < b1; ++b) to[a * to_step + b] = from[b * from_step + a];
    }
}

template <class T>
void copy_walk(const T* from, T* to, const Walk& w) noexcept {
  // the two innermost dimensions by hand, the others by counting
  const std::size_t outer = w.rank > 2 ? w.rank - 2 : 0;
  const std::size_t in = w.rank - 1;
  const std::int64_t rows = w.rank > 1 ? w.size[in - 1] : 1;
  const std::int64_t row_from = w.rank > 1 ? w.from[in - 1] : 0;
  const std::int64_t row_to = w.rank > 1 ? w.to[in - 1] : 0;
  std::array<std::int64_t, max_dims> index{};
  while (true) {
    if (w.from[in] == 1 && w.to[in] == 1) {
      for (std::int64_t r = 0; r < rows; ++r)
        std::memcpy(to + r * row_to, from + r * row_from, static_cast<std::size_t>(w.size[in]) * sizeof(T));
    } else if (row_from == 1 && w.to[in] == 1) {
      transpose(from, w.from[in], to, row_to, rows, w.size[in]);
    } else {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < w.size[in]; ++i)
          to[r * row_to + i * w.to[in]] = from[r * row_from + i * w.from[in]];
    }
    std::size_t d = outer;
    for (; d-- > 0;) {
      from += w.from[d];
      to += w.to[d];
      if (++index[d] < w.size[d]) break;
      from -= w.from[d] * w.size[d];
      to -= w.to[d] * w.size[d];
      index[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace detail

/// Copies elements of `element` bytes. O(elements).
inline void copy_elements(const std::byte* from, std::byte* to, std::size_t element, Walk w) noexcept {
  for (std::size_t d = 0; d < w.rank; ++d)
    if (w.size[d] <= 0) return;
  simplify(w);
  if (w.rank == 0) {
    std::memcpy(to, from, element);
    return;
  }
  const auto run = [&]<class T>(T) {
    detail::copy_walk(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), w);
  };
  if (element == 4)
    run(std::uint32_t{});
  else if (element == 1)
    run(std::uint8_t{});
  else if (element == 8)
    run(std::uint64_t{});
  else if (element == 2)
    run(std::uint16_t{});
}

}  // namespace davit::xnnpack_parts
