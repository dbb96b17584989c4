// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "davit/testing/eager.hpp"

namespace tool {

/// Runs a program node by node on portable's kernels and returns the values whose names occur once in the program, in
/// the order of the run. Errors: those of EagerProgram::run.
[[nodiscard]] inline davit::Result<std::vector<std::pair<std::string, davit::testing::EagerValue>>> eager_values(
    const davit::ExportedProgram& program, std::span<const davit::EValue> inputs) {
  davit::testing::EagerProgram eager(program, davit::BackendList<Portable>::tables());
  std::vector<davit::testing::EagerProgram::Made> made;
  eager.record(&made);
  if (const auto outputs = eager.run(inputs); !outputs) return std::unexpected(outputs.error());
  const davit::GraphModuleView graph = program.view();
  std::unordered_map<std::string_view, int> uses;
  for (davit::ValueId v = 0; v < graph.values.size(); ++v) ++uses[graph.name(v)];
  std::vector<std::pair<std::string, davit::testing::EagerValue>> values;
  for (auto& [id, value] : made)
    if (uses[graph.name(id)] == 1) values.emplace_back(graph.name(id), std::move(value));
  return values;
}

}  // namespace tool
