// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/definitions.hpp"

namespace davit::formats {

/// Reads an array of numpy's format (versions 1 to 3, little endian, C or Fortran order).
///
/// A view of `bytes`, copied only where they are not aligned. Elements of two bytes without a type ('<V2'), which is
/// what numpy.save makes of ml_dtypes' bfloat16, are bfloat16. `label` names the file in errors. Errors: corrupt_data;
/// invalid_dtype for an element type that no tensor has; out_of_memory. Source: numpy.lib.format.
[[nodiscard]] Result<Tensor> read_npy(const SharedBytes& bytes, std::string_view label);

/// Reads a .npy file. Errors as above, and io_error.
[[nodiscard]] Result<Tensor> read_npy(const std::string& path);

/// Writes a tensor as a .npy file, version 1.0, C order; bfloat16 as ml_dtypes does:
/// `numpy.load(path).view(ml_dtypes.bfloat16)`, or without that package `.view("uint16")` for the bits. Errors:
/// io_error, invalid_dtype.
[[nodiscard]] Result<void> write_npy(const std::string& path, const TensorView& tensor);

}  // namespace davit::formats
