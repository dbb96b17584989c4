// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/core/limits.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/program/exported_program.hpp"

namespace tool {

/// A method and its program.
struct NamedProgram {
  std::string method;
  davit::ExportedProgram program;
};
/// Reads "FILE", or methods "NAME=FILE" (of an archive of several models that of the method's name). `are_methods` is set if they have
/// names; "FILE" is "forward". Errors: what reading gives; files without a method.
[[nodiscard]] davit::Result<std::vector<NamedProgram>> read_models(const std::vector<std::string>& models, const davit::Limits& limits, bool& are_methods);

}  // namespace tool
