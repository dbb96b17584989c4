// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/core/limits.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/program/exported_program.hpp"

namespace tool {

/// Set by --skip-unreadable-guards for every .pt2 file that is read.
inline bool skip_unreadable_guards = false;

/// Returns the options for reading a .pt2 file.
[[nodiscard]] inline davit::formats::Pt2Options reading(const davit::Limits& limits = {}, std::string_view model = {}) {
  return {.model = model, .limits = limits, .skip_unreadable_guards = skip_unreadable_guards};
}

/// A method and its program.
struct NamedProgram {
  std::string method;
  davit::ExportedProgram program;
};
/// Reads "FILE", or several "METHOD=FILE"; in an archive of several models, the model with the method's name. Sets
/// `are_methods` if there are method names; a lone "FILE" is "forward". Errors: those of reading; files without a
/// method.
[[nodiscard]] davit::Result<std::vector<NamedProgram>> read_models(const std::vector<std::string>& models,
                                                                   const davit::Limits& limits, bool& are_methods);

}  // namespace tool
