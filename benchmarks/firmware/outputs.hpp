// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <cstdint>

namespace benchmark {

/// Converts an output to a number that can be printed without floating point: int8 unchanged, float as its bits.
inline std::int32_t as_integer(std::int8_t value) { return value; }
inline std::int32_t as_integer(float value) { return std::bit_cast<std::int32_t>(value); }

}  // namespace benchmark
