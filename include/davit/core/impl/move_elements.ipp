// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "davit/core/move_elements.hpp"
#include "davit/core/move_row.hpp"
#include "davit/core/tensor_view.hpp"
#include "davit/core/walk.hpp"

namespace davit {

namespace detail {
/// A plane to transpose: contiguous along dimension 1 in the source and along dimension 0 in the target; the other
/// steps are in bytes.
struct TransposedPlane {
  std::array<std::int64_t, 2> sizes;
  std::int64_t from_step;
  std::int64_t to_step;
};
/// Transposes a plane in tiles through a buffer, so that each cache line is read and written once.
template <std::size_t Bytes>
void move_transposed(const TransposedPlane& plane, const std::byte* from, std::byte* to) noexcept {
  constexpr std::size_t tile = Bytes == 1 ? 32 : 64 / Bytes;
  constexpr auto width = static_cast<std::int64_t>(tile);
  constexpr auto bytes = static_cast<std::int64_t>(Bytes);
  alignas(64) std::array<std::byte, tile * tile * Bytes> rows;
  alignas(64) std::array<std::byte, tile * Bytes> column;
  for (std::int64_t i = 0; i < plane.sizes[0]; i += width) {
    for (std::int64_t j = 0; j < plane.sizes[1]; j += width) {
      const std::byte* const source = from + i * plane.from_step + j * bytes;
      std::byte* const target = to + i * bytes + j * plane.to_step;
      const std::int64_t high = std::min(width, plane.sizes[0] - i);
      const std::int64_t wide = std::min(width, plane.sizes[1] - j);
      if (high != width || wide != width) {
        for (std::int64_t c = 0; c < wide; ++c)
          move_row<Bytes>(source + c * bytes, plane.from_step, target + c * plane.to_step, bytes, high);
        continue;
      }
      for (std::int64_t r = 0; r < width; ++r)
        std::memcpy(rows.data() + r * width * bytes, source + r * plane.from_step, tile * Bytes);
      for (std::int64_t c = 0; c < width; ++c) {
        move_row<Bytes>(rows.data() + c * bytes, width * bytes, column.data(), bytes, width);
        std::memcpy(target + c * plane.to_step, column.data(), tile * Bytes);
      }
    }
  }
}
/// Rows shorter than this are not worth a tile.
inline constexpr std::int64_t few_in_a_row = 4;
/// Returns a walk over the same elements with the target's contiguous dimension innermost, if there is one, and no
/// negative outer strides in the source.
[[nodiscard, gnu::noinline]] Walk upwards(Walk walk, std::size_t element, const std::byte*& from,
                                          std::byte*& to) noexcept {
  if (const std::size_t d = walk.transposed_dimension(1, element, few_in_a_row); d != 0) walk.swap(0, d);
  for (std::size_t d = 1; d < walk.rank; ++d) {
    if (walk.strides[0][d] >= 0) continue;
    from += (walk.sizes[d] - 1) * walk.strides[0][d];
    to += (walk.sizes[d] - 1) * walk.strides[1][d];
    for (std::size_t n = 0; n < 2; ++n) walk.strides[n][d] = -walk.strides[n][d];
  }
  return walk;
}
[[nodiscard]] bool is_walked_upwards(const Walk& walk, std::size_t element) noexcept {
  for (std::size_t d = 1; d < walk.rank; ++d)
    if (walk.strides[0][d] < 0) return false;
  return walk.strides[1][0] == static_cast<std::int64_t>(element);
}
/// Moves elements along a walk of upwards().
[[gnu::noinline]] void move_upwards(std::size_t element, const Walk& walk, const std::byte* from,
                                    std::byte* to) noexcept {
  if (walk.rank > 1 && walk.sizes[0] < few_in_a_row &&
      walk.sizes[1] >= few_in_a_row) {  // e.g. the colours of pixels: move one colour after the other
    Walk longer = walk;
    longer.swap(0, 1);
    return move_upwards(element, longer, from, to);
  }
  const bool by_rows = walk.strides[1][0] != static_cast<std::int64_t>(element) || walk.sizes[0] < few_in_a_row;
  const std::size_t turned = by_rows ? 0 : walk.transposed_dimension(0, element, few_in_a_row);
  if (turned == 0)
    return walk.for_each_row([&](const auto& at) {
      davit::move_row(element, from + at[0], walk.strides[0][0], to + at[1], walk.strides[1][0], walk.sizes[0]);
    });
  if (turned != 1) {
    Walk planes = walk;
    planes.swap(1, turned);
    return move_upwards(element, planes, from, to);
  }
  const TransposedPlane plane{{walk.sizes[0], walk.sizes[1]}, walk.strides[0][0], walk.strides[1][1]};
  walk.for_each_row(
      [&](const auto& at) {
        switch (element) {
          case 1: return move_transposed<1>(plane, from + at[0], to + at[1]);
          case 2: return move_transposed<2>(plane, from + at[0], to + at[1]);
          case 4: return move_transposed<4>(plane, from + at[0], to + at[1]);
          case 8: return move_transposed<8>(plane, from + at[0], to + at[1]);
          default: return move_transposed<16>(plane, from + at[0], to + at[1]);
        }
      },
      2);
}
}  // namespace detail

[[gnu::noinline]] void move_elements(std::size_t element, const Walk& walk, const void* from, void* to) noexcept {
  if (walk.count == 0) return;
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  if (detail::is_walked_upwards(walk, element)) return detail::move_upwards(element, walk, source, target);
  const Walk upwards = detail::upwards(walk, element, source, target);
  detail::move_upwards(element, upwards, source, target);
}
[[gnu::noinline]] void move_elements(std::size_t element, std::span<const std::int64_t> sizes, const void* from,
                                     std::span<const std::int64_t> from_strides, void* to,
                                     std::span<const std::int64_t> to_strides) noexcept {
  Walk walk(sizes);
  walk.add(from_strides, element).add(to_strides, element).collapse();
  move_elements(element, walk, from, to);
}

[[gnu::noinline]] void move_elements(const TensorView& from, const TensorView& to) noexcept {
  move_elements(size_of(from.dtype), from.sizes(), from.data, from.strides(), to.data, to.strides());
}

}  // namespace davit
