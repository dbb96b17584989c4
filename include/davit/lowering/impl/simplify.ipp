// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "davit/lowering/detail/call_shapes.hpp"
#include "davit/lowering/detail/simplifier.hpp"
#include "davit/lowering/simplify.hpp"
#include "davit/program/views.hpp"

namespace davit {

std::optional<ExportedProgram> simplified(const ExportedProgram& program, const DecomposeOptions* whole, bool before) {
  const GraphModuleView graph = program.view();
  if (std::ranges::none_of(graph.nodes,
                           [&](const Node& n) { return detail::Simplifier::is_worth_a_pass({graph, n}); }) ||
      storage_matters(graph) || !detail::calls_fit_shapes(graph))
    return std::nullopt;
  ExportedProgram out = program;
  out.graph_module = detail::Simplifier(program, whole, before).run();
  return out;
}

}  // namespace davit
