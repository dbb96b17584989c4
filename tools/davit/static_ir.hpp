// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/error.hpp"
#include "davit/embed/static_plan.hpp"
#include "davit/program/exported_program.hpp"
#include "read_program.hpp"

// What the command asks of static portable: one file compiles its tables.

namespace tool {

/// A program as it is embedded: verified, functional, composite operators taken apart but for those that static
/// portable takes whole, and what depends on constants alone computed. Node numbers of static programs are this
/// program's. Those of `backends` (names by preference, separated by commas; may be empty) compile what they take.
[[nodiscard]] davit::Result<davit::ExportedProgram> static_ir(const davit::ExportedProgram& program,
                                                              std::string_view backends);

/// The models as read_models reads them, each as static_ir: what one of them changes is no constant of the others.
/// Errors: those of both.
[[nodiscard]] davit::Result<std::vector<NamedProgram>> read_methods(const std::vector<std::string>& models,
                                                                    std::string_view backends, bool& are_methods);

/// select_steps with static portable, alone or with what takes calls of delegates behind it; plan_static with static
/// portable alone.
[[nodiscard]] davit::SelectedSteps select_static(const davit::StaticGraph& graph, const davit::StaticInput* inputs,
                                                 const davit::StaticOutput* outputs);
[[nodiscard]] davit::SelectedSteps select_beside_delegates(const davit::StaticGraph& graph,
                                                           const davit::StaticInput* inputs,
                                                           const davit::StaticOutput* outputs);
[[nodiscard]] davit::PlannedProgram plan_static_portable(const davit::StaticGraph& graph,
                                                         const davit::StaticInput* inputs,
                                                         const davit::StaticOutput* outputs, bool tensors_in_arena);
/// Who computes each node of static_ir's program, as static_module decides it for static portable (0) and delegates
/// (1).
[[nodiscard]] std::vector<std::uint8_t> static_backend_of(const davit::ExportedProgram& program);

/// portable's kernels, which say what sizes operators give.
[[nodiscard]] davit::BackendTables portable_tables();

/// Which static kernels there are for an operator.
struct StaticOperator {
  bool any = false;   ///< of float32 and what else it takes
  bool int8 = false;  ///< of quantized programs
};
[[nodiscard]] StaticOperator static_operator(std::string_view name);

}  // namespace tool
