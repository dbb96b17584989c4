// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Says which composites a decomposition keeps whole.
struct DecomposeOptions {
  /// Composites that one of these backends takes stay whole. A composite that only the last of several backends takes
  /// is decomposed if the others take its parts, except recurrent layers, whose parts are a dozen nodes per step.
  /// Empty: every composite is decomposed.
  BackendTables backends{};
  std::vector<std::uint32_t> order{};  ///< indices of the backends that count, by preference; empty: all
  /// Composites for which this returns true stay whole too.
  bool (*keeps)(GraphModuleView graph, NodeId node) = nullptr;
  /// Only composites for which this returns true are decomposed, whatever backends take; null: no such restriction.
  bool (*only)(GraphModuleView graph, NodeId node) = nullptr;
};

/// Replaces composite operators by their decompositions (the rules of ops/), and inlines operators that only wrap a
/// graph (wrap_with_autocast, wrap_with_set_grad_enabled), in sub-graphs too.
///
/// The signature stays, with names, dtypes and sizes of inputs and outputs. New nodes copy the metadata of the
/// decomposed node. A composite whose rule does not fit its arguments stays. Deterministic and idempotent. The program
/// must be verified. O(nodes + emitted nodes). Source: torch.export.ExportedProgram.run_decompositions.
[[nodiscard]] ExportedProgram run_decompositions(const ExportedProgram& program, const DecomposeOptions& options = {});

/// As run_decompositions, but returns nothing if no node changes, after one scan of the nodes.
[[nodiscard]] std::optional<ExportedProgram> decomposed(const ExportedProgram& program,
                                                        const DecomposeOptions& options = {});

}  // namespace davit
