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

/// Reads an array in numpy's format (versions 1 to 3, little endian, C or Fortran order).
///
/// The tensor views `bytes`; unaligned bytes are copied. Untyped two-byte elements ('<V2') are bfloat16: numpy.save
/// writes that for ml_dtypes' bfloat16. `label` is the file's name in errors. Errors: corrupt_data; invalid_dtype for
/// an unsupported element type; out_of_memory. Source: numpy.lib.format.
[[nodiscard]] Result<Tensor> read_npy(const SharedBytes& bytes, std::string_view label);

/// Reads a .npy file. Errors: as above; io_error.
[[nodiscard]] Result<Tensor> read_npy(const std::string& path);

/// Writes a tensor as a .npy file, version 1.0, C order. Writes bfloat16 as ml_dtypes does; read it with
/// `numpy.load(path).view(ml_dtypes.bfloat16)`, or the bits with `.view("uint16")`. Errors: io_error, invalid_dtype.
[[nodiscard]] Result<void> write_npy(const std::string& path, const TensorView& tensor);

}  // namespace davit::formats
