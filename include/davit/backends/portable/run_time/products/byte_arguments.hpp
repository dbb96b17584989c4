// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/core/evalue.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/kernels/byte_convolution.hpp"
#include "davit/kernels/quantize.hpp"

/// Arguments of kernels on bytes: packed weights, and numbers.
namespace davit::portable_kernels {

/// The layout of a result's bytes; operands may have either layout.
enum class ByteLayout : std::uint8_t {
  row_major,
  channels_last,  ///< dimension 1 of images is the innermost
};

/// kernels::pack_bytes for the instruction set of the kernels.
void pack_weights(const kernels::ByteConvolution& c, const std::int8_t* weights, std::int16_t* to) noexcept;

/// The parameters of a product.
struct ByteProduct {
  kernels::ByteConvolution convolution;  ///< the sizes of source and result are those of the call
  std::int64_t bottom = 0, right = 0;    ///< padding at the end
  bool of_rows = false;
  ScalarType made = ScalarType::int8;
};
[[nodiscard]] std::vector<EValue> byte_product_numbers(const ByteProduct& product, std::int32_t zero_point,
                                                       const kernels::ByteRange& range, ByteLayout layout);

/// The parameters of a sum, as arguments.
[[nodiscard]] std::vector<EValue> byte_sum_numbers(const kernels::ByteScale& first, const kernels::ByteScale& second,
                                                   const kernels::ByteRange& range, ByteLayout layout);

}  // namespace davit::portable_kernels
