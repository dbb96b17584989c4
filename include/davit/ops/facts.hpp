// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "davit/ops/detail/name_hash.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operators.hpp"

namespace davit {

namespace detail {

/// A hash table of the facts by names; a template, so that only what asks for facts makes it.
template <class = void>
inline constexpr auto facts_index = [] {
  constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const std::span<const OperatorFacts> family : facts_tables) n += family.size();
    return n;
  }();
  std::array<const OperatorFacts*, 2 * count> index{};
  for (const std::span<const OperatorFacts> family : facts_tables)
    for (const OperatorFacts& facts : family) {
      std::size_t at = name_hash(facts.name) % index.size();
      while (index[at] != nullptr) at = (at + 1) % index.size();
      index[at] = &facts;
    }
  return index;
}();

inline constexpr OperatorFacts no_facts{};

}  // namespace detail

/// The facts of the operator of that name, without overload ("aten.select"); those of an unknown one otherwise. O(size
/// of the name).
template <class = void>
[[nodiscard]] constexpr const OperatorFacts& facts_of_name(std::string_view name) noexcept {
  const auto& index = detail::facts_index<>;
  for (std::size_t at = detail::name_hash(name) % index.size(); index[at] != nullptr; at = (at + 1) % index.size())
    if (index[at]->name == name) return *index[at];
  return detail::no_facts;
}
/// The facts of an operator ("aten.select.int").
template <class = void>
[[nodiscard]] constexpr const OperatorFacts& facts_of(std::string_view target) noexcept {
  return facts_of_name(target.substr(0, target.rfind('.')));
}

/// True for operators that draw random numbers, in place or not, or answer what memory happens to hold: neither
/// computed beforehand, moved nor left out.
template <class = void>
[[nodiscard]] constexpr bool is_random(std::string_view target) noexcept {
  std::string_view name = target.substr(0, target.rfind('.'));
  if (name.ends_with('_')) name.remove_suffix(1);
  return facts_of_name(name).random;
}

}  // namespace davit
