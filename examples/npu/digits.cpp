// SPDX-License-Identifier: MIT
// Two digits networks, compiled entirely or partly by the accelerator's compiler (embed.cpp). Compares the results with
// the same models on portable alone. On the host the CPU drives the accelerator while it waits. On a board a timer
// interrupt does; the CPU sleeps, or the interrupt handler resumes the run.
#include <array>
#include <cstddef>
#include <cstdint>

#include "cnn.hpp"        // written by embed.cpp
#include "cnn_plain.hpp"  // written by davit embed
#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "mlp.hpp"
#include "mlp_plain.hpp"
#include "npu.hpp"
#ifdef __arm__
#include "semihosting.hpp"
#define PRINT firmware::print
#else
#include <iostream>
#define PRINT(...) print(__VA_ARGS__)
template <class... Parts>
void print(Parts... parts) {
  ((std::cout << parts), ...) << '\n';
}
#endif

namespace {

using Scores = std::array<float, 10>;
using Image = std::array<float, 64>;
constexpr Image image = [] {
  Image all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i * 29 % 64) / 64;
  return all;
}();

/// Called when the accelerator is done: its interrupt handler.
void (*handler)() = [] {};

/// Runs a model in three ways. False if a score differs from portable's.
template <class Program, class Plain>
bool agrees(const char* name, int commands) {
  static davit::static_module<Program, npu, davit::portable> module;
  static davit::static_module<Plain, davit::portable> plain;
  Scores expected{}, slept{}, handled{};
  const int before = npu_device.executed;
  bool ok = plain.forward(image, expected).has_value() && module.forward(image, slept).has_value();
  ok = ok && npu_device.executed - before == commands;
  handler = [] { module.step(); };
  ok = ok && module.forward_start(image, handled).has_value();
  std::size_t free = 0;
  while (!module.done()) {
    ++free;
#ifndef __arm__
    npu_device.tick();
    handler();
#endif
  }
  handler = [] {};
  ok = ok && module.status().has_value();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float gap = slept[i] - expected[i];
    ok = ok && gap < 1e-4F && -gap < 1e-4F && handled[i] == slept[i];
  }
  PRINT(name, ": ", commands, commands == 1 ? " command, " : " commands, ", ok ? "as on portable" : "WRONG",
        free != 0 ? "" : ", the CPU was never free");
  return ok && free != 0;
}

/// A model with the blob of another model, as in a firmware built from files of two runs.
struct stale : mlp {
  static const std::byte* weights() noexcept { return cnn::weights(); }
};

}  // namespace

#ifdef __arm__
extern "C" void firmware_tick() {
  npu_device.tick();
  handler();
}
#endif

int main() {
#ifdef __arm__
  const auto timer = [](std::uintptr_t at) -> volatile std::uint32_t& {
    return *reinterpret_cast<volatile std::uint32_t*>(at);
  };
  timer(0xE000E014) = 999;  // SysTick: an interrupt every 1000 core clock ticks
  timer(0xE000E018) = 0;
  timer(0xE000E010) = 7;
#endif
  const bool same = agrees<mlp, mlp_plain>("mlp", 3) && agrees<cnn, cnn_plain>("cnn", 1);
  static davit::static_module<stale, npu, davit::portable> outdated;
  Scores scores{};
  const davit::Status refused = outdated.forward(image, scores);
  const bool is_refused = !refused && refused.error().code() == davit::ErrorCode::version_mismatch;
  PRINT(is_refused ? "a blob of another model is refused" : "a blob of another model is taken: WRONG");
  return same && is_refused ? 0 : 1;
}
