// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/lowering/functionalize.hpp"
#include "davit/program/verify.hpp"

namespace tool {

/// Runs verify and returns its first error.
[[nodiscard]] inline davit::Result<void> verified(const davit::ExportedProgram& program) {
  if (std::vector<davit::Error> violations = davit::verify(program, {.allow_unknown_operators = true});
      !violations.empty())
    return std::unexpected(std::move(violations.front()));
  return {};
}

/// Decomposes the composite operators of a program. Errors: those of verified().
[[nodiscard]] inline davit::Result<davit::ExportedProgram> core_ir(const davit::ExportedProgram& program) {
  if (davit::Result<void> sound = verified(program); !sound) return std::unexpected(std::move(sound.error()));
  return davit::run_decompositions(program);
}

/// Decomposes composite operators and also functionalizes in-place operators where possible, as torch's
/// run_decompositions does.
[[nodiscard]] inline davit::Result<davit::ExportedProgram> functional_core_ir(const davit::ExportedProgram& program) {
  if (davit::Result<void> sound = verified(program); !sound) return std::unexpected(std::move(sound.error()));
  const std::optional<davit::ExportedProgram> functional = davit::functionalize(program);
  return davit::run_decompositions(functional ? *functional : program);
}

}  // namespace tool
