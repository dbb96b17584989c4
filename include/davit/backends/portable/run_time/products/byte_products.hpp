// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/byte_arguments.hpp"

/// Kernels on bytes that stand for numbers: of no operator, but of several that PT2E writes around one.
namespace davit::portable_kernels {

/// A product of bytes, where kernels::can_convolve_bytes(). Arguments: images (images, channels, height and width or
/// length), or rows
/// (*, channels); weights as pack_bytes leaves them; scales and biases as fill_channels does; then
/// `byte_product_numbers`.
[[nodiscard]] ErrorCode byte_product(KernelCall& call);

/// A sum of two tensors of bytes, of one dtype and the same sizes. Arguments: both; then `byte_sum_numbers`.
[[nodiscard]] ErrorCode byte_sum(KernelCall& call);

/// @name What the kernels are called in the table of ops::quantization. No program names them.
inline constexpr std::string_view byte_product_name = "davit.byte_product", byte_sum_name = "davit.byte_sum";

}  // namespace davit::portable_kernels
