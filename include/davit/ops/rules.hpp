// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/name.hpp"

namespace davit {

/// Returns the decomposition of an operator ("aten.softplus.default"), or a helper that rules share ("$reduce"); empty
/// if there is none. O(1).
[[nodiscard]] std::string_view find_decomposition(std::string_view target) noexcept;
/// Returns the decomposition for complex tensors; empty if there is none.
[[nodiscard]] std::string_view find_complex_rule(std::string_view target) noexcept;

/// Returns what an operator's rule says of arguments that it does not fit, "..." of `fail('...')`; empty if it does
/// not.
[[nodiscard]] std::string_view advice_of_rule(std::string_view target) noexcept;

/// Returns the functional form of an operator in place or with out=: "aten.add.Tensor" of "aten.add_.Tensor" and of
/// "aten.add.out". Empty if the operator has none by its name. O(size of the name).
[[nodiscard]] Name functional_form(std::string_view target);

/// True if a rule decomposes an operator of core ATen, for backends that lack that operator ('!' after its parameters).
[[nodiscard]] constexpr bool is_rule_of_core(std::string_view rule) noexcept {
  return rule.substr(0, rule.find(':')).ends_with('!');
}

}  // namespace davit
