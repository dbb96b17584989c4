// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "davit/core/error.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/program/exported_program.hpp"

namespace tool {

/// Whether a file begins as a lowered program does.
[[nodiscard]] bool is_package(const std::string& file);

/// The error of reading `file`, with its name; if it is a file of another kind, with what it is and who takes that.
[[nodiscard]] davit::Error guessed(davit::Error error, const std::string& file, bool wanted_package);

/// Reads a .pt2 file. Errors: what reading gives, guessed.
[[nodiscard]] davit::Result<davit::ExportedProgram> read_program(const std::string& file, const davit::formats::Pt2Options& options = {});

}  // namespace tool
