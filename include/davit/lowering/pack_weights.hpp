// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/name.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Puts `davit.linear_packed` in place of linear, mm, addmm and matmul whose weight is made of integers of 4 or 8 bits,
/// scales and perhaps zero points, all constants, by any operators: dequantize_per_channel, a product with scales in
/// groups, nibbles taken apart by shifts. Packed weights (PackedWeights) become constants in place of the originals.
///
/// The last backend computes each weight, and the pass looks for scales, among the floats that the weight is made of,
/// by which all its elements are integers: what is packed stands for the same weights, to 1e-6 of each (float16 and
/// bfloat16: to their rounding). Products of bytes that are quantized with constant parameters stay for the backends
/// that compute them in integers, and so do weights that a backend takes which has no davit.linear_packed.
///
/// Nothing if nothing is packed. `unpacked`, if given, gets a sentence for each product whose weight has integers that
/// do not fit. The program must be verified. O(program + elements of weights * scales that they are made of).
[[nodiscard]] std::optional<ExportedProgram> pack_weights(const ExportedProgram& program,
                                                          const DecomposeOptions& takers,
                                                          std::vector<Name>* unpacked = nullptr);

}  // namespace davit
