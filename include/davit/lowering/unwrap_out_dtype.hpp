// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/core/config.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Rewrites `higher_order.out_dtype(operator, dtype, arguments...)`, which PT2E uses for quantized programs with
/// integer arithmetic (use_reference_representation): operator(tensors cast to the common dtype of all and `dtype`),
/// cast to `dtype`.
///
/// Also associative_scan(x) -> cat(x[0], scan(x[1:])); auto_functionalized_v2 -> auto_functionalized on views of its
/// bases, which are then updated; flex_attention -> products and a softmax, with its scalar graphs applied to all
/// scores at once. Returns nothing if there is no such call. A call of another form stays. The program must be
/// verified. O(size of the program). Source: torch._higher_order_ops: out_dtype.out_dtype_fallback,
/// associative_scan.generic_associative_scan, auto_functionalize.auto_functionalized_v2_dense,
/// flex_attention.math_attention.
[[nodiscard]] std::optional<ExportedProgram> with_unwrapped_out_dtype(const ExportedProgram& program);

}  // namespace davit
