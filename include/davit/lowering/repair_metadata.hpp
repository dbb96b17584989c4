// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// True for an operator that is a whole recurrent layer.
[[nodiscard]] constexpr bool is_recurrent_layer(std::string_view target) noexcept {
  return target == "aten.gru.input" || target == "aten.lstm.input" || target == "aten.rnn_relu.input" ||
         target == "aten.rnn_tanh.input";
}

/// A program whose values have the sizes, and dtypes, that running it gives, where torch.export records others:
/// torch 2.6 says (layers, 1, batch, hidden) of the last states of an LSTM, which are (layers, batch, hidden), and as
/// many rows of a recurrent layer as its example had, where those that it takes depend on the call; and that places and
/// counts of unique are of the dtype of its elements. So of all that follows from them.
///
/// Nothing if the program says what is right, or is not as the operators' schemas say. Where the sizes of a result
/// cannot be told from the arguments they stay as they are. The program must be verified. O(size of the program).
/// Source: torch._decomp.decompositions.one_layer_lstm, which torch uses for the sizes, beside aten.lstm.input, which
/// runs; torch._subclasses.fake_impls._unique.
[[nodiscard]] std::optional<ExportedProgram> with_repaired_metadata(const ExportedProgram& program);

}  // namespace davit
