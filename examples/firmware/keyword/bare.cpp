// SPDX-License-Identifier: MIT
// The image for the reported size, and a sketch of a product: reads samples from a converter's register and writes
// labels to another register.
#include "spotter.hpp"
#include "tick.hpp"

namespace {

constinit keyword::Ring<1024> ring;

volatile std::uint32_t& device(std::uintptr_t offset) {
  return *reinterpret_cast<volatile std::uint32_t*>(0x40000000 + offset);
}

}  // namespace

extern "C" void firmware_tick() { ring.push(static_cast<std::int16_t>(device(0))); }

int main() {
  static keyword::Spotter spotter;
  keyword::Frame frame;
  keyword::start_ticks(1000);
  while (true) {
    while (!ring.pop(frame)) keyword::wait();
    if (const auto label = spotter.hear(frame); label && *label != 0) device(4) = static_cast<std::uint32_t>(*label);
  }
}
