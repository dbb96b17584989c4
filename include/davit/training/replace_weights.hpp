// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Gives a program the weights of another by name: those of a session's state, of a package or a checkpoint.
///
/// Entries of `weights` whose names begin with `prefix` replace the parameter or buffer of the rest of the name; other
/// entries (moments of an optimizer) and parameters without an entry (frozen ones) do not matter. `prefix` is for a
/// module that was trained inside another: "model." of a joint graph whose loss wraps `model`. Tied parameters, which
/// are one tensor under several names, are replaced under all of them if one is named. The tensors are shared, not
/// copied. Answers how many names were replaced.
///
/// Errors (stage load), with the program as it was: not_found if no name fits, with a prefix under which some would;
/// invalid_dtype and invalid_shape for a tensor that is unlike the one it replaces. O(n log n) in the names.
/// Source: torch.nn.Module.load_state_dict(strict=False).
[[nodiscard]] Result<std::size_t> replace_weights(ExportedProgram& program, std::span<const NamedTensor> weights,
                                                  std::string_view prefix = {});

}  // namespace davit
