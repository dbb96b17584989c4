// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

/// Address of a tensor in a command: offset in bytes from one of the accelerator's base registers.
struct NpuAddress {
  std::int32_t base = 0;
  std::int32_t offset = 0;
};

/// A command in the accelerator's memory, all float32: y = x weight + bias for each row of x.
struct NpuCommand {
  enum Layout : std::int32_t {
    in_out,  ///< the weight is (in, out)
    out_in,  ///< (out, in)
    tiles,   ///< (out / 4, in, 4), padded with zeros: the fastest layout
    none,    ///< no product: y is x
  };
  std::int32_t rows = 0, in = 0, out = 0;
  std::int32_t layout = none;
  std::int32_t clamp = 0;  ///< negative results become zero
  NpuAddress y{}, x{}, weight{}, bias{};
};

/// Head of a command stream. The commands follow, then their weights.
struct NpuProgram {
  std::int32_t commands = 0;
  std::int32_t scratch_bytes = 0;
  std::int32_t inputs = 0, outputs = 0;
};

/// Registers of an imaginary accelerator, simulated by a struct. A chip has them at a fixed address and works by
/// itself; here `tick` computes one row of a command. A timer interrupt, a thread or a waiting caller calls it.
struct NpuDevice {
  static constexpr std::int32_t tile = 4;

  std::array<const void*, 12> base{};
  const NpuCommand* commands = nullptr;
  std::int32_t count = 0;
  std::atomic<bool> busy{false};  ///< cleared with the interrupt after the last command
  int executed = 0;               ///< number of commands so far

  void start() noexcept {
    command_ = row_ = 0;
    busy.store(count != 0, std::memory_order_release);
  }
  void tick() noexcept {
    if (!busy.load(std::memory_order_acquire)) return;
    const NpuCommand& c = commands[command_];
    for (std::int32_t j = 0; j < c.out; ++j) element(c, row_, j);
    if (++row_ < c.rows) return;
    row_ = 0;
    ++executed;
    if (++command_ == count) busy.store(false, std::memory_order_release);
  }

 private:
  [[nodiscard]] const float* at(NpuAddress a) const noexcept {
    return reinterpret_cast<const float*>(static_cast<const char*>(base[static_cast<std::size_t>(a.base)]) + a.offset);
  }
  void element(const NpuCommand& c, std::int32_t r, std::int32_t j) const noexcept {
    const float* const x = at(c.x) + r * c.in;
    float sum = 0;
    if (c.layout == NpuCommand::none) {
      sum = x[j];
    } else {
      const float* const weight = at(c.weight);
      for (std::int32_t k = 0; k < c.in; ++k)
        sum += x[k] * weight[c.layout == NpuCommand::in_out   ? k * c.out + j
                             : c.layout == NpuCommand::out_in ? j * c.in + k
                                                              : (j / tile * c.in + k) * tile + j % tile];
      sum += at(c.bias)[j];
    }
    const_cast<float*>(at(c.y))[r * c.out + j] = c.clamp != 0 && sum < 0 ? 0 : sum;
  }

  std::int32_t command_ = 0, row_ = 0;
};

inline constinit NpuDevice npu_device;

/// Sleeps until an interrupt, unless the device is done. Interrupts are masked before the test: one that comes just
/// before the CPU sleeps still wakes it.
inline void npu_sleep() noexcept {
#ifdef __arm__
  asm volatile("cpsid i" ::: "memory");
  if (npu_device.busy.load(std::memory_order_acquire)) asm volatile("wfi" ::: "memory");
  asm volatile("cpsie i" ::: "memory");
#else
  npu_device.tick();
#endif
}
