// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "davit/core/walk.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// out[3 i + k] = the i-th of x, y and z.
[[gnu::always_inline]] inline void store_interleaved(float* out, const float* x, const float* y,
                                                     const float* z) noexcept {
  using Floats = kernels::Vector<float, 64>;
  const Floats a = kernels::vector_at<64>(x), b = kernels::vector_at<64>(y), c = kernels::vector_at<64>(z);
  const auto part = [&]<int First, std::size_t... I>(std::integral_constant<int, First>,
                                                     std::index_sequence<I...>) __attribute__((always_inline)) {
    constexpr auto at = [](std::size_t i) { return First + static_cast<int>(i); };
    // first x and y at their places, then z into the gaps
    const Floats ab = __builtin_shufflevector(a, b, (at(I) % 3 == 2 ? 0 : at(I) / 3 + 16 * (at(I) % 3))...);
    const Floats all = __builtin_shufflevector(ab, c, (at(I) % 3 == 2 ? at(I) / 3 + 16 : static_cast<int>(I))...);
    kernels::vector_at<64>(out + First) = all;
  };
  part(std::integral_constant<int, 0>{}, std::make_index_sequence<16>{});
  part(std::integral_constant<int, 16>{}, std::make_index_sequence<16>{});
  part(std::integral_constant<int, 32>{}, std::make_index_sequence<16>{});
}

struct InterleaveThree {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const std::uint32_t* from, std::int64_t from_step, std::uint32_t* to, std::int64_t as) noexcept {
    const auto* x = reinterpret_cast<const float*>(from);
    const float* y = x + from_step;
    const float* z = y + from_step;
    auto* out = reinterpret_cast<float*>(to);
    constexpr std::int64_t lanes = kernels::lanes<float, 64>;
    std::int64_t a = 0;
    for (; a + lanes <= as; a += lanes, out += 3 * lanes)
      store_interleaved(out, x + a, y + a, z + a);
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
  const std::int64_t count = w.sizes[0], from_step = w.strides[0][0], to_step = w.strides[1][0];
  const std::int64_t rows = w.rank > 1 ? w.sizes[1] : 1;
  const std::int64_t row_from = w.rank > 1 ? w.strides[0][1] : 0;
  const std::int64_t row_to = w.rank > 1 ? w.strides[1][1] : 0;
  w.for_each_row([&](const auto& at) {
    const T* const x = from + at[0];
    T* const y = to + at[1];
    if (from_step == 1 && to_step == 1) {
      for (std::int64_t r = 0; r < rows; ++r) std::memcpy(y + r * row_to, x + r * row_from, static_cast<std::size_t>(count) * sizeof(T));
    } else if (row_from == 1 && to_step == 1) {
      transpose(x, from_step, y, row_to, rows, count);
    } else {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < count; ++i) y[r * row_to + i * to_step] = x[r * row_from + i * from_step];
    }
  }, 2);
}

}  // namespace detail

/// Copies elements of `element` bytes along a walk of two operands, source and target, whose strides are in elements.
/// O(elements).
inline void copy_elements(const std::byte* from, std::byte* to, std::size_t element, Walk w) noexcept {
  if (w.count <= 0) return;
  w.sort_by(1);
  w.collapse();
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
