// SPDX-License-Identifier: MIT
// Time per node of partitioning and lowering a program of alternating groups of about 10 nodes onto two backends, from
// 1,000 to 1,000,000 nodes. Prints a line per size and the ratio of the largest to the smallest time per node; exit
// status 1 if it is above 1.5 or if 1,000,000 nodes take 2 s or more.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "davit/implementation.hpp"
#include "davit/lowering.hpp"
#include "programs.hpp"

namespace {

using namespace davit;

/// A backend that takes one operator and stores the number of nodes, so that only davit's own work is measured.
template <bool add>
struct counter {
  static constexpr std::string_view name = add ? "adds" : "subs";
  struct CompileSpec {};
  struct Processed {
    std::size_t nodes = 0;
  };
  struct Handle {};
  static bool is_available() { return true; }
  static const char* refuses(GraphModuleView graph, NodeId node) {
    return graph.target(graph.nodes[node]) == (add ? "aten.add.Tensor" : "aten.sub.Tensor") ? nullptr
                                                                                            : "another operator";
  }
  static Result<Processed> preprocess(const Method& method, const CompileSpec&, DebugHandleRecorder&) {
    return Processed{method.view().nodes.size()};
  }
  static Result<Handle> compile(const Processed&, const CompileSpec&) { return Handle{}; }
  template <class Context>
  static Status execute(const Handle&, std::span<const EValue>, std::span<EValue>, Context&) {
    return {};
  }
};
using Backends = BackendList<counter<true>, counter<false>>;

}  // namespace

int main() {
  using Clock = std::chrono::steady_clock;
  const std::vector<std::size_t> sizes{1000, 10000, 100000, 1000000};
  std::vector<ExportedProgram> programs;
  for (const std::size_t nodes : sizes) programs.push_back(benchmarks::alternating_groups(nodes, 10));
  std::vector<double> best(sizes.size(), 1e30);
  for (int round = 0; round < 5; ++round) {  // interleaved sizes, so that noise affects all alike
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t repeats = std::max<std::size_t>(1, 100000 / sizes[i]);
      const auto begin = Clock::now();
      for (std::size_t r = 0; r < repeats; ++r) {
        const auto lowered = to_backend(programs[i], CapabilityPartitioner<Backends>());
        if (!lowered) return std::puts(to_string(lowered.error()).c_str()), 2;
        if (lowered->methods()[0].delegates.size() != sizes[i] / 10) return std::puts("unexpected partitions"), 2;
      }
      const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
      best[i] = std::min(best[i], took.count() / static_cast<double>(repeats * sizes[i]));
    }
  }
  for (std::size_t i = 0; i < sizes.size(); ++i)
    std::printf("PARTITION nodes=%zu ns_per_node=%.1f seconds=%.4f\n", sizes[i], best[i],
                best[i] * 1e-9 * static_cast<double>(sizes[i]));
  const double ratio = *std::max_element(best.begin(), best.end()) / *std::min_element(best.begin(), best.end());
  std::printf("PARTITION ratio=%.2f\n", ratio);
  return ratio <= 1.5 && best.back() * 1e-9 * static_cast<double>(sizes.back()) < 2 ? 0 : 1;
}
