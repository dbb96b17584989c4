// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/backend/static_constant.hpp"
#include "davit/embed/static_plan.hpp"

namespace davit::formats {

/// The values of a symbol: one number, or first, first + step, ... up to last, selected by the call.
struct EmbedSymbol {
  std::string name;  ///< "s0" in every method that has it, "decode.s0" in that method
  std::int64_t first = 0;
  std::int64_t last = first;
  std::int64_t step = 1;
};

/// Options of `embed_program`.
struct EmbedOptions {
  std::string name = "program";  ///< of the type and the files
  WeightLayout layout = WeightLayout::contiguous;
  bool weights_as_array = false;  ///< write the blob as a literal into the header, not as a file for the assembler
  /// The image's section for the blob (flash, or memory that is mapped while forward runs). Empty:
  /// .rodata.davit.weights.NAME. Arrays that the compiler reads stay in .rodata.
  std::string section{};
  bool source_lines = false;  ///< write the model's source lines as comments
  std::vector<EmbedSymbol> symbols{};
  /// Backends that compute nodes to check their declared sizes: portable. A contradiction is an error. Empty: no check,
  /// the declared sizes count.
  BackendTables kernels{};
  /// select_steps<Backends...>: nodes that these backends refuse are an error. Null: no check.
  SelectedSteps (*select)(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs) = nullptr;
  /// plan_static<portable_static>: also write C functions, for portable, with the planned sizes. Null: none.
  PlannedProgram (*plan)(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs,
                         bool tensors_in_arena) = nullptr;
};

}  // namespace davit::formats
