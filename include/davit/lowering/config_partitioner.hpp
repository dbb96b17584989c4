// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/assign_nodes.hpp"
#include "davit/lowering/backend_list.hpp"
#include "davit/lowering/glob.hpp"

namespace davit {

/// Gives nodes to the backends that a table names: lines "pattern = backend".
///
/// A pattern is a glob (see matches_glob) over node names and operator targets, such as "linear_3" or "aten.conv*"; the
/// first line that matches a node decides. Empty lines, and what follows a `#`, are passed over. O(lines * nodes + edges).
template <class List>
class ConfigPartitioner {
 public:
  using Backends = List;
  struct Rule {
    Name pattern;
    std::uint32_t backend = 0;  ///< index of the list
    std::size_t line = 0;       ///< from 1; 0: not from a text
  };

  ConfigPartitioner() = default;
  explicit ConfigPartitioner(std::vector<Rule> rules) : rules_(std::move(rules)) {}

  /// Reads a table; `source` names it in errors. Errors: corrupt_data for a line that is none, not_found for a backend that
  /// the list does not have; each with the line.
  [[nodiscard]] static Result<ConfigPartitioner> parse(std::string_view text, std::string_view source = "config") {
    ConfigPartitioner out;
    for (std::size_t line = 1; !text.empty(); ++line) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view whole = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const std::string_view content = trim(whole.substr(0, whole.find('#')));
      if (content.empty()) continue;
      const std::size_t equals = content.rfind('=');
      const std::string_view pattern = equals == std::string_view::npos ? "" : trim(content.substr(0, equals));
      const std::string_view backend = equals == std::string_view::npos ? "" : trim(content.substr(equals + 1));
      Name where = concat(source, ", line ", line);
      if (pattern.empty() || backend.empty())
        return std::unexpected(Error{.code = ErrorCode::corrupt_data, .stage = Stage::partition, .where = std::move(where),
                                     .what = concat("'", content, "' is no rule"), .fix = "write: pattern = backend"});
      const std::size_t index = List::find(backend);
      if (index == List::size) return std::unexpected(detail::no_such_backend(List::tables(), std::move(where), backend));
      out.rules_.push_back({Name::own(pattern), static_cast<std::uint32_t>(index), line});
    }
    out.source_ = Name::own(source);
    return out;
  }

  /// Errors: not_found for a line that matches no node of the method; out_of_range for a backend that does not exist.
  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    const GraphModuleView graph = method.view();
    for (const Rule& rule : rules_)
      if (rule.backend >= List::size) return std::unexpected(detail::no_such_backend(List::tables(), place_of(rule), rule.backend));
    std::vector<std::uint8_t> used(rules_.size(), 0);
    std::vector<std::uint32_t> backend_of_node(graph.nodes.size(), no_id);
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
      for (std::size_t r = 0; r < rules_.size(); ++r) {
        if (used[r] != 0 && backend_of_node[n] != no_id) continue;  // nothing new to learn
        if (!matches(rules_[r].pattern, graph, n)) continue;
        used[r] = 1;
        if (backend_of_node[n] == no_id) backend_of_node[n] = rules_[r].backend;
      }
    if (const auto idle = std::ranges::find(used, 0); idle != used.end()) {
      const Rule& rule = rules_[static_cast<std::size_t>(idle - used.begin())];
      return std::unexpected(Error{.code = ErrorCode::not_found, .stage = Stage::partition, .where = place_of(rule),
                                   .what = concat("no node and no operator of method '", method.name, "' matches '", rule.pattern, "'"),
                                   .fix = "name nodes and operators as the program's graph prints them, or drop the line"});
    }
    return Partitioning<List>(assign_nodes(List::tables(), graph, std::move(backend_of_node)));
  }

 private:
  [[nodiscard]] static std::string_view trim(std::string_view s) noexcept {
    constexpr std::string_view blank = " \t\r";
    const std::size_t first = std::min(s.find_first_not_of(blank), s.size());
    return s.substr(first, s.find_last_not_of(blank) + 1 - first);
  }
  [[nodiscard]] static bool matches(std::string_view pattern, GraphModuleView graph, NodeId n) noexcept {
    if (matches_glob(pattern, graph.target(graph.nodes[n]))) return true;
    bool found = false;
    for (const Argument& output : graph.outputs(graph.nodes[n]))
      graph.for_each_value(output, [&](ValueId v) { found = found || matches_glob(pattern, graph.name(v)); });
    return found;
  }
  [[nodiscard]] Name place_of(const Rule& rule) const {
    return rule.line == 0 ? concat("rule '", rule.pattern, "'") : concat(source_, ", line ", rule.line);
  }

  std::vector<Rule> rules_;
  Name source_;
};

}  // namespace davit
