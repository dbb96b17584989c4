// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/ops/operators.hpp"
#include "davit/program/operator_call.hpp"

namespace davit::portable_kernels {

const OpRow* OpSet::find(OperatorGroup group, std::string_view name) const noexcept {
  const std::uint64_t key = op_key(name);
  for (const OpTable* const table : (*tables)[static_cast<std::size_t>(group)]) {
    const auto found = std::lower_bound(table->keys.begin(), table->keys.end(), key);
    if (found == table->keys.end() || *found != key) continue;
    const OpRow& row = table->rows[static_cast<std::size_t>(found - table->keys.begin())];
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool OpSet::is_own(std::string_view name) const noexcept {
  return std::ranges::any_of(own, [&](const CustomOperator& op) { return op.row.name == name; });
}

FoundOp find_op(const OpSet& set, std::string_view name) noexcept {
  for (const CustomOperator& op : set.own)
    if (op.row.name == name) return {&op.row, op.schema};
  const auto [schema, group] = find_grouped_operator(name);
  if (schema.empty()) return {};
  return {set.find(group, name), schema, group};
}

FoundOp find_op(const OpSet& set, GraphModuleView graph, NodeId node, std::string_view target) noexcept {
  FoundOp found = find_op(set, target);
  const bool is_own = found.group == OperatorGroup::of_family;
  if (is_own || (found.row != nullptr && found.row->takes_complex) || !has_complex(graph, graph.nodes[node]))
    return found;
  const OpRow* const row = set.find(OperatorGroup::complex_numbers, target);
  if (row != nullptr)
    found = {row, found.schema, OperatorGroup::complex_numbers};
  else if (found.row != nullptr ||
           found.group == OperatorGroup::float_inference)  // its kernels take no complex numbers
    found = {nullptr, found.schema, OperatorGroup::complex_numbers};
  return found;
}

namespace detail {

template <std::size_t group>
inline constexpr auto absence_text = [] {
  constexpr std::string_view parts[] = {"its kernel is in davit::ops::", operator_group_names[group],
                                        ", a group that this portable_of does not name"};
  std::array<char, parts[0].size() + parts[1].size() + parts[2].size() + 1> text{};
  std::size_t at = 0;
  for (const std::string_view part : parts)
    for (const char c : part) text[at++] = c;
  return text;
}();

}  // namespace detail

const char* absence_of_group(OperatorGroup group) noexcept {
  static constexpr auto texts = []<std::size_t... group>(std::index_sequence<group...>) {
    return std::array<const char*, operator_group_count>{detail::absence_text<group>.data()...};
  }(std::make_index_sequence<operator_group_count>());
  return texts[static_cast<std::size_t>(group)];
}

Name groups_fix(const OpSet& set, GraphModuleView graph) {
  std::array<bool, operator_group_count> missing{};
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    const FoundOp found = find_op(set, graph, node, called_operator(graph, graph.nodes[node]));
    if (found.row == nullptr && !set.has(found.group)) missing[static_cast<std::size_t>(found.group)] = true;
  }
  Name text;
  for (std::size_t group = 1; group < missing.size(); ++group)
    if (missing[group]) text = concat(text, text.empty() ? "" : ", ", "davit::ops::", operator_group_names[group]);
  return text.empty() ? text : concat("name its groups of operators: portable_of<..., ", text, ">");
}

}  // namespace davit::portable_kernels
