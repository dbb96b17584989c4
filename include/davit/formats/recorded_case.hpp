// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/formats/case_files.hpp"
#include "davit/formats/recorded_value.hpp"

namespace davit::formats {

/// One recorded call of a program.
struct RecordedRun {
  std::vector<RecordedValue> inputs;   ///< user inputs, in signature order
  std::vector<RecordedValue> outputs;  ///< all graph outputs, in order
  /// Values of user inputs after the run, with their indices, if the program changes inputs in place.
  std::vector<std::pair<std::size_t, RecordedValue>> inputs_after;
  /// Values of buffers after the run, by name, if the program changes buffers in place.
  std::vector<std::pair<std::string, RecordedValue>> state_after;
};

/// A program with recorded runs: the input of `davit check`.
struct RecordedCase {
  std::string name;
  std::string program;  ///< file name of the .pt2, or of a package made from it
  double rtol = 0;
  double atol = 0;
  std::string check = "close";             ///< close, shape_dtype or permutation
  std::vector<std::size_t> check_outputs;  ///< indices of compared outputs; empty: all
  std::vector<RecordedRun> runs;
};

/// Reads case.json and its arrays. Errors: io_error, not_found, corrupt_data and invalid_dtype, with the file and the
/// place in it.
[[nodiscard]] Result<RecordedCase> read_case(const CaseFiles& files);

}  // namespace davit::formats
