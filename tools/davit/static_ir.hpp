// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/error.hpp"
#include "davit/core/name.hpp"
#include "davit/embed/static_plan.hpp"
#include "davit/program/exported_program.hpp"
#include "read_program.hpp"

// Queries of static portable. One file compiles its tables.

namespace tool {

/// Prepares a program for embedding: verified, functional, composite operators decomposed (except those that static
/// portable takes whole), weights of integers packed, constants folded. Static programs have this program's node
/// numbers. The backends in `backends` (names by preference, separated by commas; may be empty) compile the nodes they
/// take. `warnings`, if given, gets a sentence for each weight of integers that becomes floats.
[[nodiscard]] davit::Result<davit::ExportedProgram> static_ir(const davit::ExportedProgram& program,
                                                              std::string_view backends,
                                                              std::vector<davit::Name>* warnings = nullptr);

/// Reads models by read_models and prepares each by static_ir. State that one of them changes is no constant in the
/// others. Errors: those of both.
[[nodiscard]] davit::Result<std::vector<NamedProgram>> read_methods(const std::vector<std::string>& models,
                                                                    std::string_view backends, bool& are_methods,
                                                                    std::vector<davit::Name>* warnings = nullptr);

/// select_steps for static portable, alone or followed by `delegates`, which takes delegate calls; plan_static for
/// static portable alone.
[[nodiscard]] davit::SelectedSteps select_static(const davit::StaticGraph& graph, const davit::StaticInput* inputs,
                                                 const davit::StaticOutput* outputs);
[[nodiscard]] davit::SelectedSteps select_beside_delegates(const davit::StaticGraph& graph,
                                                           const davit::StaticInput* inputs,
                                                           const davit::StaticOutput* outputs);
[[nodiscard]] davit::PlannedProgram plan_static_portable(const davit::StaticGraph& graph,
                                                         const davit::StaticInput* inputs,
                                                         const davit::StaticOutput* outputs, bool tensors_in_arena);
/// Returns the backend of each node of static_ir's program, as static_module assigns it: 0 is static portable, 1 is
/// `delegates`.
[[nodiscard]] std::vector<std::uint8_t> static_backend_of(const davit::ExportedProgram& program);

/// Returns portable's tables, whose kernels infer the sizes of operators.
[[nodiscard]] davit::BackendTables portable_tables();

/// The static kernels of an operator.
struct StaticOperator {
  bool any = false;   ///< for float32 and other dtypes
  bool int8 = false;  ///< for quantized programs
};
[[nodiscard]] StaticOperator static_operator(std::string_view name);

}  // namespace tool
