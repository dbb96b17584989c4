// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "davit/core/error.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/verify.hpp"

namespace tool {

/// A program with its composite operators taken apart, but for those that `options` keep. Errors: what verify finds first.
[[nodiscard]] inline davit::Result<davit::ExportedProgram> core_ir(const davit::ExportedProgram& program, const davit::DecomposeOptions& options = {}) {
  if (std::vector<davit::Error> violations = davit::verify(program, {.allow_unknown_operators = true}); !violations.empty())
    return std::unexpected(std::move(violations.front()));
  return davit::run_decompositions(program, options);
}

}  // namespace tool
