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

}  // namespace davit
