// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/name.hpp"
#include "davit/core/packed_weights.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

struct PackOptions {
  /// words: davit.linear_packed.default and davit.embedding_packed; rows: davit.linear_packed.rows, of which static
  /// programs also read products of bytes.
  PackedLayout layout = PackedLayout::words;
  /// The backend that computes weights; nullptr: the last of the takers.
  const BackendTable* computes = nullptr;
};

/// Puts `davit.linear_packed` in place of linear, mm, addmm and matmul whose weight is made of integers of 4 or 8 bits,
/// scales and perhaps zero points, all constants, by any operators: dequantize_per_channel, a product with scales in
/// groups, nibbles taken apart by shifts. Packed weights (PackedWeights) become constants in place of the originals.
///
/// The last backend computes each weight, and the pass looks for scales, among the floats that the weight is made of,
/// by which all its elements are integers: what is packed stands for the same weights, to 1e-6 of each (float16 and
/// bfloat16: to their rounding). Products of bytes that are quantized with constant parameters stay for the backends
/// that compute them in integers (in PackedLayout::rows: if their weights have 8 bits and neither groups nor zero
/// points), and so do weights that nodes of other kinds read too (in PackedLayout::rows), and weights that a backend
/// takes which has no davit.linear_packed.
///
/// Nothing if nothing is packed. `unpacked`, if given, gets a sentence for each product whose weight has integers that
/// do not fit. The program must be verified. O(program + elements of weights * scales that they are made of).
[[nodiscard]] std::optional<ExportedProgram> pack_weights(const ExportedProgram& program,
                                                          const DecomposeOptions& takers,
                                                          std::vector<Name>* unpacked = nullptr,
                                                          const PackOptions& options = {});

}  // namespace davit
