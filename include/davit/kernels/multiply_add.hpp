// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "davit/core/target.hpp"

namespace davit::kernels {

/// a * b + c, with one rounding where the target has a fast instruction, in every context: the compiler's own fusing
/// depends on the loop.
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T multiply_add(T a, T b, T c) noexcept {
  if !consteval {
#if defined(__FP_FAST_FMAF)
    if constexpr (std::is_same_v<T, float>) return __builtin_fmaf(a, b, c);
#endif
#if defined(__FP_FAST_FMA)
    if constexpr (std::is_same_v<T, double>) return __builtin_fma(a, b, c);
#endif
  }
  return a * b + c;
}

/// to += a * b for vectors, with two roundings on every instruction set: g++ would fuse them where there is an
/// instruction.
template <class V, class A>
[[gnu::always_inline]] inline void add_product(const V& a, const A& b, V& to) noexcept {
  V product = a * b;
#if defined(__clang__)  // fuses within expressions alone
#elif DAVIT_TARGET_SSE2
  asm("" : "+v"(product));
#elif DAVIT_TARGET_ARM64
  asm("" : "+w"(product));
#else
  product = __builtin_assoc_barrier(product);  // g++ 12 takes large vectors apart here
#endif
  to += product;
}

/// Keeps g++ -O3 from vectorizing a loop with this sum: it would multiply in vectors and add one by one, and so round
/// products that it fuses with the sum elsewhere.
template <class T>
[[gnu::always_inline]] inline void sum_in_order([[maybe_unused]] T& sum) noexcept {
#if defined(__clang__)
#elif DAVIT_TARGET_SSE2
  asm("" : "+x"(sum));
#elif DAVIT_TARGET_ARM64
  asm("" : "+w"(sum));
#elif DAVIT_TARGET_HELIUM || DAVIT_TARGET_NEON
  asm("" : "+t"(sum));
#endif
}

}  // namespace davit::kernels
