// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/module_partitioner.hpp"

namespace davit::detail {

[[nodiscard]] bool contains_module(std::string_view module, std::string_view path) noexcept {
  return module.empty() || (path.starts_with(module) && (path.size() == module.size() || path[module.size()] == '.'));
}
/// Returns the rule for nodes of this stack, or no_id; marks every matching rule.
[[nodiscard]] std::uint32_t choose_rule(std::span<const ModuleRule> rules, std::string_view stack,
                                        std::vector<std::uint8_t>& used) {
  std::uint32_t best = no_id;
  for_each_module(stack, [&](std::string_view path, std::string_view) {
    for (std::uint32_t r = 0; r < rules.size(); ++r) {
      if (!contains_module(rules[r].module, path)) continue;
      used[r] = 1;
      if (best == no_id || rules[r].module.size() > rules[best].module.size()) best = r;
    }
  });
  return best;
}

Result<PartitionResult> partition_modules(BackendTables backends, std::span<const ModuleRule> rules,
                                          const Method& method) {
  const GraphModuleView graph = method.view();
  for (const ModuleRule& rule : rules)
    if (rule.backend >= backends.size())
      return std::unexpected(no_such_backend(backends, concat("module '", rule.module, "'"), rule.backend));
  std::vector<std::uint8_t> used(rules.size(), 0);
  std::vector<std::uint8_t> known(graph.metadata.size(), 0);
  std::vector<std::uint32_t> rule_of_row(graph.metadata.size(), no_id);
  std::vector<std::uint32_t> backend_of_node(graph.nodes.size(), no_id);
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const std::uint32_t row = graph.nodes[n].metadata;
    if (row >= graph.metadata.size()) continue;
    if (!std::exchange(known[row], std::uint8_t{1}))
      rule_of_row[row] = choose_rule(rules, graph.str(graph.metadata[row].nn_module_stack), used);
    if (rule_of_row[row] != no_id) backend_of_node[n] = rules[rule_of_row[row]].backend;
  }
  for (std::size_t r = 0; r < rules.size(); ++r)
    if (used[r] == 0)
      return std::unexpected(
          Error{.code = ErrorCode::not_found,
                .stage = Stage::partition,
                .where = concat("module '", rules[r].module, "'"),
                .what = concat("no node of method '", method.name, "' comes from it"),
                .fix = "name modules as the program's nn_module_stack does, such as encoder.layers.0"});
  return assign_nodes(backends, graph, std::move(backend_of_node));
}

}  // namespace davit::detail
