// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace firmware::board {

inline constexpr const char* name = "an547";
inline constexpr std::uint64_t picoseconds_per_tick = 31'250;  // SysTick at 32 MHz

}  // namespace firmware::board
