// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
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

/// What is wrong with the command line.
[[nodiscard]] inline std::unexpected<davit::Error> refuse(davit::ErrorCode code, davit::Name where, davit::Name what,
                                                          davit::Name fix) {
  return std::unexpected(davit::Error{.code = code,
                                      .stage = davit::Stage::load,
                                      .where = std::move(where),
                                      .what = std::move(what),
                                      .fix = std::move(fix)});
}

/// An input of a program, and what it views.
struct Input {
  davit::Tensor tensor;
  std::string text;
  davit::EValue value;
};

/// Reads inputs from the command line: FILE.npy, FILE.npz (its arrays in the order in which they were saved),
/// FILE.npz:NAME, a number, true, false, none, or str:TEXT. Errors: of what is none of these, guessed what it is.
[[nodiscard]] davit::Result<std::vector<Input>> parse_inputs(const std::vector<std::string>& texts);
/// Arrays of uint16 that stand where a program takes bfloat16 become that: its bits, as programs without ml_dtypes
/// write them.
void take_bits(std::vector<Input>& inputs, std::span<const davit::InputPort> ports);

/// What a program takes, in words: "'x' float32[1, 3], 'n' int"; inputs that the export fixed are left out.
[[nodiscard]] std::string describe_inputs(const davit::MethodInterface& interface);

/// Inputs for a program made from a seed: floats in [-1, 1), integers 0 or 1 (so that they may be indices), symbolic
/// sizes as exported. Inputs that the export fixed are left out. Errors: unsupported_argument for custom objects;
/// out_of_memory.
[[nodiscard]] davit::Result<std::vector<Input>> random_inputs(const davit::ExportedProgram& program,
                                                              std::uint64_t seed);
/// Those that are named, or random ones if there are none.
[[nodiscard]] davit::Result<std::vector<Input>> inputs_or_random(const std::vector<std::string>& texts,
                                                                 const davit::ExportedProgram& program,
                                                                 std::span<const davit::InputPort> ports,
                                                                 std::uint64_t seed);

/// Copies, which a program may change without changing these.
[[nodiscard]] std::vector<Input> copy_inputs(const std::vector<Input>& inputs);
[[nodiscard]] std::vector<davit::EValue> values_of(const std::vector<Input>& inputs);

}  // namespace tool
