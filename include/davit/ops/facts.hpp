// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "davit/ops/detail/name_table.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operators.hpp"

namespace davit {

namespace detail {

/// Index of the facts by name; a template, so that only programs that use facts compile it.
template <class = void>
inline constexpr auto facts_index = [] {
  constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const OperatorFamily& family : operator_tables) n += family.facts.size();
    return n;
  }();
  NameTable<const OperatorFacts*, 2 * count> index;
  for (const OperatorFamily& family : operator_tables)
    for (const OperatorFacts& facts : family.facts) index.add(&facts);
  return index;
}();

inline constexpr OperatorFacts no_facts{};

}  // namespace detail

/// Returns the facts of an operator by its name without overload ("aten.select"); default facts for an unknown
/// operator. O(size of the name).
template <class = void>
[[nodiscard]] constexpr const OperatorFacts& facts_of_name(std::string_view name) noexcept {
  const OperatorFacts* const found = detail::facts_index<>.find(name);
  return found == nullptr ? detail::no_facts : *found;
}
/// Returns the facts of an operator by its full name ("aten.select.int").
template <class = void>
[[nodiscard]] constexpr const OperatorFacts& facts_of(std::string_view target) noexcept {
  return facts_of_name(target.substr(0, target.rfind('.')));
}

/// Returns the facts of an operator or, for an in-place operator, of its functional form: "aten.add_.Tensor" has those
/// of "aten.add".
template <class = void>
[[nodiscard]] constexpr const OperatorFacts& functional_facts_of(std::string_view target) noexcept {
  std::string_view name = target.substr(0, target.rfind('.'));
  if (name.ends_with('_')) name.remove_suffix(1);
  return facts_of_name(name);
}

/// True for operators, in place or not, that draw random numbers or return uninitialized memory: passes must not fold,
/// move or remove them.
template <class = void>
[[nodiscard]] constexpr bool is_random(std::string_view target) noexcept {
  return functional_facts_of(target).random;
}

}  // namespace davit
