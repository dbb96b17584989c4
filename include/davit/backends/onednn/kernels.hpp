// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/scalar_type.hpp"

/// davit's own kernels within a partition, for what portable has no operator for.
namespace davit::onednn_ops {

/// (1, inner), (columns, inner) and maybe (columns) -> (1, columns), of float32.
[[nodiscard]] ErrorCode row_kernel(portable_kernels::KernelCall& call);

/// A sum of two tensors of bytes of a dtype. Arguments: both; scale and zero point of both; 1 / scale, zero point and bounds of the result.
[[nodiscard]] portable_kernels::Kernel int8_sum_kernel(ScalarType type) noexcept;

/// A product of bytes of a dtype, where kernels::can_convolve_bytes(). Arguments: bytes, packed weights, scales and biases of the channels; the
/// sizes of a ByteConvolution, in its order; the zero point; the result's range and dtype.
[[nodiscard]] portable_kernels::Kernel int8_product_kernel(ScalarType from) noexcept;

}  // namespace davit::onednn_ops
