// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "davit/core/scalar_type.hpp"

namespace davit::portable_kernels {

/// How a value is worked into one that is already there.
enum class Reduction : std::uint8_t { sum, prod, mean, amax, amin, unknown };

/// The reduction that torch calls by this name.
[[nodiscard]] constexpr Reduction reduction_named(std::string_view name) noexcept {
  if (name == "sum") return Reduction::sum;
  if (name == "prod") return Reduction::prod;
  if (name == "mean") return Reduction::mean;
  if (name == "amax") return Reduction::amax;
  return name == "amin" ? Reduction::amin : Reduction::unknown;
}

/// a and b combined: integers modulo 2^n, NaN prevails; a mean adds up. `T` is a type C++ computes in.
template <class T>
[[nodiscard]] constexpr T accumulate(Reduction how, T a, T b) noexcept {
  switch (how) {
    case Reduction::prod:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      else
        return a * b;
    case Reduction::amax: return a != a || a > b ? a : b;
    case Reduction::amin: return a != a || a < b ? a : b;
    default:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
      else
        return a + b;
  }
}

/// The value that leaves any other as it is.
template <class T>
[[nodiscard]] constexpr T identity(Reduction how) noexcept {
  using Limits = std::numeric_limits<T>;
  switch (how) {
    case Reduction::prod: return T(1);
    case Reduction::amax: return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
    case Reduction::amin: return Limits::has_infinity ? Limits::infinity() : Limits::max();
    default: return T(0);
  }
}

}  // namespace davit::portable_kernels
