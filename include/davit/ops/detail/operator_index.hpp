// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "davit/ops/detail/name_hash.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/operators.hpp"

namespace davit::detail {

/// A hash table of the texts in one column of the rows of all operators, by their names, made by the compiler: a text
/// stands at its hash or in the next free place behind. A sorted table would take the compiler twice as long. Only the
/// texts of that column are linked.
template <std::string_view OperatorRow::* column>
inline constexpr auto operator_index = [] {
  constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const std::span<const OperatorRow> family : operator_tables)
      for (const OperatorRow& row : family) n += !(row.*column).empty();
    return n;
  }();
  std::array<std::string_view, 2 * count> index;
  for (const std::span<const OperatorRow> family : operator_tables)
    for (const OperatorRow& row : family)
      if (const std::string_view text = row.*column; !text.empty()) {
        std::size_t at = name_hash(operator_name(text)) % index.size();
        while (!index[at].empty()) at = (at + 1) % index.size();
        index[at] = text;
      }
  return index;
}();

/// The text of the operator of that name; empty if there is none. O(size of the name).
template <std::string_view OperatorRow::* column>
[[nodiscard]] std::string_view find_text(std::string_view name) noexcept {
  const auto& index = operator_index<column>;
  std::size_t at = name_hash(name) % index.size();
  while (!index[at].empty() && operator_name(index[at]) != name) at = (at + 1) % index.size();
  return index[at];
}

}  // namespace davit::detail
