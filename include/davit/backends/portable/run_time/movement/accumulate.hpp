// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "davit/core/scalar_type.hpp"
#include "davit/kernels/arithmetic.hpp"

namespace davit::portable_kernels {

/// The combination of a value with an existing one.
enum class Reduction : std::uint8_t { sum, prod, mean, amax, amin, unknown };

/// The reduction with this name in torch.
[[nodiscard]] constexpr Reduction reduction_named(std::string_view name) noexcept {
  if (name == "sum") return Reduction::sum;
  if (name == "prod") return Reduction::prod;
  if (name == "mean") return Reduction::mean;
  if (name == "amax") return Reduction::amax;
  return name == "amin" ? Reduction::amin : Reduction::unknown;
}

/// Combines a and b: integers modulo 2^n, NaN wins, of equal values the first stays; a mean sums. `T` is a compute
/// type.
template <class T>
[[nodiscard]] constexpr T accumulate(Reduction how, T a, T b) noexcept {
  switch (how) {
    case Reduction::prod: return kernels::wrap_mul(a, b);
    case Reduction::amax: return kernels::nan_max(a, b);
    case Reduction::amin: return kernels::nan_min(a, b);
    default: return kernels::wrap_add(a, b);
  }
}

/// The neutral value of the reduction.
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
