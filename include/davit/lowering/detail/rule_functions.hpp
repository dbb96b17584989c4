// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowering/rule_evaluator.hpp"

namespace davit::detail {

/// A function of the rule language.
struct RuleFunctionRow {
  std::string_view name;
  std::size_t arguments;
  Item (*function)(RuleEvaluator& rules, const std::vector<Item>& arguments);
};
/// Returns the function of that name; nullptr if there is none.
[[nodiscard]] const RuleFunctionRow* find_rule_function(std::string_view name);

}  // namespace davit::detail
