// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/detail/operator_index.hpp"
#include "davit/ops/rules.hpp"

namespace davit {

std::string_view find_decomposition(std::string_view target) noexcept {
  return detail::find_text<&OperatorRow::rule>(target);
}
std::string_view find_complex_rule(std::string_view target) noexcept {
  return detail::find_text<&OperatorRow::complex_rule>(target);
}

bool is_random(std::string_view target) noexcept {
  for (const std::string_view name :
       {"aten.rand", "aten.bernoulli", "aten.normal", "aten.multinomial", "aten.native_dropout", "aten.dropout",
        "aten.cauchy", "aten.empty", "aten.exponential", "aten.geometric", "aten.log_normal", "aten.poisson",
        "aten.rrelu", "aten.uniform", "aten.alpha_dropout", "aten.feature_"})
    if (target.starts_with(name)) return true;
  return false;
}

}  // namespace davit
