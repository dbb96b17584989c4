// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

namespace davit::kernels {

/// a * b + c, in one rounding where that is as fast, wherever the compiler moves it: what it fuses by itself depends on
/// the loop around.
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T multiply_add(T a, T b, T c) noexcept {
  if
    !consteval {
#if defined(__FP_FAST_FMAF)
      if constexpr (std::is_same_v<T, float>) return __builtin_fmaf(a, b, c);
#endif
#if defined(__FP_FAST_FMA)
      if constexpr (std::is_same_v<T, double>) return __builtin_fma(a, b, c);
#endif
    }
  return a * b + c;
}

}  // namespace davit::kernels
