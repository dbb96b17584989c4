// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace davit {

/// True if b divides: it is not zero, and the quotient is a number of the type, which the most negative one by -1 is
/// not.
template <std::integral T>
[[nodiscard]] constexpr bool has_quotient(T a, T b) noexcept {
  if constexpr (std::is_signed_v<T>)
    return b != 0 && (b != T(-1) || a != std::numeric_limits<T>::min());
  else
    return b != 0;
}

/// The quotient rounded towards minus infinity, as Python's //, modulo 2^n: the most negative number by -1 is itself.
/// By zero it is zero.
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

/// The remainder of floor_divide, as Python's %: it has the sign of b. By zero it is zero.
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
