// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace davit {

namespace detail {
template <std::size_t Bytes>
void move_row(const std::byte* from, std::int64_t from_step, std::byte* to, std::int64_t to_step,
              std::int64_t n) noexcept {
  for (; n > 0; --n, from += from_step, to += to_step) std::memcpy(to, from, Bytes);
}
}  // namespace detail

/// Moves n elements of 1, 2, 4, 8 or 16 bytes from one row to another that does not overlap; steps are in bytes. O(n).
[[gnu::noinline]] inline void move_row(std::size_t element, const std::byte* from, std::int64_t from_step,
                                       std::byte* to, std::int64_t to_step, std::int64_t n) noexcept {
  const auto bytes = static_cast<std::int64_t>(element);
  if (from_step == bytes && to_step == bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * element);
    return;
  }
  switch (element) {
    case 1: return detail::move_row<1>(from, from_step, to, to_step, n);
    case 2: return detail::move_row<2>(from, from_step, to, to_step, n);
    case 4: return detail::move_row<4>(from, from_step, to, to_step, n);
    case 8: return detail::move_row<8>(from, from_step, to, to_step, n);
    default: return detail::move_row<16>(from, from_step, to, to_step, n);
  }
}

}  // namespace davit
