// SPDX-License-Identifier: MIT
// Lowers a program and runs it RUNS times, for a count of instructions, and prints the largest difference from the
// recorded output. With DAVIT_WITH_XNNPACK every node that XNNPACK can take is on XNNPACK, also where portable is
// estimated to be faster.
//   davit MODEL.pt2 INPUT.npy OUTPUT.npy RUNS
#include <davit/davit.hpp>
#include <davit/formats/npy.hpp>
#include <davit/formats/pt2.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#if defined(DAVIT_WITH_XNNPACK)
#include <davit/backends/xnnpack.hpp>

struct everything : davit::xnnpack {
  static bool is_profitable(davit::GraphModuleView, std::span<const davit::NodeId>) { return true; }
  static double offload_cost(davit::GraphModuleView, std::span<const davit::NodeId>) { return 0; }
};
using Backends = davit::BackendList<everything, davit::portable>;
#else
using Backends = davit::BackendList<davit::portable>;
#endif

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: davit MODEL.pt2 INPUT.npy OUTPUT.npy RUNS\n"), 2;
  using davit::value_or_exit;
  const auto program = value_or_exit(davit::formats::read_pt2(argv[1]));
  const auto lowered = value_or_exit(davit::to_backend(program, davit::CapabilityPartitioner<Backends>()));
  auto session = value_or_exit(davit::Session::make(lowered));
  const auto input = value_or_exit(davit::formats::read_npy(argv[2]));
  const auto recorded = value_or_exit(davit::formats::read_npy(argv[3]));
  const auto expected = std::span(recorded.view().as<float>(), static_cast<std::size_t>(recorded.numel()));
  float gap = 0;
  for (int run = std::atoi(argv[4]); run > 0; --run) {
    const auto outputs = value_or_exit(session.run(lowered.methods()[0].name, input));
    const auto made = value_or_exit(outputs[0].as<float>());
    for (std::size_t i = 0; i < made.size(); ++i) gap = std::max(gap, std::fabs(made[i] - expected[i]));
  }
  std::printf("gap %g\n", static_cast<double>(gap));
}
