// SPDX-License-Identifier: MIT
// Time per node of lowering add/sub chains to one backend, from 1,000 to 100,000 nodes a chain. Run by
// benchmarks/lowering.sh, which also counts instructions:
//   lowering               prints a line per size and the largest time per node / the smallest; exits with 1 above 1.3
//   lowering NODES COUNT   lowers a chain of NODES nodes COUNT times
//
// Each size lowers 100,000 nodes in all, as one long chain or many short ones, and keeps its results until the end of
// the round. So all sizes move the same amount of memory, and only the length of the chain differs.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "../examples/compiler_demo/compiler_demo.hpp"
#include "davit/lowering.hpp"
#include "programs.hpp"

namespace {

using Programs = std::vector<davit::ExportedProgram>;
using Lowered = std::vector<davit::LoweredProgram>;
constexpr std::size_t nodes_in_all = 100000;

/// Nanoseconds to lower all programs and to destroy the results.
double lower_all(const Programs& programs) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  {
    Lowered lowered;
    for (const davit::ExportedProgram& program : programs) {
      auto one = davit::to_backend<demo::compiler_demo>(program);
      if (!one) std::exit((std::puts("lowering failed"), 2));
      lowered.push_back(*std::move(one));
    }
  }
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    const Programs programs{benchmarks::add_sub_chain(static_cast<std::size_t>(std::atol(argv[1])))};
    for (long i = std::atol(argv[2]); i > 0; --i) lower_all(programs);
    return 0;
  }
  const std::vector<std::size_t> sizes{1000, 3000, 10000, 30000, 100000};
  std::vector<Programs> programs(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::size_t k = 0; k < nodes_in_all / sizes[i]; ++k)
      programs[i].push_back(benchmarks::add_sub_chain(sizes[i]));
  std::vector<double> best(sizes.size(), 1e30);
  for (int round = 0; round < 15; ++round) {  // interleaved sizes, so that noise affects all alike
    for (std::size_t i = 0; i < sizes.size(); ++i)
      best[i] = std::min(best[i], lower_all(programs[i]) / static_cast<double>(programs[i].size() * sizes[i]));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i)
    std::printf("LOWERING nodes=%zu ns_per_node=%.1f\n", sizes[i], best[i]);
  const double ratio = *std::max_element(best.begin(), best.end()) / *std::min_element(best.begin(), best.end());
  std::printf("LOWERING ratio=%.2f\n", ratio);
  return ratio <= 1.3 ? 0 : 1;
}
