// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/assign_nodes.hpp"

namespace davit {

/// The parsed lines of a ConfigPartitioner, for any list of backends.
struct PartitionConfig {
  struct Rule {
    Name pattern;
    std::uint32_t backend = 0;  ///< index of the list
    std::size_t line = 0;       ///< 1-based; 0: not read from a text
  };
  std::vector<Rule> rules{};
  Name source{};  ///< name of the text, for errors

  /// See ConfigPartitioner.
  [[nodiscard]] static Result<PartitionConfig> parse(BackendTables backends, std::string_view text,
                                                     std::string_view source);
  [[nodiscard]] Result<PartitionResult> partition(BackendTables backends, const Method& method) const;
};

/// Gives nodes to the backends that a table names: lines "pattern = backend".
///
/// A pattern is a glob (see matches_glob) over node names and operator targets, such as "linear_3" or "aten.conv*"; the
/// first line that matches a node decides. Empty lines and comments (`# ...`) are skipped. O(lines * nodes + edges).
template <class List>
class ConfigPartitioner {
 public:
  using Backends = List;
  using Rule = PartitionConfig::Rule;

  ConfigPartitioner() = default;
  explicit ConfigPartitioner(std::vector<Rule> rules) : config_{.rules = std::move(rules)} {}

  /// Reads a table; `source` names it in errors. Errors: corrupt_data for a malformed line, not_found for a backend
  /// that the list does not have; each with the line.
  [[nodiscard]] static Result<ConfigPartitioner> parse(std::string_view text, std::string_view source = "config") {
    Result<PartitionConfig> config = PartitionConfig::parse(List::tables(), text, source);
    if (!config) return error_of(std::move(config));
    ConfigPartitioner out;
    out.config_ = *std::move(config);
    return out;
  }

  /// Errors: not_found for a line without a matching node in the method; out_of_range for a backend that does not
  /// exist.
  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    return detail::partitioning_of<List>(config_.partition(List::tables(), method));
  }

 private:
  PartitionConfig config_;
};

}  // namespace davit
