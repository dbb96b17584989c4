// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// True for lstm, gru and rnn operators, which are whole recurrent layers.
[[nodiscard]] constexpr bool is_recurrent_layer(std::string_view target) noexcept {
  return target == "aten.gru.input" || target == "aten.lstm.input" || target == "aten.rnn_relu.input" ||
         target == "aten.rnn_tanh.input";
}

/// Repairs recorded sizes and dtypes that differ from those at run time, and those of all values computed from them.
/// torch 2.6 records the last states of an LSTM with sizes (layers, 1, batch, hidden) instead of (layers, batch,
/// hidden), the output of a recurrent layer with as many steps as its example had, even if their number is symbolic,
/// and the index outputs of `unique` with the element dtype.
///
/// Returns nothing if the metadata is right, or if calls do not fit the operators' schemas. Sizes of a result that do
/// not follow from the arguments stay. The program must be verified. O(size of the program). Source:
/// torch._decomp.decompositions.one_layer_lstm, from which torch takes the sizes, while aten.lstm.input runs;
/// torch._subclasses.fake_impls._unique.
[[nodiscard]] std::optional<ExportedProgram> with_repaired_metadata(const ExportedProgram& program);

}  // namespace davit
