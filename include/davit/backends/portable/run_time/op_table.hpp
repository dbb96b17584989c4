// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/config.hpp"
#include "davit/core/name.hpp"
#include "davit/ops/operator_group.hpp"
#include "davit/program/graph.hpp"

namespace davit::portable_kernels {

/// The hash of an operator's name for searches. Source: FNV-1a.
[[nodiscard]] constexpr std::uint64_t op_key(std::string_view name) noexcept {
  std::uint64_t key = 0xcbf29ce484222325u;
  for (const char c : name) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return key;
}

/// Operators that are compiled together: their rows, and the keys of their names in ascending order.
struct OpTable {
  std::span<const std::uint64_t> keys;
  std::span<const OpRow> rows;
};

/// @name The tables, each defined in its own source; a group has one or several.
extern const OpTable complex_numbers_table;
extern const OpTable float_elementwise_table;
extern const OpTable float_products_table;
extern const OpTable float_reductions_table;
extern const OpTable float_windows_table;
extern const OpTable gradients_table;
extern const OpTable indexing_table;
extern const OpTable integers_table;
extern const OpTable linear_algebra_table;
extern const OpTable movement_table;
extern const OpTable quantization_table;
extern const OpTable random_table;
extern const OpTable recurrent_table;
extern const OpTable sorting_table;
extern const OpTable special_functions_table;
extern const OpTable vision_table;

/// The tables of each group; empty for a group that is not included.
using OpTables = std::array<std::span<const OpTable* const>, operator_group_count>;

/// The tables of all groups: a reference to it links all kernels.
extern const OpTables all_tables;

/// The operators of a backend: a user's own, and those of some or all groups.
struct OpSet {
  std::span<const CustomOperator> own{};
  const OpTables* tables = &all_tables;

  /// Returns the kernel of the group's operator of that name, or nullptr. O(size of the name + log operators).
  [[nodiscard]] const OpRow* find(OperatorGroup group, std::string_view name) const noexcept;
  [[nodiscard]] bool has(OperatorGroup group) const noexcept {
    return !(*tables)[static_cast<std::size_t>(group)].empty();
  }
  [[nodiscard]] bool is_own(std::string_view name) const noexcept;
};

/// An operator's row and schema; null and empty if it is not found.
struct FoundOp {
  const OpRow* row = nullptr;
  std::string_view schema{};
  OperatorGroup group =
      OperatorGroup::of_family;  ///< of the operator, included or not; of_family: a user's own, or unknown
};
/// Finds an operator among a user's own, then in the groups. O(own + log operators).
[[nodiscard]] FoundOp find_op(const OpSet& set, std::string_view name) noexcept;
/// As find_op, for a node: calls on complex numbers have their own kernels where the row does not take them.
[[nodiscard]] FoundOp find_op(const OpSet& set, GraphModuleView graph, NodeId node, std::string_view target) noexcept;

/// The reason why an operator of a group that is not included has no kernel; a literal.
[[nodiscard]] const char* absence_of_group(OperatorGroup group) noexcept;
/// The fix that names the groups which a graph needs and the set lacks; empty if none.
[[nodiscard]] Name groups_fix(const OpSet& set, GraphModuleView graph);

/// Returns the row of an operator of portable's; nullptr if there is none.
[[nodiscard]] const OpRow* find_op(std::string_view name) noexcept;

}  // namespace davit::portable_kernels
