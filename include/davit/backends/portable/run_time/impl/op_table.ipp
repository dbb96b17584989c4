// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/ops/operators.hpp"

namespace davit::portable_kernels {

std::array<OpGroup, 5> op_groups() noexcept {
  return {elementwise_group(), reduction_group(), product_group(), window_group(), movement_group()};
}

const OpRow* find_op(std::string_view name) noexcept {
  const std::uint64_t key = op_key(name);
  for (const OpGroup& group : op_groups()) {
    const auto found = std::lower_bound(group.keys.begin(), group.keys.end(), key);
    if (found == group.keys.end() || *found != key) continue;
    const OpRow& row = group.rows[static_cast<std::size_t>(found - group.keys.begin())];
    if (row.name == name) return &row;
  }
  return nullptr;
}

FoundOp find_op(std::span<const CustomOperator> own, std::string_view name) noexcept {
  for (const CustomOperator& op : own)
    if (op.row.name == name) return {&op.row, op.schema};
  return {find_op(name), find_operator(name)};
}

}  // namespace davit::portable_kernels
