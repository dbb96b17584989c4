// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "davit/backends/portable/adaptive_avg_pool.hpp"
#include "davit/backends/portable/attention.hpp"
#include "davit/backends/portable/avg_pool.hpp"
#include "davit/backends/portable/batch_norm.hpp"
#include "davit/backends/portable/col2im.hpp"
#include "davit/backends/portable/convolution.hpp"
#include "davit/backends/portable/copies.hpp"
#include "davit/backends/portable/distance.hpp"
#include "davit/backends/portable/elementwise_binary.hpp"
#include "davit/backends/portable/elementwise_unary.hpp"
#include "davit/backends/portable/embedding_backward.hpp"
#include "davit/backends/portable/embedding_bag.hpp"
#include "davit/backends/portable/grid_sampler.hpp"
#include "davit/backends/portable/group_norm.hpp"
#include "davit/backends/portable/in_place.hpp"
#include "davit/backends/portable/indexing.hpp"
#include "davit/backends/portable/joining.hpp"
#include "davit/backends/portable/kernel_call.hpp"
#include "davit/backends/portable/layer_norm.hpp"
#include "davit/backends/portable/matmul.hpp"
#include "davit/backends/portable/max_pool.hpp"
#include "davit/backends/portable/padding.hpp"
#include "davit/backends/portable/quantized.hpp"
#include "davit/backends/portable/recurrent.hpp"
#include "davit/backends/portable/reductions.hpp"
#include "davit/backends/portable/roll.hpp"
#include "davit/backends/portable/scatter.hpp"
#include "davit/backends/portable/scatter_reduce.hpp"
#include "davit/backends/portable/slice_scatter.hpp"
#include "davit/backends/portable/softmax.hpp"
#include "davit/backends/portable/sorting.hpp"
#include "davit/backends/portable/symbolic.hpp"
#include "davit/backends/portable/upsample.hpp"
#include "davit/backends/portable/views.hpp"

namespace davit::portable_kernels {

namespace detail {
template <std::size_t... N>
[[nodiscard]] consteval auto sorted_rows(const std::array<OpRow, N>&... families) {
  std::array<OpRow, (std::size_t{0} + ... + N)> rows{};
  std::size_t at = 0;
  const auto append = [&](const auto& family) {
    for (const OpRow& row : family) rows[at++] = row;
  };
  (append(families), ...);
  std::sort(rows.begin(), rows.end(), [](const OpRow& a, const OpRow& b) { return a.name < b.name; });
  return rows;
}
}  // namespace detail

/// Every operator the portable backend has, sorted by name: what it takes and what it runs are this one table.
inline constexpr auto op_table = detail::sorted_rows(
    adaptive_avg_pool_ops, attention_ops, avg_pool_ops, batch_norm_ops, col2im_ops, convolution_ops, copy_ops,
    distance_ops, elementwise_binary_ops, elementwise_unary_ops, embedding_backward_ops, embedding_bag_ops,
    grid_sampler_ops, group_norm_ops, in_place_ops, indexing_ops, joining_ops, layer_norm_ops, matmul_ops, max_pool_ops,
    padding_ops, quantized_ops, recurrent_ops, reduction_ops, roll_ops, scatter_ops, scatter_reduce_ops,
    slice_scatter_ops, softmax_ops, sorting_ops, symbolic_ops, upsample_ops, view_ops);

static_assert(std::adjacent_find(op_table.begin(), op_table.end(),
                                 [](const OpRow& a, const OpRow& b) { return a.name == b.name; }) == op_table.end(),
              "an operator stands twice in the families");

/// The row of the operator of that name, or nullptr. O(log operators).
[[nodiscard]] constexpr const OpRow* find_op(std::string_view name) noexcept {
  const auto* row = std::lower_bound(op_table.begin(), op_table.end(), name,
                                     [](const OpRow& a, std::string_view b) { return a.name < b; });
  return row != op_table.end() && row->name == name ? row : nullptr;
}

}  // namespace davit::portable_kernels
