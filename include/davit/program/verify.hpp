// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/guard_inputs.hpp"
#include "davit/program/verify_operators.hpp"
#include "davit/program/verify_signature.hpp"
#include "davit/program/verify_values.hpp"
#include "davit/program/violations.hpp"

namespace davit {

/// Checks the rules of torch.export on a program; returns every violation with its place, empty for a valid program.
///
/// Each name is defined once and before use; signature and graph agree in name, order and number; mutation targets
/// exist; outputs are in torch's order; operators are known or custom; calls match their schemas (call_mismatch; not in
/// constant evaluation, where finding a schema takes long); sub-graphs have the arity of their operator;
/// weights match the signature; guards read only properties that the user inputs have. O(n log n) for n nodes, values,
/// inputs and outputs. Source: torch._export.verifier.Verifier and _verify_exported_program_signature.
template <class = void>
[[nodiscard]] constexpr std::vector<Error> verify(const ProgramTables& program, VerifyOptions options = {}) {
  const GraphModuleView graph = program.view();
  Violations report(graph);
  if (Result<void> tables = check_tables(graph); !tables) {
    Error error = std::move(tables.error());
    error.stage = Stage::verify;
    report.add(std::move(error));
    return std::move(report).take();
  }
  detail::verify_values(graph, report);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    detail::verify_operator(graph, id, options, report);
    detail::verify_subgraphs(graph, id, report);
  }
  if !consteval {
    if (options.calls) {
      detail::CallVerifier calls(graph, report);
      for (NodeId id = 0; id < graph.nodes.size(); ++id) calls.check(id);
    }
  }
  detail::verify_signature_inputs(program, report);
  detail::verify_signature_outputs(program, report);
  if ((!program.guards.nodes.empty() || !program.guards.roots.empty()) &&
      !guards_fit(program.guards, guard_inputs(program)))
    report.violation("guards", "a guard reads a property that no user input has, or the guard table is inconsistent");
  return std::move(report).take();
}

}  // namespace davit
