// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Prepares a program for partitioners and static programs: functional, simplified, with whole recurrent layers, and
/// with composites decomposed that no backend of `options` takes whole. Returns nothing if the program is so already.
/// `validate`: violations that verify finds, before and after, are errors. O(nodes + edges).
[[nodiscard]] Result<std::optional<ExportedProgram>> prepare_program(const ExportedProgram& program,
                                                                     const DecomposeOptions& options,
                                                                     bool validate = true);

namespace detail {

/// Makes one error of several: the first, which lists the others.
[[nodiscard]] Error all_of(std::vector<Error> violations);
/// Calls verify if `validate`. `calls`: also checks calls against schemas, which happens once: lowering itself makes
/// valid calls.
[[nodiscard]] Result<void> sound(const ExportedProgram& program, bool validate, bool calls = false);

}  // namespace detail

}  // namespace davit
