// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/program/exported_program.hpp"

namespace tool {

/// Makes an error about the command line.
[[nodiscard]] inline std::unexpected<davit::Error> refuse(davit::ErrorCode code, davit::Name where, davit::Name what,
                                                          davit::Name fix) {
  return std::unexpected(davit::Error{.code = code,
                                      .stage = davit::Stage::load,
                                      .where = std::move(where),
                                      .what = std::move(what),
                                      .fix = std::move(fix)});
}

/// An input of a program, and its storage.
struct Input {
  davit::Tensor tensor;
  std::string text;
  davit::EValue value;
};

/// Parses inputs of the command line: FILE.npy, FILE.npz (its arrays in saved order), FILE.npz:NAME, a number, true,
/// false, none, or str:TEXT. Errors: any other text, with a guess of the file's kind.
[[nodiscard]] davit::Result<std::vector<Input>> parse_inputs(const std::vector<std::string>& texts);
/// Converts uint16 arrays to bfloat16 where the program takes bfloat16: programs without ml_dtypes write the bits.
void reinterpret_as_bfloat16(std::vector<Input>& inputs, std::span<const davit::InputPort> ports);

/// Describes a program's inputs: "'x' float32[1, 3], 'n' int". Omits inputs fixed at export.
[[nodiscard]] std::string describe_inputs(const davit::MethodInterface& interface);

/// Makes random inputs from a seed: floats in [-1, 1), integers 0 or 1 (valid as indices), symbolic sizes as exported.
/// Omits inputs fixed at export. Errors: unsupported_argument for custom objects; out_of_memory.
[[nodiscard]] davit::Result<std::vector<Input>> random_inputs(const davit::ExportedProgram& program,
                                                              std::uint64_t seed);
/// True: the source of inputs that the user did not give is printed to stderr.
enum class SayInputs : bool { no, yes };
/// Copies the inputs that torch.export.save recorded in the program's file; nullopt if it has none.
[[nodiscard]] std::optional<std::vector<Input>> example_inputs(const davit::ExportedProgram& program, SayInputs say);
/// Parses `texts`. Without any: random inputs of the seed if there is one, else the example inputs, else random inputs
/// of seed 0.
[[nodiscard]] davit::Result<std::vector<Input>> inputs_or_default(const std::vector<std::string>& texts,
                                                                  const davit::ExportedProgram& program,
                                                                  std::span<const davit::InputPort> ports,
                                                                  std::optional<std::uint64_t> seed, SayInputs say);

/// Copies inputs for a program that may change them.
[[nodiscard]] std::vector<Input> copy_inputs(const std::vector<Input>& inputs);
[[nodiscard]] std::vector<davit::EValue> values_of(const std::vector<Input>& inputs);

}  // namespace tool
