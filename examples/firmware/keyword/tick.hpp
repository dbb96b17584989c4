// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// Cortex-M's SysTick as a periodic interrupt. The program defines firmware_tick (see startup.cpp).
namespace keyword {

inline volatile std::uint32_t& systick(std::uintptr_t offset) {
  return *reinterpret_cast<volatile std::uint32_t*>(0xE000E010 + offset);
}
inline void start_ticks(std::uint32_t period) {
  systick(4) = period - 1;
  systick(8) = 0;
  systick(0) = 7;  // on, interrupts, the core's clock
}
inline void stop_ticks() { systick(0) = 0; }
/// Sleeps until an interrupt.
inline void wait() { asm volatile("wfi" ::: "memory"); }

}  // namespace keyword
