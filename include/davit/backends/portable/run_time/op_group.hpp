// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/ops/operator_group.hpp"
#include "davit/ops/operators.hpp"

namespace davit::portable_kernels {

/// The rows of some families in the order of their keys.
template <std::size_t N>
struct SortedOps {
  std::array<std::uint64_t, N> keys{};
  std::array<OpRow, N> rows{};

  [[nodiscard]] constexpr bool are_distinct() const noexcept {
    for (std::size_t i = 1; i < N; ++i)
      if (keys[i - 1] == keys[i]) return false;
    return true;
  }
};

/// A family whose kernels take complex numbers.
template <std::size_t N>
[[nodiscard]] consteval std::array<OpRow, N> taking_complex(std::array<OpRow, N> family) {
  for (OpRow& row : family) row.takes_complex = true;
  return family;
}

namespace detail {

template <auto rows>
inline constexpr auto rows_of_lambda = rows();

/// The group of a row's operator, as a constant of its own: clang limits the steps of one constant evaluation.
template <auto rows, std::size_t row>
inline constexpr OperatorGroup group_of_row = find_grouped_operator(rows_of_lambda<rows>[row].name).group;

/// True for the rows of a group; for all rows if the group is `of_family`.
template <OperatorGroup group, auto rows>
inline constexpr auto is_row_of_group = []<std::size_t... row>(std::index_sequence<row...>) {
  if constexpr (group == OperatorGroup::of_family)
    return std::array<bool, sizeof...(row)>{((void)row, true)...};
  else
    return std::array<bool, sizeof...(row)>{(group_of_row<rows, row> == group)...};
}(std::make_index_sequence<rows_of_lambda<rows>.size()>{});

/// The rows of a group among `rows()`, sorted. Only their kernels are compiled.
template <OperatorGroup group, auto rows>
inline constexpr auto group_ops = [] {
  constexpr const auto& all = rows_of_lambda<rows>;
  constexpr const auto& taken = is_row_of_group<group, rows>;
  SortedOps<static_cast<std::size_t>(std::ranges::count(taken, true))> sorted;
  std::size_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!taken[i]) continue;
    const std::uint64_t key = op_key(all[i].name);
    std::size_t at = count++;
    for (; at != 0 && sorted.keys[at - 1] > key; --at) {
      sorted.keys[at] = sorted.keys[at - 1];
      sorted.rows[at] = sorted.rows[at - 1];
    }
    sorted.keys[at] = key;
    sorted.rows[at] = all[i];
  }
  return sorted;
}();

}  // namespace detail

/// The table of a group's operators among the rows that `rows()`, a lambda without captures, returns.
template <OperatorGroup group, auto rows>
[[nodiscard]] consteval OpTable table_of() {
  static_assert(detail::group_ops<group, rows>.are_distinct(), "these families have the same operator twice");
  return {detail::group_ops<group, rows>.keys, detail::group_ops<group, rows>.rows};
}

}  // namespace davit::portable_kernels
