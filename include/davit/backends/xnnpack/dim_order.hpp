// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "davit/backends/xnnpack/call.hpp"

namespace davit::xnnpack_parts {

/// The dimensions of a tensor from outermost to innermost in memory: {0, 2, 3, 1} is NHWC.
struct DimOrder {
  std::array<std::uint8_t, max_dims> dim{};
  std::uint8_t rank = 0;
  friend constexpr bool operator==(const DimOrder&, const DimOrder&) = default;
  [[nodiscard]] static constexpr DimOrder row_major(std::size_t rank) noexcept {
    DimOrder o{.dim = {}, .rank = static_cast<std::uint8_t>(rank)};
    for (std::size_t d = 0; d < rank; ++d) o.dim[d] = static_cast<std::uint8_t>(d);
    return o;
  }
  /// Dimension 1 innermost, the others in order.
  [[nodiscard]] static constexpr DimOrder channels_last(std::size_t rank) noexcept {
    DimOrder o = row_major(rank);
    for (std::size_t d = 1; d + 1 < rank; ++d) o.dim[d] = static_cast<std::uint8_t>(d + 1);
    if (rank > 1) o.dim[rank - 1] = 1;
    return o;
  }
};

/// True if both orders put the elements in the same places: dimensions of size 1 do not matter.
[[nodiscard]] constexpr bool same_order(std::span<const Dim> dims, const DimOrder& a, const DimOrder& b) noexcept {
  if (a.rank != dims.size() || b.rank != dims.size()) return false;
  std::size_t i = 0;
  std::size_t k = 0;
  const auto is_one = [&](std::uint8_t d) { return dims[d].is_static() && dims[d].value == 1; };
  while (true) {
    while (i < a.rank && is_one(a.dim[i])) ++i;
    while (k < b.rank && is_one(b.dim[k])) ++k;
    if (i == a.rank || k == b.rank) return i == a.rank && k == b.rank;
    if (a.dim[i++] != b.dim[k++]) return false;
  }
}

namespace detail {

/// The order of a view's dimensions if it needs no copy: the old dimensions that form a group of new ones must be
/// adjacent in memory. Nothing if symbolic sizes leave that open.
[[nodiscard]] constexpr std::optional<DimOrder> order_of_view(std::span<const Dim> from, const DimOrder& order,
                                                              std::span<const Dim> to) noexcept {
  if (order.rank != from.size()) return std::nullopt;
  const auto is_one = [](const Dim& d) { return d.is_static() && d.value == 1; };
  std::array<std::uint8_t, max_dims> position{};  // of an old dimension in memory, without those of size 1
  std::uint8_t count = 0;
  for (std::size_t p = 0; p < order.rank; ++p)
    if (const std::size_t d = order.dim[p]; d < max_dims && !is_one(from[d])) position[d] = count++;
  std::array<std::uint8_t, max_dims> key{};  // of a new dimension
  std::array<std::uint8_t, max_dims> minor{};
  std::size_t i = 0;
  std::size_t k = 0;
  while (true) {
    while (i < from.size() && is_one(from[i])) ++i;
    while (k < to.size() && is_one(to[k])) ++k;
    if (i == from.size() || k == to.size()) break;
    if (same_dim(from[i], to[k])) {
      key[k++] = position[i++];
      continue;
    }
    const std::size_t first = i;
    std::int64_t old_size = 1;
    std::int64_t new_size = 1;
    std::uint8_t part = 0;
    do {  // products of fixed sizes only: a symbol must match by itself
      if (old_size <= new_size) {
        if (i == from.size() || !from[i].is_static()) return std::nullopt;
        if (!is_one(from[i]) && i != first && position[i] != position[first] + part) return std::nullopt;
        if (!is_one(from[i])) ++part;
        if (__builtin_mul_overflow(old_size, from[i++].value, &old_size)) return std::nullopt;
      } else {
        if (k == to.size() || !to[k].is_static()) return std::nullopt;
        key[k] = position[first];
        minor[k] = static_cast<std::uint8_t>(k);
        if (__builtin_mul_overflow(new_size, to[k++].value, &new_size)) return std::nullopt;
      }
    } while (old_size != new_size);
  }
  DimOrder out;
  for (std::size_t d = 0; d < to.size(); ++d) {
    std::size_t at = out.rank++;
    const auto before = [&](std::size_t a, std::size_t b) {
      if (is_one(to[a]) || is_one(to[b])) return is_one(to[a]) && !is_one(to[b]);  // dimensions of size 1 are outermost
      return key[a] != key[b] ? key[a] < key[b] : minor[a] < minor[b];
    };
    for (; at > 0 && before(d, out.dim[at - 1]); --at) out.dim[at] = out.dim[at - 1];
    out.dim[at] = static_cast<std::uint8_t>(d);
  }
  return out;
}

}  // namespace detail

}  // namespace davit::xnnpack_parts
