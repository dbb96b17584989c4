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

/// Synthetic user inputs of a program, and the tensors they view.
struct SyntheticInputs {
  std::vector<Tensor> tensors;
  std::vector<EValue> values;
};

/// Makes inputs for timing a program: random floats from 0.25 to 1, zeros for other dtypes (valid as indices), symbolic
/// sizes and numbers as exported. Omits inputs fixed at export.
///
/// Errors: unsupported_argument for custom objects and unknown dtypes; invalid_shape; out_of_memory, also above
/// `max_bytes`. O(elements).
[[nodiscard]] Result<SyntheticInputs> synthetic_inputs(const ExportedProgram& program, std::uint64_t seed = 0,
                                                       std::size_t max_bytes = std::size_t{1} << 30);

}  // namespace davit
