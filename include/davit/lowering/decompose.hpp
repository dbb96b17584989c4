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

/// What a decomposition leaves whole.
struct DecomposeOptions {
  /// Composites that one of these takes stay. One that the last of several takes alone is taken apart nevertheless if
  /// the others take the parts, but for recurrent layers, which would be a dozen nodes per step. None: everything is
  /// taken apart.
  BackendTables backends{};
  std::vector<std::uint32_t> order{};  ///< those of them that count, by preference; empty: all, in their order
  /// Beside these: composites for which it answers true stay.
  bool (*keeps)(GraphModuleView graph, NodeId node) = nullptr;
  /// Nothing but the composites for which it answers true is taken apart, whoever takes them whole; null: there is no
  /// such choice.
  bool (*only)(GraphModuleView graph, NodeId node) = nullptr;
};

/// Replaces composite operators by what they are made of (the rules of ops/), and opens the operators that only wrap
/// a graph: wrap_with_autocast, wrap_with_set_grad_enabled and the like. Sub-graphs too.
///
/// The signature and what users see stay: names, dtypes and sizes of inputs and outputs. New nodes have the metadata of
/// the node that they are parts of. A composite whose rule does not fit its arguments stays. Deterministic; doing it
/// twice changes nothing. The program must be verified. O(nodes + what is emitted). Source:
/// torch.export.ExportedProgram.run_decompositions.
[[nodiscard]] ExportedProgram run_decompositions(const ExportedProgram& program, const DecomposeOptions& options = {});

/// The same; nothing if there is nothing to do. Then it costs a look at each node.
[[nodiscard]] std::optional<ExportedProgram> decomposed(const ExportedProgram& program,
                                                        const DecomposeOptions& options = {});

}  // namespace davit
