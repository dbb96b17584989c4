// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/config_partitioner.hpp"
#include "davit/lowering/glob.hpp"

namespace davit {

namespace detail {

[[nodiscard]] std::string_view trim(std::string_view s) noexcept {
  constexpr std::string_view blank = " \t\r";
  const std::size_t first = std::min(s.find_first_not_of(blank), s.size());
  return s.substr(first, s.find_last_not_of(blank) + 1 - first);
}
[[nodiscard]] bool matches_node(std::string_view pattern, GraphModuleView graph, NodeId n) noexcept {
  if (matches_glob(pattern, graph.target(graph.nodes[n]))) return true;
  bool found = false;
  for (const Argument& output : graph.outputs(graph.nodes[n]))
    graph.for_each_value(output, [&](ValueId v) { found = found || matches_glob(pattern, graph.name(v)); });
  return found;
}
[[nodiscard]] Name place_of(const PartitionConfig& config, const PartitionConfig::Rule& rule) {
  return rule.line == 0 ? concat("rule '", rule.pattern, "'") : concat(config.source, ", line ", rule.line);
}

}  // namespace detail

Result<PartitionConfig> PartitionConfig::parse(BackendTables backends, std::string_view text, std::string_view source) {
  PartitionConfig out;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view content = detail::trim(whole.substr(0, whole.find('#')));
    if (content.empty()) continue;
    const std::size_t equals = content.rfind('=');
    const std::string_view pattern = equals == std::string_view::npos ? "" : detail::trim(content.substr(0, equals));
    const std::string_view backend = equals == std::string_view::npos ? "" : detail::trim(content.substr(equals + 1));
    Name where = concat(source, ", line ", line);
    if (pattern.empty() || backend.empty())
      return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                   .stage = Stage::partition,
                                   .where = std::move(where),
                                   .what = concat("'", content, "' is no rule"),
                                   .fix = "write: pattern = backend"});
    const std::size_t index = backends.find(backend);
    if (index == backends.size()) return std::unexpected(detail::no_such_backend(backends, std::move(where), backend));
    out.rules.push_back({Name::own(pattern), static_cast<std::uint32_t>(index), line});
  }
  out.source = Name::own(source);
  return out;
}

Result<PartitionResult> PartitionConfig::partition(BackendTables backends, const Method& method) const {
  const GraphModuleView graph = method.view();
  for (const Rule& rule : rules)
    if (rule.backend >= backends.size())
      return std::unexpected(detail::no_such_backend(backends, detail::place_of(*this, rule), rule.backend));
  std::vector<std::uint8_t> used(rules.size(), 0);
  std::vector<std::uint32_t> backend_of_node(graph.nodes.size(), no_id);
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    for (std::size_t r = 0; r < rules.size(); ++r) {
      if (used[r] != 0 && backend_of_node[n] != no_id) continue;  // the rule and the node are settled
      if (!detail::matches_node(rules[r].pattern, graph, n)) continue;
      used[r] = 1;
      if (backend_of_node[n] == no_id) backend_of_node[n] = rules[r].backend;
    }
  if (const auto idle = std::ranges::find(used, 0); idle != used.end()) {
    const Rule& rule = rules[static_cast<std::size_t>(idle - used.begin())];
    return std::unexpected(
        Error{.code = ErrorCode::not_found,
              .stage = Stage::partition,
              .where = detail::place_of(*this, rule),
              .what = concat("no node and no operator of method '", method.name, "' matches '", rule.pattern, "'"),
              .fix = "name nodes and operators as the program's graph prints them, or drop the line"});
  }
  return assign_nodes(backends, graph, std::move(backend_of_node));
}

}  // namespace davit
