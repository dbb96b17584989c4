// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/byte_arguments.hpp"

/// Kernels on quantized bytes: not of one operator, but of a pattern that PT2E writes around one.
namespace davit::portable_kernels {

/// A product of bytes, where kernels::can_convolve_bytes(). Arguments: images (images, channels, height and width or
/// length), or rows (*, channels); weights from pack_bytes; scales and biases from fill_channels; then
/// `byte_product_numbers`.
[[nodiscard]] ErrorCode byte_product(KernelCall& call);

/// A sum of two tensors of bytes, of one dtype and the same sizes. Arguments: both; then `byte_sum_numbers`.
[[nodiscard]] ErrorCode byte_sum(KernelCall& call);

/// @name The kernels' names in the table of ops::quantization. No program contains them.
inline constexpr std::string_view byte_product_name = "davit.byte_product", byte_sum_name = "davit.byte_sum";

}  // namespace davit::portable_kernels
