// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "davit/backend/static_constant.hpp"
#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/embed/static_plan.hpp"
#include "davit/lowering/lower_program.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::formats {

/// How `embed_program` writes a program.
struct EmbedOptions {
  std::string name = "program";  ///< of the type and the files
  WeightLayout layout = WeightLayout::contiguous;
  bool weights_as_array = false;  ///< the blob as a literal in the header, not as a file that the assembler includes
  /// Of the image, for the blob: where the linker puts it (flash, or what is mapped while forward runs). Empty:
  /// .rodata.davit.weights.NAME. Arrays that the compiler reads stay in .rodata.
  std::string section{};
  bool source_lines = false;      ///< the model's source lines as comments
  /// Numbers for symbolic sizes: "s0" of every method that has it, "decode.s0" of that method.
  std::vector<std::pair<std::string, std::int64_t>> symbols{};
  /// select_steps<Backends...>: the nodes that these refuse are an error. Null: nobody looks.
  SelectedSteps (*select)(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs) = nullptr;
  /// plan_static<portable_static>: C functions are written too, for portable, with the sizes that this plans.
  PlannedProgram (*plan)(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs, bool tensors_in_arena) = nullptr;
};

/// A program as C++: the header, and the blob that it includes as `NAME.bin` (empty if it needs none).
struct EmbeddedProgram {
  std::string header;
  std::string c_header{}, c_source{};  ///< NAME.h and NAME_c.cpp, if they were asked for
  std::vector<std::byte> blob;
  std::vector<std::string> unchecked{};  ///< what the model asserts of its data: static programs do not check it
};

/// Writes a program as a C++ header with a StaticProgram, and its larger constants as a blob. Sizes must be numbers, or
/// be given ones, which those that depend on data cannot. Texts of the program stand in the header as literals and comments
/// that they cannot leave. O(size of the program). Errors: stage save.
[[nodiscard]] Result<EmbeddedProgram> embed_program(const ExportedProgram& program, const EmbedOptions& options = {});

/// Writes methods as one program: a StaticProgram each, `NAME::METHOD`, over one state and one blob, in which equal constants are
/// kept once. What a method changes is state of all that have a parameter or buffer of that name. Errors, beside those above:
/// names that are no two methods' or that a static_module has itself; state of one name that has other element types, sizes or
/// initial values. Source: executorch.exir.to_edge of a dict of programs, and its shared mutable buffers.
[[nodiscard]] Result<EmbeddedProgram> embed_program(std::span<const ProgramMethod> methods, const EmbedOptions& options = {});

}  // namespace davit::formats

#if !defined(DAVIT_COMPILED)
#include "davit/formats/impl/embed_program.ipp"
#endif
