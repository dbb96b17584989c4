// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/assign_nodes.hpp"
#include "davit/lowering/backend_list.hpp"

namespace davit {

namespace detail {

/// Calls `visit(path)` for the path of each module that an nn_module_stack names, outermost first.
template <class Visit>
constexpr void for_each_module(std::string_view nn_module_stack, Visit&& visit) {
  const auto next = [](std::string_view& text, char separator) {  // separators inside () and [] do not count
    std::size_t at = 0;
    for (int depth = 0; at < text.size() && (depth > 0 || text[at] != separator); ++at) {
      if (text[at] == '(' || text[at] == '[') ++depth;
      if (text[at] == ')' || text[at] == ']') --depth;
    }
    const std::string_view part = text.substr(0, at);
    text.remove_prefix(at < text.size() ? at + 1 : at);
    return part;
  };
  while (!nn_module_stack.empty()) {
    std::string_view entry = next(nn_module_stack, ';');
    next(entry, ',');
    visit(next(entry, ','));
  }
}

}  // namespace detail

/// Gives the nodes of modules to backends: those whose nn_module_stack holds the module's path, such as "encoder.layers.0",
/// or one below it. The rule with the longest path decides; an empty path is the whole model.
///
/// Errors: not_found for a module without nodes; out_of_range for a backend that the list does not have.
/// O(nodes + edges + rules * distinct stacks).
template <class List>
struct ModulePartitioner {
  using Backends = List;
  struct Rule {
    Name module;
    std::uint32_t backend = 0;  ///< index of the list
  };
  std::vector<Rule> rules;

  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    const GraphModuleView graph = method.view();
    for (const Rule& rule : rules)
      if (rule.backend >= List::size)
        return std::unexpected(detail::no_such_backend(List::tables(), concat("module '", rule.module, "'"), rule.backend));
    std::vector<std::uint8_t> used(rules.size(), 0);
    std::vector<std::uint8_t> known(graph.metadata.size(), 0);
    std::vector<std::uint32_t> rule_of_row(graph.metadata.size(), no_id);
    std::vector<std::uint32_t> backend_of_node(graph.nodes.size(), no_id);
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      const std::uint32_t row = graph.nodes[n].metadata;
      if (row >= graph.metadata.size()) continue;
      if (!std::exchange(known[row], std::uint8_t{1})) rule_of_row[row] = choose(graph.str(graph.metadata[row].nn_module_stack), used);
      if (rule_of_row[row] != no_id) backend_of_node[n] = rules[rule_of_row[row]].backend;
    }
    for (std::size_t r = 0; r < rules.size(); ++r)
      if (used[r] == 0)
        return std::unexpected(Error{.code = ErrorCode::not_found, .stage = Stage::partition,
                                     .where = concat("module '", rules[r].module, "'"),
                                     .what = concat("no node of method '", method.name, "' comes from it"),
                                     .fix = "name modules as the program's nn_module_stack does, such as encoder.layers.0"});
    return Partitioning<List>(assign_nodes(List::tables(), graph, std::move(backend_of_node)));
  }

 private:
  [[nodiscard]] static bool contains(std::string_view module, std::string_view path) noexcept {
    return module.empty() || (path.starts_with(module) && (path.size() == module.size() || path[module.size()] == '.'));
  }
  /// The rule for nodes of this stack, or no_id; marks all rules that match.
  [[nodiscard]] std::uint32_t choose(std::string_view stack, std::vector<std::uint8_t>& used) const {
    std::uint32_t best = no_id;
    detail::for_each_module(stack, [&](std::string_view path) {
      for (std::uint32_t r = 0; r < rules.size(); ++r) {
        if (!contains(rules[r].module, path)) continue;
        used[r] = 1;
        if (best == no_id || rules[r].module.size() > rules[best].module.size()) best = r;
      }
    });
    return best;
  }
};

}  // namespace davit
