// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/config.hpp"
#include "davit/program/graph.hpp"

namespace davit::detail {

/// True if each call of a known ATen operator has its arguments in the order of the schema, dimensions that its first
/// tensor has, and tensors of ranks that the operator takes. verify does not check this: PyTorch takes named arguments
/// in any order, and files may record wrong ranks. A pass that reads arguments by position calls this first.
/// O(arguments).
[[nodiscard]] bool calls_fit_shapes(GraphModuleView graph);

}  // namespace davit::detail
