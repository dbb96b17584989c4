// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/backend/embed_contract.hpp"
#include "davit/backends/portable/int8/fold.hpp"
#include "davit/backends/portable/static/convolution.hpp"
#include "davit/backends/portable/static/index.hpp"
#include "davit/backends/portable/static/elementwise_lowering.hpp"
#include "davit/backends/portable/static/move.hpp"
#include "davit/backends/portable/static/norm.hpp"
#include "davit/backends/portable/static/packed_linear.hpp"
#include "davit/backends/portable/static/pooling.hpp"
#include "davit/backends/portable/static/product.hpp"
#include "davit/backends/portable/static/recurrent.hpp"
#include "davit/backends/portable/static/reduce.hpp"
#include "davit/backends/portable/static/resize.hpp"
#include "davit/core/overload_rows.hpp"

namespace davit {

struct portable;

namespace detail {

/// The rows of all families, sorted by the length of the operator's name, then by name; rows of one operator keep the
/// order of the families.
template <std::size_t... N>
[[nodiscard]] consteval auto sorted_embed_rows(const std::array<EmbedRow, N>&... families) {
  const auto joined = joined_rows(families...);
  std::array<EmbedRow, (std::size_t{0} + ... + N)> rows{};
  std::array<std::size_t, rows.size()> order{};
  std::array<std::size_t, rows.size()>
      lengths{};  // counted once; a builtin compares names: both are expensive in constant evaluation
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    lengths[i] = __builtin_strlen(joined[i].name);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (lengths[a] != lengths[b]) return lengths[a] < lengths[b];
    const int names = __builtin_strcmp(joined[a].name, joined[b].name);
    return names != 0 ? names < 0 : a < b;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    rows[i] = joined[order[i]];
    rows[i].last = i + 1 == order.size() || lengths[order[i + 1]] != lengths[order[i]] ||
                   __builtin_strcmp(joined[order[i + 1]].name, rows[i].name) != 0;
  }
  return rows;
}

inline constexpr auto portable_rows = sorted_embed_rows(
    int8_fold::int8_rows, static_lowering::elementwise_rows, static_lowering::product_rows,
    static_lowering::convolution_rows, static_lowering::pooling_rows, static_lowering::norm_rows,
    static_lowering::reduce_rows, static_lowering::move_rows, static_lowering::index_rows, static_lowering::resize_rows,
    static_lowering::recurrent_rows, static_lowering::packed_linear_rows);

/// Per length, the first row with an operator's name of that length or longer.
inline constexpr auto portable_row_of_length = [] {
  std::array<std::uint16_t, std::string_view(portable_rows.back().name).size() + 2> first{};
  std::size_t row = 0;
  for (std::size_t length = 0; length < first.size(); ++length) {
    while (row < portable_rows.size() && __builtin_strlen(portable_rows[row].name) < length) ++row;
    first[length] = static_cast<std::uint16_t>(row);
  }
  return first;
}();

}  // namespace detail

/// The portable backend as static programs see it: a table of operators, without the kernels of other types.
struct portable_static {
  static constexpr std::string_view name = "portable";
  using Kernels =
      joined_kernels<int8_fold::int8_kernels_list, static_lowering::elementwise_kernels,
                     static_lowering::product_kernels, static_lowering::convolution_kernels,
                     static_lowering::pooling_kernels, static_lowering::norm_kernels, static_lowering::reduce_kernels,
                     static_lowering::move_kernels, static_lowering::index_kernels, static_lowering::resize_kernels,
                     static_lowering::recurrent_kernels, static_lowering::packed_linear_kernels>;

  static constexpr const char* embed(const EmbedNode& node, StepWriter& steps) {
    constexpr const char* missing = "not in its table of static operators";
    const char* const target = node.node().target;
    const std::size_t length = node.g.has_literals ? __builtin_strlen(target) : node.target().size();
    if (length + 1 < detail::portable_row_of_length.size()) {
      const EmbedRow* row = detail::portable_rows.data() + detail::portable_row_of_length[length];
      const EmbedRow* end = detail::portable_rows.data() + detail::portable_row_of_length[length + 1];
      while (row != end) {  // the operator's first row, inlined: constant evaluation pays for every call
        const EmbedRow* const middle = row + (end - row) / 2;
        const int order = node.g.has_literals ? __builtin_strcmp(middle->name, target)
                                              : std::string_view(middle->name).compare(target);
        if (order < 0)
          row = middle + 1;
        else
          end = middle;
      }
      if (row == detail::portable_rows.data() + detail::portable_rows.size() || !node.is(row->name)) return missing;
      while (true) {
        const char* const why = row->embed(node, steps);
        if (why == nullptr || row->last) return why;
        ++row;
      }
    }
    return missing;
  }
};

template <>
struct static_backend_of<portable> {
  using type = portable_static;
  using policy = for_size;
};

}  // namespace davit
