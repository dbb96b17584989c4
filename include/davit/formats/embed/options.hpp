// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/backend/static_constant.hpp"
#include "davit/embed/static_plan.hpp"

namespace davit::formats {

/// What a symbolic size is: a number, or one of first, first + step, ... up to last, which comes with the call.
struct EmbedSymbol {
  std::string name;  ///< "s0" of every method that has it, "decode.s0" of that method
  std::int64_t first = 0;
  std::int64_t last = first;
  std::int64_t step = 1;
};

/// How `embed_program` writes a program.
struct EmbedOptions {
  std::string name = "program";  ///< of the type and the files
  WeightLayout layout = WeightLayout::contiguous;
  bool weights_as_array = false;  ///< the blob as a literal in the header, not as a file that the assembler includes
  /// Of the image, for the blob: where the linker puts it (flash, or what is mapped while forward runs). Empty:
  /// .rodata.davit.weights.NAME. Arrays that the compiler reads stay in .rodata.
  std::string section{};
  bool source_lines = false;  ///< the model's source lines as comments
  std::vector<EmbedSymbol> symbols{};
  /// What says which sizes operators give, portable's table: nodes that are declared with others are an error. None:
  /// nobody looks, and the program's own are believed.
  BackendTables kernels{};
  /// select_steps<Backends...>: the nodes that these refuse are an error. Null: nobody looks.
  SelectedSteps (*select)(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs) = nullptr;
  /// plan_static<portable_static>: C functions are written too, for portable, with the sizes that this plans.
  PlannedProgram (*plan)(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs,
                         bool tensors_in_arena) = nullptr;
};

}  // namespace davit::formats
