// SPDX-License-Identifier: MIT
// Runs a package RUNS times on one input, for a count of instructions, and prints the largest difference from the
// recorded output.
//   davit PACKAGE.davit INPUT.npy OUTPUT.npy RUNS
#include <davit/backends/portable.hpp>
#include <davit/core/value_or_exit.hpp>
#include <davit/formats/npy.hpp>
#include <davit/formats/package.hpp>
#include <davit/runtime/session.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: davit PACKAGE.davit INPUT.npy OUTPUT.npy RUNS\n"), 2;
  using davit::value_or_exit;
  const auto program = value_or_exit(davit::formats::load_program<davit::BackendList<davit::portable>>(argv[1]));
  auto session = value_or_exit(davit::Session::make(program));
  const auto input = value_or_exit(davit::formats::read_npy(argv[2]));
  const auto recorded = value_or_exit(davit::formats::read_npy(argv[3]));
  const auto expected = std::span(recorded.view().as<float>(), static_cast<std::size_t>(recorded.numel()));
  float gap = 0;
  for (int run = std::atoi(argv[4]); run > 0; --run) {
    const auto outputs = value_or_exit(session.run(program.methods()[0].name, input));
    const auto made = value_or_exit(outputs[0].as<float>());
    for (std::size_t i = 0; i < made.size(); ++i) gap = std::max(gap, std::fabs(made[i] - expected[i]));
  }
  std::printf("gap %g\n", static_cast<double>(gap));
}
