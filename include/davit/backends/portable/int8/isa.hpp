// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "davit/core/target.hpp"

#if DAVIT_TARGET_HELIUM_INTEGER
#define DAVIT_INT8_HELIUM 1
#include <arm_mve.h>
#elif DAVIT_TARGET_ARM_DSP
#define DAVIT_INT8_DSP 1
#include <arm_acle.h>
#endif

/// Kernels on 8-bit quantized tensors in NCHW, with weights in torch's layout: plain functions of pointers and
/// parameter structs.
///
/// Every kernel takes the instruction set as a template argument. Sums are exact in 32 bits and each result is rounded
/// once (`requantize`), so all instruction sets give the same bytes. uint8 tensors are computed as int8 with the sign
/// bit flipped (`flip`); zero points in the parameters are those of the int8 form.
namespace davit::int8_kernels {

/// C++ without intrinsics.
struct plain {
  static constexpr int pixels = 4;  ///< pixels that a convolution computes at once
};
/// Armv7E-M and Armv8-M DSP: pairs of 16-bit products.
struct dsp {
  static constexpr int pixels = 2;
};
/// Armv8.1-M vector extension for integers: 16 products of bytes in one instruction.
struct helium {
  static constexpr int pixels = 4;
};

#if defined(DAVIT_INT8_HELIUM)
using native = helium;
#elif defined(DAVIT_INT8_DSP)
using native = dsp;
#else
using native = plain;
#endif

/// The bit mask that converts an activation's byte to its int8 form and back.
template <class T>
inline constexpr std::uint8_t flip = std::is_same_v<T, std::uint8_t> ? 0x80 : 0;

template <class T>
[[nodiscard, gnu::always_inline]] constexpr std::int8_t to_int8(T v) noexcept {
  return static_cast<std::int8_t>(static_cast<std::uint8_t>(v) ^ flip<T>);
}
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T from_int8(std::int32_t v) noexcept {
  return static_cast<T>(static_cast<std::uint8_t>(v) ^ flip<T>);
}

/// Four bytes, at any alignment.
[[nodiscard, gnu::always_inline]] inline std::uint32_t load_word(const void* p) noexcept {
  std::uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}
[[gnu::always_inline]] inline void store_word(void* p, std::uint32_t word) noexcept {
  std::memcpy(p, &word, sizeof word);
}

/// Copies a row of activations in their int8 form. The empty asm keeps the compiler from calling memcpy and memset,
/// which small C libraries run byte by byte.
template <class T>
[[gnu::always_inline]] inline void copy_row(std::int8_t* to, const T* from, std::int32_t n) noexcept {
  const auto word = [&](std::int32_t i) {
    std::uint32_t bytes = load_word(from + i) ^ flip<T> * 0x01010101u;
    asm("" : "+r"(bytes));
    store_word(to + i, bytes);
  };
  const auto byte = [&](std::int32_t i) { to[i] = to_int8(from[i]); };
  if (n >= 4) {
    for (std::int32_t i = 0; i < n - 4; i += 4) word(i);
    return word(n - 4);
  }
  if (n > 0) byte(0);
  if (n > 1) byte(1);
  if (n > 2) byte(2);
}

/// Sets `n` bytes, and up to three more.
[[gnu::always_inline]] inline void fill_row(std::int8_t* to, std::int32_t value, std::int32_t n) noexcept {
  std::uint32_t bytes = static_cast<std::uint8_t>(value) * 0x01010101u;
  for (; n > 0; n -= 4, to += 4) {
    asm("" : "+r"(bytes));
    store_word(to, bytes);
  }
}

}  // namespace davit::int8_kernels
