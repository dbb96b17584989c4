// SPDX-License-Identifier: MIT
// Judges random programs on every list of backends there is, whole and cut, saved and loaded.
// benchmarks/random_programs.sh runs as many as one likes.
//   random_programs FIRST COUNT [WAY | N]
// A way's name: that one alone. N: each program in N of the ways, in turn by its number, for many programs in little
// time.
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "davit/formats/package.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/printer.hpp"
#include "davit/testing/detail/alternating_partitioner.hpp"
#if defined(DAVIT_WITH_ONEDNN)
#include "davit/backends/onednn.hpp"
#endif
#if defined(DAVIT_WITH_XNNPACK)
#include "davit/backends/xnnpack.hpp"
#endif
#include "support/judged.hpp"

using namespace judged;
using testing::AlternatingPartitioner;
using testing::ProgramRecipe;

namespace {

/// One way to lower and run a program.
struct Way {
  std::string_view name;
  std::string (*difference)(const ProgramRecipe& recipe);
};

template <class List>
std::string whole(const ProgramRecipe& recipe) {
  return difference(recipe, CapabilityPartitioner<List>(), {.seed = recipe.seed});
}
template <class List>
std::string cut(const ProgramRecipe& recipe) {
  return difference(recipe, AlternatingPartitioner<List>{.seed = recipe.seed | 1}, {.seed = recipe.seed});
}
template <class List>
std::string saved(const ProgramRecipe& recipe) {
  const testing::RandomProgram program(recipe);
  const auto lowered = to_backend(program.program(), AlternatingPartitioner<List>{.seed = recipe.seed | 1});
  if (!lowered) return to_string(lowered.error());
  const auto bytes = formats::save_program(*lowered);
  if (!bytes) return to_string(bytes.error());
  return difference(program, formats::load_program<List>(SharedBytes::copy_of(*bytes)), {.seed = recipe.seed});
}
/// Lowers with every composite operator decomposed, as after torch's run_decompositions.
std::string core_ir(const ProgramRecipe& recipe) {
  const testing::RandomProgram program(recipe);
  return difference(program, to_backend<portable>(run_decompositions(program.program())), {.seed = recipe.seed});
}
std::string failing(const ProgramRecipe& recipe) {
  return difference(recipe, AlternatingPartitioner<BackendList<Failing, portable>>{.seed = recipe.seed | 1},
                    {.seed = recipe.seed, .fail_at = &Failing::fail_at});
}

using One = BackendList<portable>;
using Two = BackendList<Second, portable>;
using Three = BackendList<Viewer, Second, portable>;

constexpr Way ways[] = {
    {"portable", &whole<One>},
    {"portable, core ir", &core_ir},
    {"second,portable cut", &cut<Two>},
    {"viewer,second,portable", &whole<Three>},
    {"viewer,second,portable cut", &cut<Three>},
    {"viewer,second,portable saved", &saved<Three>},
    {"failing,portable cut", &failing},
#if defined(DAVIT_WITH_ONEDNN)
    {"onednn,portable", &whole<BackendList<onednn, portable>>},
    {"onednn,portable cut", &cut<BackendList<onednn, portable>>},
#endif
#if defined(DAVIT_WITH_XNNPACK)
    {"xnnpack,portable", &whole<BackendList<xnnpack, portable>>},
    {"xnnpack,portable cut", &cut<BackendList<xnnpack, portable>>},
#endif
#if defined(DAVIT_WITH_ONEDNN) && defined(DAVIT_WITH_XNNPACK)  // regions go to the library with the lower estimate
    {"onednn,xnnpack,portable", &whole<BackendList<onednn, xnnpack, portable>>},
    {"xnnpack,onednn,portable", &whole<BackendList<xnnpack, onednn, portable>>},
#endif
};

std::uint64_t number(const char* text) {
  std::uint64_t out = 0;
  (void)std::from_chars(text, text + std::strlen(text), out);
  return out;
}

/// The graph, and the sizes of the values in it.
std::string described(const ProgramRecipe& recipe) {
  const testing::RandomProgram program(recipe);
  const GraphModuleView graph = program.program().view();
  std::string text = print_graph(graph) + "sizes:";
  for (const Value& value : graph.values) {
    if (value.kind != ValueKind::tensor) continue;
    text += ' ' + std::string(graph.str(value.name)) + "[";
    for (const Dim& dim : graph.dims_of(value.sizes))
      text += (text.back() == '[' ? "" : ",") + (dim.is_static() ? std::to_string(dim.value) : "?");
    text += ']';
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: random_programs FIRST COUNT [WAY | N]\n"), 2;
  const std::uint64_t first = number(argv[1]);
  const std::uint64_t count = number(argv[2]);
  const std::uint64_t share = argc > 3 ? number(argv[3]) : 0;
  std::size_t passed = 0;
  std::size_t failed = 0;
  for (const Way& way : ways) {
    if (argc > 3 && share == 0 && way.name != argv[3]) continue;
    std::uint64_t wrong = 0;
    std::uint64_t judged = 0;
    for (std::uint64_t seed = first; seed < first + count && wrong < 20; ++seed) {
      if (share != 0 && (seed + static_cast<std::uint64_t>(&way - ways)) % std::size(ways) >= share) continue;
      ++judged;
      const ProgramRecipe recipe = ProgramRecipe::of(seed);
      if (way.difference(recipe).empty()) continue;
      if (++wrong > 3) continue;
      const ProgramRecipe small = recipe.shrunk([&](const ProgramRecipe& r) { return !way.difference(r).empty(); });
      std::printf("%.*s, seed %llu: %s\n%s\n", static_cast<int>(way.name.size()), way.name.data(),
                  static_cast<unsigned long long>(seed), way.difference(small).c_str(), described(small).c_str());
    }
    std::printf("RANDOM_PROGRAMS way=\"%.*s\" first=%llu count=%llu differ=%llu%s\n", static_cast<int>(way.name.size()),
                way.name.data(), static_cast<unsigned long long>(first), static_cast<unsigned long long>(judged),
                static_cast<unsigned long long>(wrong), wrong == 20 ? " (stopped)" : "");
    std::fflush(stdout);
    if (judged != 0) ++(wrong == 0 ? passed : failed);
  }
  std::printf("%zu passed, %zu failed\n", passed, failed);
  return failed == 0 && passed != 0 ? 0 : 1;
}
