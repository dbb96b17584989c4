// SPDX-License-Identifier: MIT
// The image that measures itself: outputs of the recorded inputs, arena, stack, instructions.
#include "measure.hpp"

#include <algorithm>

#include "model.hpp"
#include "outputs.hpp"
#include "samples.hpp"
#include "semihosting.hpp"

namespace {

using benchmark::Model;

/// The model's arena, followed by guard bytes.
struct Guarded {
  Model model;
  std::byte guard[256] = {};
} memory;
static_assert(Model::state_bytes == 0, "painting would overwrite the state");

struct {
  benchmark::Input from;
  benchmark::Output to;
} io;

[[gnu::noinline]] void forward() {
  if (!memory.model.forward(io.from, io.to)) firmware::exit(3);
}

void take(int sample) { std::copy_n(benchmark::samples[sample], std::size(io.from), io.from); }

/// The offset behind the last byte of the arena that a run writes, found with two fill patterns.
std::size_t arena_used() {
  std::size_t most = 0;
  auto* bytes = reinterpret_cast<volatile std::byte*>(&memory);
  for (const std::byte colour : {std::byte{0x5A}, std::byte{0xC3}}) {
    firmware::paint(bytes, sizeof memory, colour);
    forward();
    most = std::max(most, firmware::painted_over(bytes, sizeof memory, colour));
  }
  return most;
}

}  // namespace

int main() {
  for (int sample = 0; sample < benchmark::sample_count; ++sample) {
    take(sample);
    forward();
    for (const auto value : io.to) firmware::print("output=", benchmark::as_integer(value));
  }
  firmware::paint_stack();
  forward();
  firmware::print("stack=", firmware::stack_used());
  firmware::print("arena_used=", arena_used());
  firmware::print("ram_bytes=", Model::ram_bytes);
  const firmware::InstructionCounter counter;
  for (int i = 0; i < benchmark::repeats; ++i) forward();
  firmware::print("instructions=", counter.instructions() / benchmark::repeats);
}
