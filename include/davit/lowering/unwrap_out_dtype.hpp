// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/core/config.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// A program with the operators themselves for `higher_order.out_dtype(operator, dtype, arguments...)`, in which PT2E
/// writes quantized programs whose arithmetic is on integers (use_reference_representation): their tensors become the
/// common dtype of all and `dtype`, and the result becomes `dtype`.
///
/// Likewise `higher_order.scan` for `associative_scan`, whose first slices begin it, and
/// `higher_order.auto_functionalized` for `auto_functionalized_v2`, on views of its bases, which then get what it made
/// of them. `flex_attention` becomes products, its graphs of scalars on all scores at once, and a softmax. Nothing if
/// there is none. The program must be verified; a call that is not of this form stays. O(size of the program). Source:
/// torch._higher_order_ops: out_dtype.out_dtype_fallback, associative_scan.generic_associative_scan,
/// auto_functionalize.auto_functionalized_v2_dense, flex_attention.math_attention.
[[nodiscard]] std::optional<ExportedProgram> with_unwrapped_out_dtype(const ExportedProgram& program);

}  // namespace davit
