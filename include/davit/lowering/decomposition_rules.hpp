// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "davit/core/config.hpp"

namespace davit {

/// What composite operators are made of: texts in the language of RuleEvaluator, sorted by name.
/// Source: PyTorch's CompositeImplicitAutograd kernels and torch._decomp, by what they compute.
[[nodiscard]] std::span<const std::string_view> decomposition_rules() noexcept;
/// Operators that are another name of one ("aten.concat.default = aten.cat.default"), and, with names that begin with '$',
/// parts that rules share; sorted by name.
[[nodiscard]] std::span<const std::string_view> decomposition_helpers() noexcept;

/// The rule of an operator ("aten.softplus.default"); empty if it is not taken apart. O(log rules).
[[nodiscard]] std::string_view find_decomposition(std::string_view target) noexcept;

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/lowering/impl/decomposition_rules.ipp"
#endif
