// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/core/config.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Writes a functional program the shortest way it knows: operators that only say how elements lie are one for a chain
/// of them, or none; equal nodes become one; what nothing needs goes.
///
/// With `whole`, what is left of a linear, a matmul, a silu, an elu, a mish, a masked softmax, an instance norm, a
/// padding or a resizing (by indices that only numbers go into) that was taken apart becomes that operator again where
/// a backend takes it that is as good as the one that takes its last part. With `before`, for programs that are yet to
/// be decomposed, so does an attention: the training IR of a model and its core IR become the same graph but for names.
/// The signature, the outputs' names and which outputs share storage stay. A merged node has the metadata of the last
/// of its parts, and a list of the others'. Nothing if there is nothing to do, or if storage_matters. The program must
/// be verified. O(size of the program).
[[nodiscard]] std::optional<ExportedProgram> simplified(const ExportedProgram& program,
                                                        const DecomposeOptions* whole = nullptr, bool before = false);

}  // namespace davit
