// SPDX-License-Identifier: MIT
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/core/target.hpp"

#if DAVIT_TARGET_X86_64
#include <smmintrin.h>
#include <wmmintrin.h>
#endif

namespace davit::formats {

namespace detail {

#if DAVIT_TARGET_X86_64
/// Updates an inverted CRC-32 with n bytes, 64 at a time. n must be a multiple of 16 and at least 64.
/// Source: V. Gopal and others, Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction.
[[nodiscard, gnu::target("pclmul,sse4.1")]] inline std::uint32_t fold_crc32(std::uint32_t crc, const std::byte* data,
                                                                            std::size_t n) noexcept {
  const auto load = [&data](std::size_t i) __attribute__((target("pclmul,sse4.1"))) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i);
  };
  // shifts x by 512 or 128 bits (mod the polynomial) and adds `there`
  const auto fold = [](__m128i x, __m128i by, __m128i there) __attribute__((target("pclmul,sse4.1"))) {
    return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00), _mm_clmulepi64_si128(x, by, 0x11)), there);
  };
  const __m128i by_512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4), by_128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  __m128i x = _mm_xor_si128(load(0), _mm_cvtsi32_si128(static_cast<int>(crc))), y = load(1), z = load(2), w = load(3);
  for (data += 64, n -= 64; n >= 64; data += 64, n -= 64) {
    x = fold(x, by_512, load(0));
    y = fold(y, by_512, load(1));
    z = fold(z, by_512, load(2));
    w = fold(w, by_512, load(3));
  }
  x = fold(fold(fold(x, by_128, y), by_128, z), by_128, w);
  for (; n >= 16; data += 16, n -= 16) x = fold(x, by_128, load(0));
  const __m128i low = _mm_setr_epi32(-1, 0, -1, 0);
  x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, by_128, 0x10));
  x = _mm_xor_si128(_mm_srli_si128(x, 4),
                    _mm_clmulepi64_si128(_mm_and_si128(x, low), _mm_set_epi64x(0, 0x163cd6124), 0x00));
  const __m128i polynomial = _mm_set_epi64x(0x1f7011641, 0x1db710641);
  const __m128i quotient = _mm_and_si128(_mm_clmulepi64_si128(_mm_and_si128(x, low), polynomial, 0x10), low);
  return static_cast<std::uint32_t>(
      _mm_extract_epi32(_mm_xor_si128(x, _mm_clmulepi64_si128(quotient, polynomial, 0x00)), 1));
}
#endif

}  // namespace detail

/// Returns the CRC-32 of bytes that follow bytes with CRC-32 `crc`. O(size); 16 bytes per instruction on CPUs with
/// carry-less multiplication.
[[nodiscard]] inline std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t crc = 0) noexcept {
#if DAVIT_TARGET_X86_64
  static const bool folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  if (const std::size_t whole = bytes.size() / 16 * 16; folds && whole >= 64) {
    crc = ~detail::fold_crc32(~crc, bytes.data(), whole);
    bytes = bytes.subspan(whole);
  }
#endif
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace davit::formats
