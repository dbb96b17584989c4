// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowering/rule_evaluator.hpp"

namespace davit::detail {

/// Appends dtype, sizes and strides of the outputs of an operator ("aten.select.int") by its ShapeRule; returns false
/// if the arguments do not determine them. A wrong argument sets the emitter's fault. O(dimensions * arguments).
[[nodiscard]] bool infer_outputs(RuleEvaluator& rules, std::string_view target, std::span<const NamedItem> arguments,
                                 std::vector<TensorMeta>& out);

}  // namespace davit::detail
