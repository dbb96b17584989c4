// SPDX-License-Identifier: MIT
#pragma once

namespace davit {

/// Rounds to the nearest integer, ties to even, in constant evaluation too. Requires |v| < 2^51.
[[nodiscard]] constexpr double nearest_even(double v) noexcept {
  constexpr double magic = 6755399441055744.0;
  return (v + magic) - magic;
}

}  // namespace davit
