// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/error.hpp"
#include "davit/program/exported_program.hpp"

namespace tool {

/// A program as it is embedded: verified, functional, composite operators taken apart but for those that static portable takes
/// whole, and what depends on constants alone computed. Node numbers of static programs are this program's.
[[nodiscard]] davit::Result<davit::ExportedProgram> static_ir(const davit::ExportedProgram& program);

}  // namespace tool
