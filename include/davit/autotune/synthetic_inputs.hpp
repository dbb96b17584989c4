// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// User inputs of a program, and what they view.
struct SyntheticInputs {
  std::vector<Tensor> tensors;
  std::vector<EValue> values;
};

/// Inputs to run a program with, for its time only: floats from 0.25 to 1 made from a seed, zeros of other dtypes
/// (valid as indices), symbolic sizes and numbers as exported. Inputs that the export fixed are left out.
///
/// Errors: unsupported_argument for custom objects and unknown dtypes; invalid_shape; out_of_memory, also if they would
/// take more than `most_bytes`. O(elements).
[[nodiscard]] Result<SyntheticInputs> synthetic_inputs(const ExportedProgram& program, std::uint64_t seed = 0,
                                                       std::size_t most_bytes = std::size_t{1} << 30);

}  // namespace davit
