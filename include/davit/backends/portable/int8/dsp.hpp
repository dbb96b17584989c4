// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/int8/isa.hpp"

#if defined(DAVIT_INT8_DSP)

namespace davit::int8_kernels {

/// Bytes 0 and 2 of a word as two int16.
[[nodiscard, gnu::always_inline]] inline std::int32_t even_bytes(std::uint32_t word) noexcept { return __sxtb16(word); }
/// Bytes 1 and 3 of a word. ACLE has no SXTB16 with a rotation.
[[nodiscard, gnu::always_inline]] inline std::int32_t odd_bytes(std::uint32_t word) noexcept {
  std::int32_t pair;
  asm("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}
/// Bytes 1 and 3 plus a pair of int16.
[[nodiscard, gnu::always_inline]] inline std::int32_t add_odd_bytes(std::int32_t offset, std::uint32_t word) noexcept {
  std::int32_t pair;
  asm("sxtab16 %0, %1, %2, ror #8" : "=r"(pair) : "r"(offset), "r"(word));
  return pair;
}
[[nodiscard, gnu::always_inline]] inline std::int32_t pair_of(std::int32_t low, std::int32_t high) noexcept {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(low) & 0xffffu) | static_cast<std::uint32_t>(high)
                                                                                     << 16);
}
/// The first `n` bytes, at most four, followed by zeros.
[[nodiscard, gnu::always_inline]] inline std::uint32_t load_some(const std::int8_t* p, std::int32_t n) noexcept {
  std::uint32_t word = 0;
  for (std::int32_t i = n < 4 ? n : 4; i > 0; --i) word = word << 8 | static_cast<std::uint8_t>(p[i - 1]);
  return word;
}

}  // namespace davit::int8_kernels

#endif
