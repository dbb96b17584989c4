// SPDX-License-Identifier: MIT
// Start-up code of a bare Cortex-M with an FPU: vectors, memory, main, exit. No static constructors (link.ld rejects
// them). A program with SysTick interrupts defines firmware_tick.
#include <cstdint>

#include "semihosting.hpp"

extern "C" {
extern std::uint32_t firmware_data_load[], firmware_data_begin[], firmware_data_end[];
extern std::uint32_t firmware_bss_begin[], firmware_bss_end[];
extern std::uint32_t firmware_stack_top[];
[[noreturn]] void firmware_reset();
[[noreturn]] void firmware_fault();
void firmware_tick();
}
int main();

namespace {

using Handler = void (*)();
struct Vectors {
  std::uint32_t* stack;
  Handler handlers[15];
};
volatile std::uint32_t& device_register(std::uintptr_t address) {
  return *reinterpret_cast<volatile std::uint32_t*>(address);
}

}  // namespace

[[gnu::section(".vectors"), gnu::used]] constinit const Vectors firmware_vectors{
    firmware_stack_top,
    {firmware_reset, firmware_fault, firmware_fault, firmware_fault, firmware_fault, firmware_fault, firmware_fault,
     nullptr, nullptr, nullptr, firmware_fault, firmware_fault, nullptr, firmware_fault, firmware_tick}};

extern "C" void firmware_fault() { firmware::exit(99); }
extern "C" [[gnu::weak]] void firmware_tick() { firmware_fault(); }
extern "C" void abort() { firmware::exit(98); }

extern "C" void firmware_reset() {
  device_register(0xE000ED88) =
      device_register(0xE000ED88) | 0xFU << 20;  // CPACR: coprocessors 10 and 11, the FPU (and MVE)
#ifdef __ARM_FEATURE_MVE
  device_register(0xE000ED14) = device_register(0xE000ED14) | 1U << 19;  // CCR.LOB: low-overhead loops
#endif
  asm volatile("dsb\n\tisb" ::: "memory");
  const std::uint32_t* from = firmware_data_load;
  // volatile: prevents calls of memcpy and memset
  for (volatile std::uint32_t* to = firmware_data_begin; to != firmware_data_end;) *to++ = *from++;
  for (volatile std::uint32_t* to = firmware_bss_begin; to != firmware_bss_end;) *to++ = 0;
  firmware::exit(main());
}
