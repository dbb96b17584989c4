// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace davit {

namespace detail {

template <std::size_t N>
struct FixedString {
  char text[N]{};
  consteval FixedString(const char (&literal)[N]) noexcept {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
};

template <char... c>
inline constexpr char text_of[] = {c..., '\0'};
/// "aten.eq" and "Scalar" -> "aten.eq.Scalar".
template <FixedString name, FixedString overload>
inline constexpr const char* overload_name =
    []<std::size_t... i, std::size_t... k>(std::index_sequence<i...>, std::index_sequence<k...>) {
      return text_of<name.text[i]..., '.', overload.text[k]...>;
    }(std::make_index_sequence<sizeof(name.text) - 1>{}, std::make_index_sequence<sizeof(overload.text) - 1>{});

}  // namespace detail

/// Concatenates tables of rows.
template <class Row, std::size_t... N>
[[nodiscard]] consteval auto joined_rows(const std::array<Row, N>&... parts) {
  std::array<Row, (std::size_t{0} + ... + N)> rows{};
  std::size_t at = 0;
  const auto add = [&](const auto& part) {
    for (const Row& row : part) rows[at++] = row;
  };
  (add(parts), ...);
  return rows;
}

/// The rows of an operator's overloads that differ in the name alone: `overload_rows<"aten.eq", "Scalar",
/// "Tensor">(row)`.
template <detail::FixedString name, detail::FixedString... overloads, class Row>
[[nodiscard]] consteval std::array<Row, sizeof...(overloads)> overload_rows(Row row) {
  std::array<Row, sizeof...(overloads)> rows{};
  std::size_t at = 0;
  ((row.name = detail::overload_name<name, overloads>, rows[at++] = row), ...);
  return rows;
}

}  // namespace davit
