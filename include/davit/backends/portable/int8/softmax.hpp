// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

#include "davit/backends/portable/int8/requantize.hpp"

namespace davit::int8_kernels {

struct Softmax {
  std::int32_t rows = 1, count = 1;
  std::int32_t powers[8] = {};     ///< exp(-scale * 2^i) in units of 2^-31
  std::int32_t start = 0;          ///< 1.0 in units for which `count` of them fit 31 bits
  std::int32_t inverse_scale = 0;  ///< 2^8 / output scale
  std::int32_t output_zero_point = -128;
};

/// y = softmax(x) along contiguous rows. The exponential of a difference of bytes is a product of at most eight
/// constants, one per bit. Off by less than 1/64 of an output step of 1/256.
template <class T>
[[gnu::always_inline]] constexpr void softmax(const T* x, T* y, const Softmax& p) noexcept {
  const auto exponential = [&](std::int32_t difference) {
    std::int32_t e = p.start;
    for (const std::int32_t* power = p.powers; difference != 0; ++power, difference >>= 1)
      if ((difference & 1) != 0) e = multiply_high(e, *power) * 2;
    return static_cast<std::uint32_t>(e);
  };
  for (std::int32_t row = 0; row < p.rows; ++row, x += p.count, y += p.count) {
    std::int32_t most = x[0];
    for (std::int32_t i = 1; i < p.count; ++i) most = x[i] > most ? x[i] : most;
    std::uint32_t sum = 0;
    for (std::int32_t i = 0; i < p.count; ++i) sum += exponential(most - x[i]);
    const int up = std::countl_zero(sum);
    const std::uint32_t reciprocal = 0xffffffffu / ((sum << up) >> 16);  // 2^48 / (sum << up)
    for (std::int32_t i = 0; i < p.count; ++i) {
      const std::uint64_t wide = static_cast<std::uint64_t>(exponential(most - x[i]) << up) * reciprocal;
      const auto probability = static_cast<std::uint32_t>(wide >> 24);  // in units of 2^-24
      const std::uint64_t scaled =
          static_cast<std::uint64_t>(probability) * static_cast<std::uint32_t>(p.inverse_scale);
      y[i] = from_int8<T>(
          saturate(static_cast<std::int32_t>((scaled + (std::uint64_t{1} << 31)) >> 32) + p.output_zero_point));
    }
  }
}

}  // namespace davit::int8_kernels
