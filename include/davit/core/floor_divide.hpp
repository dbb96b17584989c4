// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace davit {

/// True if the type can hold a / b: b is not zero, and the division is not INT_MIN / -1.
template <std::integral T>
[[nodiscard]] constexpr bool has_quotient(T a, T b) noexcept {
  if constexpr (std::is_signed_v<T>)
    return b != 0 && (b != T(-1) || a != std::numeric_limits<T>::min());
  else
    return b != 0;
}

/// Returns a / b rounded towards minus infinity, as Python's `//`, modulo 2^n: INT_MIN / -1 is INT_MIN. Returns 0 if b
/// is 0.
template <std::integral T>
[[nodiscard]] constexpr T floor_divide(T a, T b) noexcept {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return static_cast<T>(0 - static_cast<std::uint64_t>(a));
    const bool inexact = a % b != 0 && (a < 0) != (b < 0);
    return static_cast<T>(a / b - (inexact ? 1 : 0));
  } else {
    return static_cast<T>(a / b);
  }
}

/// Returns the remainder of floor_divide, as Python's `%`: it has the sign of b. Returns 0 if b is 0.
template <std::integral T>
[[nodiscard]] constexpr T floor_modulo(T a, T b) noexcept {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return 0;
    const T rest = static_cast<T>(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  } else {
    return static_cast<T>(a % b);
  }
}

}  // namespace davit
