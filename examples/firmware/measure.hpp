// SPDX-License-Identifier: MIT
#pragma once
#include <board.hpp>
#include <cstddef>
#include <cstdint>

extern "C" std::uint32_t firmware_stack_limit[], firmware_stack_top[];

/// Measurements under `qemu -icount shift=0`, where one instruction takes one nanosecond.
namespace firmware {

/// Counts instructions by SysTick, which decreases by one every `board::nanoseconds_per_tick`, for at most 2^24 ticks.
class InstructionCounter {
 public:
  InstructionCounter() {
    reload() = 0xFFFFFF;
    current() = 0;
    control() = 5;  // on, the core's clock, no interrupt
    while (current() == 0) {
    }
    start_ = current();
  }
  /// Returns the instructions since construction, rounded to a tick. Repeat short code.
  std::uint64_t instructions() const {
    const std::uint32_t ticks = start_ - current();
    return static_cast<std::uint64_t>(ticks) * board::picoseconds_per_tick / 1000;
  }

 private:
  static volatile std::uint32_t& control() { return at(0xE000E010); }
  static volatile std::uint32_t& reload() { return at(0xE000E014); }
  static volatile std::uint32_t& current() { return at(0xE000E018); }
  static volatile std::uint32_t& at(std::uintptr_t address) {
    return *reinterpret_cast<volatile std::uint32_t*>(address);
  }
  std::uint32_t start_;
};

inline constexpr std::uint32_t stack_paint = 0xC5A3'5CE1;

/// Fills the unused part of the stack with a pattern.
[[gnu::noinline]] inline void paint_stack() {
  std::uint32_t marker = 0;
  // memory below this frame is free; the few words between belong to this function
  for (volatile std::uint32_t* word = firmware_stack_limit; word + 8 < &marker; ++word) *word = stack_paint;
}

/// Returns the bytes from the top of the stack to the deepest word written since `paint_stack`.
[[gnu::noinline]] inline std::size_t stack_used() {
  const volatile std::uint32_t* word = firmware_stack_limit;
  while (word != firmware_stack_top && *word == stack_paint) ++word;
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(firmware_stack_top) -
                                  reinterpret_cast<std::uintptr_t>(word));
}

/// Fills memory with a byte, so that painted_over can tell how much of it was written.
inline void paint(volatile std::byte* memory, std::size_t bytes, std::byte colour) {
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = colour;
}

/// Returns the offset after the last byte that lost the colour.
inline std::size_t painted_over(const volatile std::byte* memory, std::size_t bytes, std::byte colour) {
  while (bytes != 0 && memory[bytes - 1] == colour) --bytes;
  return bytes;
}

}  // namespace firmware
