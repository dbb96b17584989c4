// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// A program as partitioners and static programs see it: functional, simplified, recurrent layers whole, and composite
/// operators taken apart that none of `options` takes whole; nothing if the program is so already. `validate`: what
/// verify says of the program, before and after, is an error. O(nodes + edges).
[[nodiscard]] Result<std::optional<ExportedProgram>> prepare_program(const ExportedProgram& program,
                                                                     const DecomposeOptions& options,
                                                                     bool validate = true);

namespace detail {

/// One error of several: the first, which lists the others.
[[nodiscard]] Error all_of(std::vector<Error> violations);
/// What verify says of a program, if it shall be asked. `calls`: also of its calls, which is asked once: those that
/// lowering makes are as the schemas say.
[[nodiscard]] Result<void> sound(const ExportedProgram& program, bool validate, bool calls = false);

}  // namespace detail

}  // namespace davit
