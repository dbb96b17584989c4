// SPDX-License-Identifier: MIT
// Compares programs, or ways to run one, side by side in one process on onednn,portable: times are the shortest of
// interleaved runs on made-up inputs of the exported sizes.
//
//   forms pair A.pt2 B.pt2     prints both partitions (`FORM same|differs ...`), and the ratio of their times
//   forms shapes A.pt2         symbolic sizes, exported sizes, and sizes that change from run to run
//   forms checks A.pt2         with and without checks for NaN and infinities
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/onednn.hpp"
#include "davit/backends/portable.hpp"
#include "davit/autotune/synthetic_inputs.hpp"
#include "davit/autotune/time_runs.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

namespace {

using namespace davit;
using Backends = BackendList<onednn, portable>;

template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::printf("failed %s\n", to_string(result.error()).c_str());
  std::exit(2);
}

struct Lowered {
  LoweredProgram program;
  std::string partitions{};
};
[[nodiscard]] Lowered lower(const ExportedProgram& program) {
  Diagnostics diagnostics;
  Lowered out{must(to_backend(program, CapabilityPartitioner<Backends>(), {}, &diagnostics))};
  for (const PartitionReport::Partition& p : diagnostics.reports[0].partitions)
    out.partitions +=
        (out.partitions.empty() ? "" : " ") + std::string(p.backend.view()) + ":" + std::to_string(p.nodes);
  return out;
}
[[nodiscard]] TimedProgram timed(const ExportedProgram& program) {
  return {must(Session::make(lower(program).program)), must(synthetic_inputs(program)), 0, 0};
}
/// Times the programs in turns for some seconds.
void time(std::vector<TimedProgram>& programs) {
  time_runs(std::span(programs), {.min_rounds = 20, .max_rounds = 2000, .batch_ms = 3000, .hopeless_ms = 100000});
}
[[nodiscard]] double us(const TimedProgram& p) { return static_cast<double>(p.ns) / 1000; }

/// The program with the exported sizes in place of the symbolic ones.
[[nodiscard]] ExportedProgram with_fixed_sizes(const ExportedProgram& program) {
  ExportedProgram out = program;
  GraphModule& graph = out.graph_module;
  for (Dim& dim : graph.dims) dim.expr = no_id;
  const auto fix = [&](auto& self, Range range) -> void {
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
      Argument& a = graph.arguments[i];
      if (a.is_list()) self(self, a.items);
      if (!a.is_value() || graph.values[a.value()].kind != ValueKind::sym_int) continue;
      a.payload = graph.values[a.value()].constant;
      a.kind = ArgumentKind::int_;
    }
  };
  for (const Node& node : graph.nodes) fix(fix, node.inputs);
  for (Value& value : graph.values) value.expr = no_id;
  return out;
}
/// Symbolic sizes one smaller than exported.
[[nodiscard]] SyntheticInputs other_inputs(const ExportedProgram& program) {
  ExportedProgram smaller = program;
  for (Dim& dim : smaller.graph_module.dims)
    if (!dim.is_static() && smaller.graph_module.exprs[dim.expr].op == ExprOp::symbol) --dim.value;
  return must(synthetic_inputs(smaller));
}

int pair(const char* a, const char* b) {
  const ExportedProgram first = must(formats::read_pt2(a)), second = must(formats::read_pt2(b));
  const std::string left = lower(first).partitions, right = lower(second).partitions;
  std::vector<TimedProgram> programs;
  programs.push_back(timed(first));
  programs.push_back(timed(second));
  time(programs);
  std::printf("FORM %s x%.2f us=%.1f,%.1f [%s]", left == right ? "same" : "differs", us(programs[0]) / us(programs[1]),
              us(programs[0]), us(programs[1]), left.c_str());
  if (left != right) std::printf(" [%s]", right.c_str());
  std::printf("\n");
  return left == right ? 0 : 1;
}
int shapes(const char* path) {
  const ExportedProgram program = must(formats::read_pt2(path));
  const ExportedProgram fixed = with_fixed_sizes(program);
  std::vector<TimedProgram> programs;
  programs.push_back(timed(program));
  programs.push_back(timed(fixed));
  time(programs);
  // alternates between two known sizes, so that each run follows one of the other size
  TimedProgram changing = timed(program);
  const SyntheticInputs other = other_inputs(program);
  std::uint64_t least = no_cost;
  for (int i = 0; i < 200; ++i) {
    if (!changing.session.run(std::size_t{0}, other.values)) return std::printf("failed with smaller sizes\n"), 2;
    const auto start = std::chrono::steady_clock::now();
    if (!changing.session.run(std::size_t{0}, changing.inputs.values)) return 2;
    least = std::min(least, static_cast<std::uint64_t>((std::chrono::steady_clock::now() - start).count()));
  }
  std::printf("SHAPES symbolic=%.1f us fixed=%.1f us x%.2f; sizes change at each run %.1f us x%.2f\n", us(programs[0]),
              us(programs[1]), us(programs[0]) / us(programs[1]), static_cast<double>(least) / 1000,
              static_cast<double>(least) / 1000 / us(programs[1]));
  return us(programs[0]) <= 1.1 * us(programs[1]) ? 0 : 1;
}
int checks(const char* path) {
  const ExportedProgram program = must(formats::read_pt2(path));
  std::vector<TimedProgram> programs;
  programs.push_back(timed(program));
  onednn::set_fast_math(true);
  programs.push_back(timed(program));
  time(programs);
  std::printf("CHECKS with=%.1f us without=%.1f us: %.2f %%\n", us(programs[0]), us(programs[1]),
              100 * (us(programs[0]) / us(programs[1]) - 1));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  if (what == "pair" && argc == 4) return pair(argv[2], argv[3]);
  if (what == "shapes" && argc == 3) return shapes(argv[2]);
  if (what == "checks" && argc == 3) return checks(argv[2]);
  std::fprintf(stderr, "usage: forms pair A.pt2 B.pt2 | shapes A.pt2 | checks A.pt2\n");
  return 2;
}
