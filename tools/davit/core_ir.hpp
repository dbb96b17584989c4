// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/lowering/functionalize.hpp"
#include "davit/program/verify.hpp"

namespace tool {

/// Nothing, or what verify finds first.
[[nodiscard]] inline davit::Result<void> verified(const davit::ExportedProgram& program) {
  if (std::vector<davit::Error> violations = davit::verify(program, {.allow_unknown_operators = true});
      !violations.empty())
    return std::unexpected(std::move(violations.front()));
  return {};
}

/// A program with its composite operators taken apart. Errors: those of verified().
[[nodiscard]] inline davit::Result<davit::ExportedProgram> core_ir(const davit::ExportedProgram& program) {
  if (davit::Result<void> sound = verified(program); !sound) return std::unexpected(std::move(sound.error()));
  return davit::run_decompositions(program);
}

/// The same without in-place operators, where functionalize finds a form without, as torch's run_decompositions writes
/// it.
[[nodiscard]] inline davit::Result<davit::ExportedProgram> functional_core_ir(const davit::ExportedProgram& program) {
  if (davit::Result<void> sound = verified(program); !sound) return std::unexpected(std::move(sound.error()));
  const std::optional<davit::ExportedProgram> functional = davit::functionalize(program);
  return davit::run_decompositions(functional ? *functional : program);
}

}  // namespace tool
