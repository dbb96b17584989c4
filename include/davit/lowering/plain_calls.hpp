// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/core/config.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// A program with the operators themselves for `higher_order.out_dtype(operator, dtype, arguments...)`, in which PT2E writes quantized
/// programs whose arithmetic is on integers (use_reference_representation): their tensors become the common dtype of all and `dtype`, and
/// the result becomes `dtype`.
///
/// Nothing if there is none. The program must be verified; a call that is not of this form stays. O(size of the program).
/// Source: torch._higher_order_ops.out_dtype.out_dtype_fallback.
[[nodiscard]] std::optional<ExportedProgram> with_plain_calls(const ExportedProgram& program);

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/lowering/impl/plain_calls.ipp"
#endif
