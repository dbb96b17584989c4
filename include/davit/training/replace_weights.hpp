// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Replaces a program's weights by name with tensors of a session's state, a package or a checkpoint, and returns how
/// many names it replaced.
///
/// An entry of `weights` named `prefix` + NAME replaces the parameter or buffer NAME. Other entries (moments of an
/// optimizer) are ignored, and parameters without an entry (frozen ones) stay. `prefix` is for a module that was
/// trained inside another: "model." for a joint graph whose loss wraps `model`. Tied parameters, which are one tensor
/// under several names, are replaced under all of them if an entry names one. The tensors are shared, not copied.
///
/// Errors (stage load) leave the program as it was: not_found if no name fits, with a prefix that would fit;
/// invalid_dtype and invalid_shape for a tensor whose dtype or sizes differ from the replaced tensor's;
/// invalid_argument for one whose elements do not all lie in its storage. O(n log n) in the names. Source:
/// torch.nn.Module.load_state_dict(strict=False).
[[nodiscard]] Result<std::size_t> replace_weights(ExportedProgram& program, std::span<const NamedTensor> weights,
                                                  std::string_view prefix = {});

}  // namespace davit
