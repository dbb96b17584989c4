// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/formats/embed/options.hpp"
#include "davit/lowering/lower_program.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::formats {

/// A program as C++: the header, and the blob that it includes as `NAME.bin` (empty if no blob is needed).
struct EmbeddedProgram {
  std::string header;
  std::string c_header{}, c_source{};  ///< NAME.h and NAME_c.cpp, if the options ask for them
  std::vector<std::byte> blob;
  std::vector<std::string> unchecked{};  ///< conditions on data that the model asserts and static programs do not check
};

/// Writes a program as a C++ header with a StaticProgram, and its larger constants as a blob. Every size must be a
/// number or get one from the options; sizes that depend on data are an error. Names and texts of the program appear in
/// the header as literals and comments, escaped so that they cannot become code. Guards are checked here: numbers that
/// break one are an error (invalid_shape). With several sizes, the sizes that break a guard are left out, and calls
/// with them fail. O(size of the program). Errors: stage save.
[[nodiscard]] Result<EmbeddedProgram> embed_program(const ExportedProgram& program, const EmbedOptions& options = {});

/// Writes methods as one program: a StaticProgram each, `NAME::METHOD`, over one state and one blob, which contains
/// equal constants once. State that one method changes is shared by all methods with a parameter or buffer of that
/// name. Further errors: two methods with one name, or a method's name that static_module uses; state whose element
/// type, sizes or initial values differ between methods. Source: executorch.exir.to_edge of a dict of programs, and its
/// shared mutable buffers.
[[nodiscard]] Result<EmbeddedProgram> embed_program(std::span<const ProgramMethod> methods,
                                                    const EmbedOptions& options = {});

}  // namespace davit::formats
