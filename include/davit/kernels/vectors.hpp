// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// Vectors of GCC and clang. Functions on them are always inlined, so that they are compiled for the instruction set of
/// the function that uses them (instruction_set.hpp). They do not return vectors: the calling convention would depend
/// on the instruction set, and g++ warns of that even if there are no calls.
namespace davit::kernels {

/// Bytes of a vector register of the translation unit's target.
#if defined(__AVX512F__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t vector_bytes = 32;
#elif defined(__SSE2__) || defined(__ARM_NEON) || defined(__ALTIVEC__) || defined(__riscv_vector)
inline constexpr std::size_t vector_bytes = 16;
#elif defined(__wasm_simd128__) || (defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2))
inline constexpr std::size_t vector_bytes = 16;
#else
inline constexpr std::size_t vector_bytes = 8;
#endif

/// Vector registers of `Bytes` bytes of the translation unit's target, and of the instruction sets of
/// instruction_set.hpp.
#if defined(__aarch64__) || defined(__riscv_vector)
template <std::size_t Bytes>
inline constexpr std::size_t vector_registers = 32;
#else
template <std::size_t Bytes>
inline constexpr std::size_t vector_registers = Bytes == 64 ? 32 : 16;
#endif

/// True where there are many registers of few elements each (ARM64): loops take more vectors at once, so that they need
/// fewer instructions around their products.
template <std::size_t Bytes>
inline constexpr bool many_narrow_registers = vector_registers<Bytes> == 32 && Bytes == 16;

/// False where g++ (12.2) miscompiles nested selections between vectors (Helium's predicates).
#if defined(__ARM_FEATURE_MVE)
inline constexpr bool compares_vectors = false;
#else
inline constexpr bool compares_vectors = true;
#endif

/// True if kernels use vectors of `Bytes` bytes, with comparisons.
template <std::size_t Bytes>
inline constexpr bool walks_vectors = compares_vectors && Bytes >= 16;

/// A vector of `Bytes` bytes of `T`, with elementwise arithmetic.
template <class T, std::size_t Bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(Bytes)));
};

template <class T, std::size_t Bytes = vector_bytes>
using Vector = typename VectorOf<T, Bytes>::type;

/// Vectors of float of any size.
template <class V>
concept FloatVector = !std::is_class_v<V> && sizeof(V) > sizeof(float) && std::is_same_v<V, Vector<float, sizeof(V)>>;

template <class T, std::size_t Bytes = vector_bytes>
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(Bytes / sizeof(T));
/// Integers as wide as elements of T, for counting them.
template <class T>
using PlaceOf = std::conditional_t<sizeof(T) == sizeof(std::int32_t), std::int32_t, std::int64_t>;

/// Elements at any address as a vector, to be read or written.
template <class T, std::size_t Bytes>
struct VectorAt {
  typedef T type __attribute__((vector_size(Bytes), aligned(alignof(T)), may_alias));
};
template <std::size_t Bytes = vector_bytes, class T>
[[nodiscard, gnu::always_inline]] inline auto& vector_at(T* elements) noexcept {
  if constexpr (std::is_const_v<T>)
    return *reinterpret_cast<const typename VectorAt<std::remove_const_t<T>, Bytes>::type*>(elements);
  else
    return *reinterpret_cast<typename VectorAt<T, Bytes>::type*>(elements);
}
/// Turns a comparison's result into plain bits before it is combined with another's: g++ 12 would split such conditions
/// of 64 bytes element by element.
template <class Mask>
[[gnu::always_inline]] inline void keep_bits([[maybe_unused]] Mask& mask) noexcept {
#if defined(__x86_64__) && !defined(__clang__)
  asm("" : "+x"(mask));
#endif
}
/// to = mask ? a : b, for the mask of a comparison, bit by bit: for a choice between two comparisons of 64 bytes g++ 12
/// would branch per element.
template <class Mask, class V>
[[gnu::always_inline]] inline void take_where(const Mask& mask, const V& a, const V& b, V& to) noexcept {
  to = __builtin_bit_cast(V, (__builtin_bit_cast(Mask, a) & mask) | (__builtin_bit_cast(Mask, b) & ~mask));
}
/// to = isnan(v) ? v : other.
template <class V>
[[gnu::always_inline]] inline void take_nan(const V& v, const V& other, V& to) noexcept {
  take_where(v != v, v, other, to);
}
/// The sum of the elements, pairwise.
template <class T, std::size_t Bytes = vector_bytes>
[[nodiscard, gnu::always_inline]] inline T sum_of(const Vector<T, Bytes>& v) noexcept {
  if constexpr (Bytes > 16) {
    Vector<T, Bytes / 2> low, high;
    std::memcpy(&low, &v, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return sum_of<T, Bytes / 2>(low + high);
  } else {
    T parts[lanes<T, Bytes>];
    std::memcpy(parts, &v, sizeof v);
    for (std::int64_t half = lanes<T, Bytes> / 2; half > 0; half /= 2)
      for (std::int64_t i = 0; i < half; ++i) parts[i] += parts[i + half];
    return parts[0];
  }
}

}  // namespace davit::kernels
