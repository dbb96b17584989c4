// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "davit/ops/detail/name_table.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/operators.hpp"

namespace davit::detail {

/// Hash table of one column of all operators' rows, by name. Only that column's texts are linked.
template <std::string_view OperatorRow::* column>
inline constexpr auto operator_index = [] {
  constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const std::span<const OperatorRow> family : operator_tables)
      for (const OperatorRow& row : family) n += !(row.*column).empty();
    return n;
  }();
  NameTable<std::string_view, 2 * count> index;
  for (const std::span<const OperatorRow> family : operator_tables)
    for (const OperatorRow& row : family)
      if (!(row.*column).empty()) index.add(row.*column);
  return index;
}();

/// Schemas and groups of all operators, by name.
inline constexpr auto schema_index = [] {
  constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const OperatorFamily& family : operator_tables)
      for (const OperatorRow& row : family) n += !row.schema.empty();
    return n;
  }();
  NameTable<GroupedSchema, 2 * count> index;
  for (const OperatorFamily& family : operator_tables)
    for (const OperatorRow& row : family)
      if (!row.schema.empty())
        index.add({row.schema, row.group == OperatorGroup::of_family ? family.group : row.group});
  return index;
}();

/// Returns the text of an operator by name; empty if there is none. O(size of the name).
template <std::string_view OperatorRow::* column>
[[nodiscard]] std::string_view find_text(std::string_view name) noexcept {
  return operator_index<column>.find(name);
}

}  // namespace davit::detail
