// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace davit {

/// The name of an operator from its schema: the part before the parenthesis.
[[nodiscard]] constexpr std::string_view operator_name(std::string_view schema) noexcept {
  return schema.substr(0, schema.find('('));
}

/// The schema of the operator of that name among some that are sorted; empty if there is none. O(log n).
[[nodiscard]] constexpr std::string_view find_schema(std::span<const std::string_view> schemas,
                                                     std::string_view name) noexcept {
  std::size_t low = 0, high = schemas.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const std::string_view found = operator_name(schemas[middle]);
    if (found == name) return schemas[middle];
    (found < name ? low : high) = found < name ? middle + 1 : middle;
  }
  return {};
}

}  // namespace davit
