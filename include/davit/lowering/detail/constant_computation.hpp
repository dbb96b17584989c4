// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/name.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::detail {

/// Computes values of the root graph that depend on constants alone, on `backend`: those of `needed`, by the nodes that
/// are 1 in `nodes`. Views of constants share their storage. Nothing if the backend fails or makes other tensors than
/// the graph declares. O(program) beside the backend's work.
[[nodiscard]] std::optional<std::vector<Tensor>> compute_constants(const ExportedProgram& program,
                                                                   const BackendTable& backend,
                                                                   std::span<const std::uint8_t> nodes,
                                                                   std::span<const ValueId> needed);

/// Removes the nodes that are 1 in `dropped`; values that they made have no producer. O(nodes + values).
void drop_nodes(GraphModule& module, std::span<const std::uint8_t> dropped);

/// A constant for a value of the root graph that nothing makes.
struct AddedConstant {
  ValueId value = no_id;
  Name target;  ///< a name that no tensor of the program has
  Tensor tensor;
};
/// Makes the values inputs of the program, behind its other constants. O(inputs + constants).
void add_constants(ExportedProgram& program, std::vector<AddedConstant> constants);

}  // namespace davit::detail
