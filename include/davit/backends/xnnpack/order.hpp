// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/xnnpack/call.hpp"

namespace davit::xnnpack_parts {

/// The dimensions of a tensor from the outermost to the innermost in memory: {0, 2, 3, 1} is NHWC.
struct Order {
  std::array<std::uint8_t, max_dims> dim{};
  std::uint8_t rank = 0;
  friend constexpr bool operator==(const Order&, const Order&) = default;
  [[nodiscard]] static constexpr Order row_major(std::size_t rank) noexcept {
    Order o{.dim = {}, .rank = static_cast<std::uint8_t>(rank)};
    for (std::size_t d = 0; d < rank; ++d) o.dim[d] = static_cast<std::uint8_t>(d);
    return o;
  }
  /// Dimension 1 innermost, the others in order.
  [[nodiscard]] static constexpr Order channels_last(std::size_t rank) noexcept {
    Order o = row_major(rank);
    for (std::size_t d = 1; d + 1 < rank; ++d) o.dim[d] = static_cast<std::uint8_t>(d + 1);
    if (rank > 1) o.dim[rank - 1] = 1;
    return o;
  }
};

/// True if the two orders put the elements at the same places: dimensions of size 1 do not matter.
[[nodiscard]] constexpr bool same_order(std::span<const Dim> dims, const Order& a, const Order& b) noexcept {
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

}  // namespace davit::xnnpack_parts
