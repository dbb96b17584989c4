// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "davit/backends/portable.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/verify.hpp"
#include "davit/testing/judge.hpp"
#include "davit/testing/detail/renamed_backend.hpp"

/// Random programs on lists of backends.
namespace judged {

using namespace davit;

using Second = testing::renamed_backend<portable, "second">;

/// Takes only views, so that it returns views of its inputs.
struct Viewer : testing::renamed_backend<portable, "viewer"> {
  [[nodiscard]] static const char* refuses(GraphModuleView graph, NodeId node) noexcept {
    for (const std::string_view target :
         {"aten.permute.default", "aten.unsqueeze.default", "aten.slice.Tensor", "aten.select.int",
          "aten.expand.default", "aten.alias.default", "aten.split_with_sizes.default"})
      if (graph.target(graph.nodes[node]) == target) return portable::refuses(graph, node);
    return "no view";
  }
};

/// Fails at a call that the test selects, after its work.
struct Failing : testing::renamed_backend<portable, "failing"> {
  static inline std::uint64_t calls_left = 0;  ///< 0: never
  static void fail_at(std::uint64_t call) { calls_left = call; }
  template <class Context>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      Context& context) {
    const Status done = portable::execute(handle, inputs, outputs, context);
    if (done && calls_left != 0 && --calls_left == 0)
      return context.fail(ErrorCode::failed, no_debug_handle, "made to fail");
    return done;
  }
};

/// Describes how a lowered form of the program differs from an eager run; empty if it does not.
inline std::string difference(const testing::RandomProgram& program, const Result<LoweredProgram>& lowered,
                              const testing::JudgeOptions& options) {
  return lowered ? testing::judge(program, *lowered, BackendList<portable>::tables(), options)
                 : to_string(lowered.error());
}
template <class P>
std::string difference(const testing::ProgramRecipe& recipe, const P& partitioner,
                       const testing::JudgeOptions& options = {}) {
  const testing::RandomProgram program(recipe);
  if (const auto violations = verify(program.program(), {.allow_unknown_operators = true}); !violations.empty())
    return "not verified: " + to_string(violations[0]);
  return difference(program, to_backend(program.program(), partitioner), options);
}

}  // namespace judged
