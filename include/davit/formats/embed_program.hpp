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

/// A program as C++: the header, and the blob that it includes as `NAME.bin` (empty if it needs none).
struct EmbeddedProgram {
  std::string header;
  std::string c_header{}, c_source{};  ///< NAME.h and NAME_c.cpp, if they were asked for
  std::vector<std::byte> blob;
  std::vector<std::string> unchecked{};  ///< what the model asserts of its data: static programs do not check it
};

/// Writes a program as a C++ header with a StaticProgram, and its larger constants as a blob. Sizes must be numbers, or
/// be given ones, which those that depend on data cannot. Texts of the program stand in the header as literals and
/// comments that they cannot leave. Guards are checked here: numbers that break one are an error (invalid_shape), and
/// of several sizes those that do are left out, so that their calls are an error. O(size of the program). Errors: stage
/// save.
[[nodiscard]] Result<EmbeddedProgram> embed_program(const ExportedProgram& program, const EmbedOptions& options = {});

/// Writes methods as one program: a StaticProgram each, `NAME::METHOD`, over one state and one blob, in which equal
/// constants are kept once. What a method changes is state of all that have a parameter or buffer of that name. Errors,
/// beside those above: names that are no two methods' or that a static_module has itself; state of one name that has
/// other element types, sizes or initial values. Source: executorch.exir.to_edge of a dict of programs, and its shared
/// mutable buffers.
[[nodiscard]] Result<EmbeddedProgram> embed_program(std::span<const ProgramMethod> methods,
                                                    const EmbedOptions& options = {});

}  // namespace davit::formats
