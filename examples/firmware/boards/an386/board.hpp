// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace firmware::board {

inline constexpr const char* name = "an386";
inline constexpr std::uint64_t picoseconds_per_tick = 40'000;  // SysTick at 25 MHz

}  // namespace firmware::board
