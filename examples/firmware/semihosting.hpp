// SPDX-License-Identifier: MIT
#pragma once
#include <concepts>
#include <cstdint>

/// Calls to the debugger (Arm's "Semihosting for AArch32 and AArch64"): text output and exit status, without printf.
namespace firmware {

inline std::uint32_t semihosting(std::uint32_t operation, const volatile void* argument) {
  register std::uint32_t r0 asm("r0") = operation;
  register const volatile void* r1 asm("r1") = argument;
  asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

/// SYS_EXIT_EXTENDED: ends the emulator with this exit status.
[[noreturn]] inline void exit(int status) {
  const volatile std::uint32_t block[2] = {0x20026, static_cast<std::uint32_t>(status)};
  semihosting(0x20, block);
  for (;;) {
  }
}

/// SYS_WRITE0: writes zero-terminated text.
[[gnu::noinline]] inline void write(const char* text) { semihosting(0x04, text); }

[[gnu::noinline]] inline void write(std::int64_t number) {
  char digits[24];
  char* first = digits + sizeof digits;
  *--first = '\0';
  auto rest = number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  do {
    *--first = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (number < 0) *--first = '-';
  write(first);
}

template <std::integral T>
void write(T number) {
  write(static_cast<std::int64_t>(number));
}

/// Prints one line: `print("stack=", bytes)`.
template <class... Parts>
void print(Parts... parts) {
  (write(parts), ...);
  write("\n");
}

}  // namespace firmware
