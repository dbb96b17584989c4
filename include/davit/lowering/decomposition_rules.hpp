// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "davit/core/config.hpp"

namespace davit {

/// What composite operators are made of: texts in the language of RuleEvaluator, sorted by name.
/// Source: PyTorch's CompositeImplicitAutograd kernels and torch._decomp, by what they compute.
[[nodiscard]] std::span<const std::string_view> decomposition_rules() noexcept;
/// The same: of linear algebra, Fourier transforms, resizing and quantization; sorted by name.
[[nodiscard]] std::span<const std::string_view> algebra_rules() noexcept;
/// The same: of operators for which PyTorch has kernels: windows, random numbers, order and indices; and the parts that
/// they share.
[[nodiscard]] std::span<const std::string_view> primitive_rules() noexcept;
[[nodiscard]] std::span<const std::string_view> primitive_helpers() noexcept;
/// The same: of operators of gradients, and of lists of tensors.
[[nodiscard]] std::span<const std::string_view> gradient_rules() noexcept;
/// Operators that are another name of one ("aten.concat.default = aten.cat.default"), and, with names that begin with
/// '$', parts that rules share; sorted by name.
[[nodiscard]] std::span<const std::string_view> decomposition_helpers() noexcept;

/// What operators are made of where a tensor is complex and no backend takes that: named "complex." and the operator,
/// sorted; they prevail over the rule that the operator may have. Source: the definitions of the functions.
[[nodiscard]] std::span<const std::string_view> complex_rules() noexcept;

/// The rule of an operator ("aten.softplus.default"); empty if it is not taken apart. O(log rules).
[[nodiscard]] std::string_view find_decomposition(std::string_view target) noexcept;
/// The same, for complex tensors.
[[nodiscard]] std::string_view find_complex_rule(std::string_view target) noexcept;

/// Whether a rule is of an operator of core ATen, and is for backends that do not take that ('!' behind its
/// parameters).
[[nodiscard]] constexpr bool is_rule_of_core(std::string_view rule) noexcept {
  return rule.substr(0, rule.find(':')).ends_with('!');
}

/// Operators that draw random numbers, or answer what memory happens to hold: neither computed beforehand, moved nor
/// left out.
[[nodiscard]] bool is_random(std::string_view target) noexcept;

}  // namespace davit
