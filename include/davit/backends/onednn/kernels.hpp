// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/kernels/winograd_weights.hpp"

/// davit's own kernels within a partition, for what portable has no operator for.
namespace davit::onednn_ops {

/// (1, inner), (columns, inner) and maybe (columns) -> (1, columns), of float32.
[[nodiscard]] ErrorCode row_kernel(portable_kernels::KernelCall& call);

/// Images, packed weights, and maybe a bias and images of the result's sizes, (n) each, and the numbers of
/// winograd_numbers -> (n): a convolution, with the bias, the sum and a relu behind it. What is not there is given as
/// any operand.
[[nodiscard]] ErrorCode winograd_kernel(portable_kernels::KernelCall& call);
struct WinogradEpilogue {
  bool bias = false, sum = false, relu = false;
};
[[nodiscard]] std::vector<EValue> winograd_numbers(const kernels::WinogradConvolution& c,
                                                   const WinogradEpilogue& epilogue);

/// (n) of any real dtype, and the number of a ScalarType -> (n) of that.
[[nodiscard]] ErrorCode convert_kernel(portable_kernels::KernelCall& call);
/// The same of `count` elements that lie in memory.
void convert(ScalarType from_type, const std::byte* from, ScalarType to_type, std::byte* to, std::int64_t count);

}  // namespace davit::onednn_ops
