// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/run_time/kernel_call.hpp"

/// davit's own kernels within a partition, for what portable has no operator for.
namespace davit::onednn_ops {

/// (1, inner), (columns, inner) and maybe (columns) -> (1, columns), of float32.
[[nodiscard]] ErrorCode row_kernel(portable_kernels::KernelCall& call);

}  // namespace davit::onednn_ops
