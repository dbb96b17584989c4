// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/core/config.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Simplifies a functional program: chains of views and permutes become one operator or none, equal nodes are merged,
/// and unused nodes are removed.
///
/// With `whole`, decomposed forms of linear, matmul, silu, elu, mish, masked softmax, instance norm, padding and
/// resizing (by indices that depend on numbers alone) become that operator again, where a backend takes it that is as
/// good as the backend of the form's last node. With `before`, for programs that will be decomposed later, attention
/// does too: training IR and core IR of a model then become the same graph except for names. The signature, the
/// outputs' names and the outputs' shared storage stay. A merged node has the metadata of its last part, and a list of
/// the others'. Returns nothing if nothing changes, or if storage_matters. The program must be verified. O(size of the
/// program).
[[nodiscard]] std::optional<ExportedProgram> simplified(const ExportedProgram& program,
                                                        const DecomposeOptions* whole = nullptr, bool before = false);

}  // namespace davit
