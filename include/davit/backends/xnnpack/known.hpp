// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "davit/backends/xnnpack/constants.hpp"
#include "davit/backends/xnnpack/plan.hpp"

namespace davit::xnnpack_parts {

/// What is known of a value while planning: constant, or held by slots (the same elements in different orders).
struct Known {
  bool constant = false;
  bool packed = false;       ///< constant: the int8 tensor below, not dequantized yet
  bool dequantized = false;  ///< slots hold int8; the value is what `quantization` makes of them
  Tensor tensor;             ///< constant
  QuantizedTensor weights;   ///< constant and packed
  Quantization quantization;
  std::vector<std::uint32_t> slots;
};

/// Where a value goes when it is part of a concatenation along the innermost dimension.
struct Slice {
  ValueId whole = no_id;
  std::int64_t offset = 0;
};

/// Zeros around a value that a convolution takes into its own padding.
struct Padded {
  ValueId source = no_id;
  std::array<std::int32_t, 2 * max_dims> pads{};
};

}  // namespace davit::xnnpack_parts
