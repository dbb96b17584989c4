// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "davit/kernels/multiply_add.hpp"

namespace davit::portable_kernels {

/// Bytes of a vector register of the target the translation unit is compiled for.
#if defined(__AVX512F__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t vector_bytes = 32;
#elif defined(__SSE2__) || defined(__ARM_NEON) || defined(__ALTIVEC__) || defined(__riscv_vector)
inline constexpr std::size_t vector_bytes = 16;
#elif defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
inline constexpr std::size_t vector_bytes = 16;
#else
inline constexpr std::size_t vector_bytes = 8;
#endif

/// A vector of `Bytes` bytes of `T`, as GCC and clang provide it; arithmetic is element by element.
template <class T, std::size_t Bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(Bytes)));
};

template <class T, std::size_t Bytes = vector_bytes>
using Vector = typename VectorOf<T, Bytes>::type;

template <class T>
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(vector_bytes / sizeof(T));

/// The vector at any address.
template <class T>
[[nodiscard]] inline Vector<T> load_vector(const T* from) noexcept {
  Vector<T> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class T>
inline void store_vector(T* to, const Vector<T>& v) noexcept {
  std::memcpy(to, &v, sizeof v);
}
/// As many elements as a vector of double has, converted.
template <class T>
[[nodiscard]] inline Vector<double> load_as_double(const T* from) noexcept {
  if constexpr (sizeof(T) == sizeof(double)) {
    return load_vector(from);
  } else {
    Vector<T, vector_bytes * sizeof(T) / sizeof(double)> v;
    std::memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, Vector<double>);
  }
}
/// The sum of the elements, in order of pairs.
template <class T>
[[nodiscard]] inline T sum_of(const Vector<T>& v) noexcept {
  T parts[lanes<T>];
  std::memcpy(parts, &v, sizeof v);
  for (std::int64_t half = lanes<T> / 2; half > 0; half /= 2)
    for (std::int64_t i = 0; i < half; ++i) parts[i] += parts[i + half];
  return parts[0];
}

/// Keeps g++ -O3 from vectorising the loop whose sum this is: it would multiply in vectors and add one by one, and so
/// round products that it fuses with the sum everywhere else.
template <class T>
[[gnu::always_inline]] inline void sum_in_order([[maybe_unused]] T& sum) noexcept {
#if defined(__clang__)
#elif defined(__SSE2__)
  asm("" : "+x"(sum));
#elif defined(__aarch64__)
  asm("" : "+w"(sum));
#elif defined(__ARM_FEATURE_MVE) || defined(__ARM_NEON)
  asm("" : "+t"(sum));
#endif
}

using kernels::multiply_add;

/// y[i] = factor * x[i] + shift. O(n).
template <class T>
inline void scale_and_shift(T factor, T shift, const T* x, T* y, std::int64_t n) noexcept {
  std::int64_t i = 0;
  for (; i + lanes<T> <= n; i += lanes<T>) store_vector<T>(y + i, load_vector(x + i) * factor + shift);
  for (; i < n; ++i) y[i] = factor * x[i] + shift;
}

}  // namespace davit::portable_kernels
