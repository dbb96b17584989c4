// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/core/limits.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/program/exported_program.hpp"

namespace tool {

/// Set by --skip-unreadable-guards, for all that reads .pt2 files.
inline bool skip_unreadable_guards = false;

/// What a file is read as: a .pt2 file, what `davit lower` wrote, a .npy or .npz file.
enum class Wanted : std::uint8_t { program, package, array };

/// Whether a file begins as a lowered program does.
[[nodiscard]] bool is_package(const std::string& file);

/// The error of reading `file`, with its name; if it is something else than what was wanted, with what it is and who takes that; if it is
/// not there, with a file beside it that has another ending.
[[nodiscard]] davit::Error guessed(davit::Error error, const std::string& file, Wanted wanted);

/// Reads a .pt2 file. Errors: what reading gives, guessed.
[[nodiscard]] davit::Result<davit::ExportedProgram> read_program(const std::string& file, davit::formats::Pt2Options options = {});

/// A method and its program.
struct NamedProgram {
  std::string method;
  davit::ExportedProgram program;
};
/// Reads "FILE", or methods "NAME=FILE" (of an archive of several models that of the method's name). `are_methods` is set if they have
/// names; "FILE" is "forward". Errors: what reading gives; files without a method.
[[nodiscard]] davit::Result<std::vector<NamedProgram>> read_models(const std::vector<std::string>& models, const davit::Limits& limits, bool& are_methods);

}  // namespace tool
