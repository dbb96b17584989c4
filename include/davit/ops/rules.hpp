// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/name.hpp"

namespace davit {

/// The rule of an operator ("aten.softplus.default"), or of a part that rules share ("$reduce"); empty if it is not
/// taken apart. O(1).
[[nodiscard]] std::string_view find_decomposition(std::string_view target) noexcept;
/// The same, for complex tensors.
[[nodiscard]] std::string_view find_complex_rule(std::string_view target) noexcept;

/// The functional form of an operator in place or with out=: "aten.add.Tensor" of "aten.add_.Tensor" and of
/// "aten.add.out". An empty name if the operator's name says none. O(size of the name).
[[nodiscard]] Name functional_form(std::string_view target);

/// Whether a rule is of an operator of core ATen, and is for backends that do not take that ('!' behind its
/// parameters).
[[nodiscard]] constexpr bool is_rule_of_core(std::string_view rule) noexcept {
  return rule.substr(0, rule.find(':')).ends_with('!');
}

}  // namespace davit
