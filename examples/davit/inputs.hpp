// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/exported_program.hpp"

namespace tool {

/// An input of a program, and what it views.
struct Input {
  davit::Tensor tensor;
  std::string text;
  davit::EValue value;
};

/// Reads an input from the command line: FILE.npy, a number, true, false, none, or str:TEXT.
[[nodiscard]] davit::Result<void> parse_input(const std::string& text, Input& out);
[[nodiscard]] davit::Result<std::vector<Input>> parse_inputs(const std::vector<std::string>& texts);

/// Inputs for a program made from a seed: floats in [-1, 1), integers 0 or 1 (so that they may be indices), symbolic sizes as
/// exported. Inputs that the export fixed are left out. Errors: unsupported_argument for custom objects; out_of_memory.
[[nodiscard]] davit::Result<std::vector<Input>> random_inputs(const davit::ExportedProgram& program, std::uint64_t seed);

/// Copies, which a program may change without changing these.
[[nodiscard]] std::vector<Input> copy_inputs(const std::vector<Input>& inputs);
[[nodiscard]] std::vector<davit::EValue> values_of(const std::vector<Input>& inputs);

}  // namespace tool
