// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/core/scalar_type.hpp"
#include "davit/core/target.hpp"
#include "davit/kernels/vectors.hpp"

/// Converts vectors of float16 and bfloat16 to float and back, by integer arithmetic, which every instruction set has,
/// or by the instructions of ARM64 and AVX-512; the results are exactly those of Half and BFloat16.
namespace davit::kernels {

namespace detail {
template <std::size_t Bytes>
using WordsOf = Vector<std::uint32_t, Bytes>;

template <std::size_t Bytes>
[[gnu::always_inline]] inline void store_low_halves(const WordsOf<Bytes>& words, std::uint16_t* to) noexcept {
  using Shorts = Vector<std::uint16_t, Bytes / 2>;
  vector_at<Bytes / 2>(to) = __builtin_convertvector(words, Shorts);
}
}  // namespace detail

/// Widens halves to the floats of a vector of `Bytes` bytes.
template <std::size_t Bytes>
[[gnu::always_inline]] inline void widen(const Half* from, float* to) noexcept {
  using Words = detail::WordsOf<Bytes>;
  using Floats = Vector<float, Bytes>;
  const Vector<std::uint16_t, Bytes / 2> halves = vector_at<Bytes / 2>(reinterpret_cast<const std::uint16_t*>(from));
  const Words word = __builtin_convertvector(halves, Words);
#if DAVIT_TARGET_ARM64 || (DAVIT_TARGET_X86_64 && !defined(__clang__))  // which refuses it outside AVX-512's functions
  constexpr std::size_t own_bytes = DAVIT_TARGET_ARM64 ? 16 : 64;
  if constexpr (Bytes == own_bytes) {
    Floats floats;
#if DAVIT_TARGET_ARM64
    asm("fcvtl %0.4s, %1.4h" : "=w"(floats) : "w"(halves));
#else
    asm("vcvtph2ps %1, %0" : "=v"(floats) : "v"(halves));
#endif
    // the instruction makes a signalling NaN quiet
    const auto kept = __builtin_bit_cast(Words, floats == floats) | word << 13 | ~0x00400000u;
    vector_at<Bytes>(to) = __builtin_bit_cast(Floats, __builtin_bit_cast(Words, floats) & kept);
    return;
  }
#endif
  const Words magnitude = word & 0x7fffu;
  const Words normal = (magnitude << 13) + 0x38000000u;
  const auto subnormal = __builtin_bit_cast(Words, __builtin_bit_cast(Floats, normal + 0x00800000u) - 0x1p-14f);
  Words result;
  take_where(magnitude < 0x400u, subnormal, normal, result);
  take_where(magnitude >= 0x7c00u, normal + 0x38000000u, result, result);
  vector_at<Bytes>(to) = __builtin_bit_cast(Floats, result | (word & 0x8000u) << 16);
}
template <std::size_t Bytes>
[[gnu::always_inline]] inline void widen(const BFloat16* from, float* to) noexcept {
  using Words = detail::WordsOf<Bytes>;
  const Words word =
      __builtin_convertvector((vector_at<Bytes / 2>(reinterpret_cast<const std::uint16_t*>(from))), Words);
  vector_at<Bytes>(to) = __builtin_bit_cast(Vector<float, Bytes>, word << 16);
}
/// Narrows the floats of a vector to the nearest half, ties to even; NaN becomes torch's NaN.
template <std::size_t Bytes>
[[gnu::always_inline]] inline void narrow(const float* from, Half* to) noexcept {
  using Words = detail::WordsOf<Bytes>;
  const Vector<float, Bytes> value = vector_at<Bytes>(from);
  const auto word = __builtin_bit_cast(Words, value);
#if DAVIT_TARGET_ARM64
  if constexpr (Bytes == 16) {
    Words quiet;  // the instruction would keep a NaN's bits
    take_where(value != value, (word & 0x80000000u) | 0x7fc00000u, word, quiet);
    Vector<std::uint16_t, 8> halves;
    asm("fcvtn %0.4h, %1.4s" : "=w"(halves) : "w"(quiet));
    vector_at<Bytes / 2>(reinterpret_cast<std::uint16_t*>(to)) = halves;
    return;
  }
#endif
  const Words magnitude = word & 0x7fffffffu;
  const Words normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
  const auto subnormal =
      __builtin_bit_cast(Words, __builtin_bit_cast(Vector<float, Bytes>, magnitude) + 0.5f) - 0x3f000000u;
  Words result;
  take_where(magnitude < 0x38800000u, subnormal, normal, result);
  take_where(magnitude >= 0x47800000u, Words{} + 0x7c00u, result, result);
  take_where(magnitude > 0x7f800000u, Words{} + 0x7e00u, result, result);
  result |= (word >> 16) & 0x8000u;
  detail::store_low_halves<Bytes>(result, reinterpret_cast<std::uint16_t*>(to));
}
template <std::size_t Bytes>
[[gnu::always_inline]] inline void narrow(const float* from, BFloat16* to) noexcept {
  using Words = detail::WordsOf<Bytes>;
  const Vector<float, Bytes> value = vector_at<Bytes>(from);
  const auto word = __builtin_bit_cast(Words, value);
  Words result;
  take_where((word & 0x7fffffffu) > 0x7f800000u, Words{} + 0x7fc0u, (word + 0x7fffu + ((word >> 16) & 1u)) >> 16,
             result);
  detail::store_low_halves<Bytes>(result, reinterpret_cast<std::uint16_t*>(to));
}

}  // namespace davit::kernels
