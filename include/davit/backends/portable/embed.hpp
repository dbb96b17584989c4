// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "davit/backend/embed_contract.hpp"
#include "davit/backends/portable/embed_float_elementwise.hpp"
#include "davit/backends/portable/embed_float_layers.hpp"
#include "davit/backends/portable/embed_moves.hpp"
#include "davit/backends/portable/int8_fold.hpp"

namespace davit {

struct portable;

namespace detail {

/// The rows of all families, sorted by operator; rows of one operator stay in the order of the families.
template <std::size_t... N>
[[nodiscard]] consteval auto sorted_embed_rows(const std::array<EmbedRow, N>&... families) {
  std::array<EmbedRow, (std::size_t{0} + ... + N)> rows{};
  std::array<std::size_t, rows.size()> order{};
  std::array<EmbedRow, rows.size()> joined{};
  std::size_t at = 0;
  const auto append = [&](const auto& family) {
    for (const EmbedRow& row : family) joined[at++] = row;
  };
  (append(families), ...);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return joined[a].name != joined[b].name ? joined[a].name < joined[b].name : a < b;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    rows[i] = joined[order[i]];
    rows[i].last = i + 1 == order.size() || joined[order[i + 1]].name != rows[i].name;
  }
  return rows;
}

inline constexpr auto portable_rows = sorted_embed_rows(int8_fold::int8_rows, embed_float::elementwise_rows,
                                                        embed_float::layer_rows, embed_float::move_rows);

}  // namespace detail

/// The face of the portable backend that static programs see: a table of operators, without the kernels of other types.
struct portable_static {
  static constexpr std::string_view name = "portable";
  using Kernels = joined_kernels<int8_fold::int8_kernels_list, embed_float::elementwise_kernels,
                                 embed_float::layer_kernels, embed_float::move_kernels>;

  static constexpr const char* embed(const EmbedNode& node, StepWriter& steps) {
    std::uint16_t& note =
        node.note();  // 1 more than the first row of the operator; 1 more than all rows if there is none
    if (note == 0) note = static_cast<std::uint16_t>(find(node.target()) + 1);
    const char* why = "not in its table of static operators";
    const EmbedRow* row = detail::portable_rows.data() + note - 1;
    for (const EmbedRow* const end = detail::portable_rows.data() + detail::portable_rows.size(); row != end; ++row) {
      why = row->embed(node, steps);
      if (why == nullptr || row->last) return why;
    }
    return why;
  }

 private:
  /// The first row of that operator; the number of rows if there is none.
  [[nodiscard]] static constexpr std::size_t find(std::string_view target) noexcept {
    const auto* row = std::lower_bound(detail::portable_rows.begin(), detail::portable_rows.end(), target,
                                       [](const EmbedRow& a, std::string_view b) { return a.name < b; });
    const bool found = row != detail::portable_rows.end() && row->name == target;
    return found ? static_cast<std::size_t>(row - detail::portable_rows.begin()) : detail::portable_rows.size();
  }
};

template <>
struct static_face<portable> {
  using type = portable_static;
  using policy = for_size;
};

}  // namespace davit
