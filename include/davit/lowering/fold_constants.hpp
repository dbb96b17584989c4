// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Computes on `backend` what depends on constants alone, so that no run computes it again: the values become constants
/// of the program, and the nodes that made them are gone. Nothing if there is nothing to fold, or if the backend fails.
///
/// Views of constants share their storage. Random and effectful operators, values of symbolic sizes, what the caller
/// receives, and values larger than all constants together (and than 1 MB) stay. Programs that write in place stay as
/// they are. The program must be verified. O(program) beside the backend's work. Source:
/// torch._export.passes.constant_folding.
[[nodiscard]] std::optional<ExportedProgram> fold_constants(const ExportedProgram& program,
                                                            const BackendTable& backend);

}  // namespace davit
