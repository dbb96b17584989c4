// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/kernels/winograd_weights.hpp"

/// davit's own kernels within a partition, for steps without an operator of portable.
namespace davit::onednn_ops {

/// row (1, inner), matrix (columns, inner) and optionally bias (columns) -> (1, columns), of float32.
[[nodiscard]] ErrorCode row_kernel(portable_kernels::KernelCall& call);

/// Convolves by Winograd's algorithm, then adds and applies a relu: images (n), packed weights (n), optionally a bias
/// (n) and a summand (n) of the result's sizes, and the numbers of winograd_numbers -> (n). An absent operand is any
/// tensor.
[[nodiscard]] ErrorCode winograd_kernel(portable_kernels::KernelCall& call);
struct WinogradEpilogue {
  bool bias = false, sum = false, relu = false;
};
[[nodiscard]] std::vector<EValue> winograd_numbers(const kernels::WinogradConvolution& c,
                                                   const WinogradEpilogue& epilogue);

/// x (n) of any real dtype, and the number of a ScalarType -> (n) of that dtype.
[[nodiscard]] ErrorCode convert_kernel(portable_kernels::KernelCall& call);
/// Converts `count` elements in memory.
void convert(ScalarType from_type, const std::byte* from, ScalarType to_type, std::byte* to, std::int64_t count);

}  // namespace davit::onednn_ops
