// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "davit/backends/xnnpack/order.hpp"
#include "davit/backends/xnnpack/same_dims.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// The order of a view's dimensions, if it needs no copy: runs of old dimensions that make up runs of new ones must lie
/// one after another in memory. Nothing if that cannot be told.
[[nodiscard]] constexpr std::optional<Order> order_of_view(std::span<const Dim> from, const Order& order,
                                                           std::span<const Dim> to) noexcept {
  const auto is_one = [](const Dim& d) { return d.is_static() && d.value == 1; };
  std::array<std::uint8_t, max_dims> position{};  // of an old dimension in memory, those of size 1 left out
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
    do {  // products of numbers only: a symbol has to match alone
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
  Order out;
  for (std::size_t d = 0; d < to.size(); ++d) {
    std::size_t at = out.rank++;
    const auto before = [&](std::size_t a, std::size_t b) {
      if (is_one(to[a]) || is_one(to[b])) return is_one(to[a]) && !is_one(to[b]);  // those outermost
      return key[a] != key[b] ? key[a] < key[b] : minor[a] < minor[b];
    };
    for (; at > 0 && before(d, out.dim[at - 1]); --at) out.dim[at] = out.dim[at - 1];
    out.dim[at] = static_cast<std::uint8_t>(d);
  }
  return out;
}

}  // namespace detail

}  // namespace davit::xnnpack_parts
