// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Computes the values that depend on constants alone with `backend` at lowering: they become constants of the program,
/// and their nodes are removed. Returns nothing if there is nothing to fold, or if the backend fails.
///
/// Views of constants share their storage. Not folded: random and effectful operators, values of symbolic sizes, values
/// that the caller receives, and values larger than all constants together (and than 1 MB). Programs that write in
/// place stay unchanged. The program must be verified. O(program), plus the backend's work. Source:
/// torch._export.passes.constant_folding.
[[nodiscard]] std::optional<ExportedProgram> fold_constants(const ExportedProgram& program,
                                                            const BackendTable& backend);

}  // namespace davit
