// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/core/config.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Replaces unrolled recurrent layers by the operators lstm, gru, rnn_tanh and rnn_relu. Consecutive layers and pairs
/// of directions become one operator, with batch_first if its input and output are transposed.
///
/// The program must have passed simplified: each step has a linear of the state, with the same weight, and a row of one
/// linear of the input. A layer stays unrolled if its steps do not take all rows in order, if another node uses an
/// inner value, or if no backend of `options` takes the operator. Returns nothing if no layer changes, or if
/// storage_matters. The program must be verified. O(size of the program). Source: the decompositions in
/// torch._decomp.decompositions of aten.lstm.input, gru.input, rnn_tanh.input and rnn_relu.input.
[[nodiscard]] std::optional<ExportedProgram> with_recurrent_layers(const ExportedProgram& program,
                                                                   const DecomposeOptions& options);

}  // namespace davit
