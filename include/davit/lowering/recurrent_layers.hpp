// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/core/config.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Writes recurrent layers that were taken apart step by step as the operators that they were: lstm, gru, rnn_tanh and
/// rnn_relu, of several layers and both directions where one follows from another, with the batch first where its
/// dimensions are turned around them.
///
/// The program is one that simplified has seen: each step has a linear of the state, with the same weight, and a row of
/// one linear of the input. A layer stays as it is if its steps do not take all rows in order, if anything else needs
/// what is inside, and if no backend of `options` takes it whole. Nothing if there is none, or if storage_matters. The
/// program must be verified. O(size of the program). Source: what torch._decomp.decompositions makes of
/// aten.lstm.input, gru.input, rnn_tanh.input and rnn_relu.input.
[[nodiscard]] std::optional<ExportedProgram> with_recurrent_layers(const ExportedProgram& program,
                                                                   const DecomposeOptions& options);

}  // namespace davit
