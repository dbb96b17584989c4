// SPDX-License-Identifier: MIT
// Time per node of lowering an add/sub chain to one backend, from 1,000 to 100,000 nodes. Prints a line per size and the
// ratio of the largest to the smallest time per node; exit status 1 if it is above 1.3.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "davit/backends/compiler_demo.hpp"
#include "davit/lowering.hpp"
#include "programs.hpp"

int main() {
  using Clock = std::chrono::steady_clock;
  std::vector<std::size_t> sizes{1000, 3000, 10000, 30000, 100000};
  std::vector<davit::ExportedProgram> programs;
  for (const std::size_t nodes : sizes) programs.push_back(benchmarks::add_sub_chain(nodes));
  std::vector<double> best(sizes.size(), 1e30);
  for (int round = 0; round < 15; ++round) {  // sizes interleaved, so that noise meets all alike
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t repeats = 100000 / sizes[i];
      const auto begin = Clock::now();
      for (std::size_t r = 0; r < repeats; ++r)
        if (!davit::to_backend<davit::compiler_demo>(programs[i])) return std::puts("lowering failed"), 2;
      const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
      best[i] = std::min(best[i], took.count() / static_cast<double>(repeats * sizes[i]));
    }
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) std::printf("LOWERING nodes=%zu ns_per_node=%.1f\n", sizes[i], best[i]);
  const double ratio = *std::max_element(best.begin(), best.end()) / *std::min_element(best.begin(), best.end());
  std::printf("LOWERING ratio=%.2f\n", ratio);
  return ratio <= 1.3 ? 0 : 1;
}
