// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/name.hpp"
#include "davit/core/tensor.hpp"

#include "davit/program/exported_program.hpp"

namespace davit::detail {

/// Rows [first, first + count) of a value, and what other values have of them along dimension 0.
struct RowCut {
  std::vector<std::int64_t> per_row{};  ///< per value: of its dimension 0, for each row; 0: the value is whole
  std::int64_t first = 0, count = 0;
};
/// How nodes that make `value`, which are 1 in `nodes`, work row by row of it; nothing if one may mix rows, or if there
/// is one row. O(nodes + values).
[[nodiscard]] std::optional<RowCut> row_cut(GraphModuleView graph, std::span<const std::uint8_t> nodes, ValueId value);

/// Computes values of the root graph that depend on constants alone, on `backend`: those of `needed`, by the nodes that
/// are 1 in `nodes`, or some rows of them. Calls take(tensors), which are valid for the call. False if the backend
/// fails or makes other tensors than the graph declares, or if `take` returns false. O(values) beside the backend's
/// work.
[[nodiscard]] bool compute_constants(const ExportedProgram& program, const BackendTable& backend,
                                     std::span<const std::uint8_t> nodes, std::span<const ValueId> needed,
                                     const RowCut* cut, const std::function<bool(std::span<const TensorView>)>& take);
/// Likewise; keeps all rows. Views of constants share their storage.
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
