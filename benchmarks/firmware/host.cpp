// SPDX-License-Identifier: MIT
// The same model on the host: prints the outputs that the images must repeat.
#include <cstdio>

#include "model.hpp"
#include "outputs.hpp"
#include "samples.hpp"

int main() {
  static benchmark::Model model;
  static benchmark::Output output;
  for (const auto& sample : benchmark::samples) {
    if (!model.forward(sample, output)) return 3;
    for (const auto value : output) std::printf("output=%ld\n", static_cast<long>(benchmark::as_integer(value)));
  }
}
