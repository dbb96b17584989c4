// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/assign_nodes.hpp"

namespace davit {

/// The backend for a chain of operators.
struct PatternRule {
  std::vector<Name> targets;
  std::uint32_t backend = 0;  ///< index of the list
};

namespace detail {
[[nodiscard]] Result<PartitionResult> partition_patterns(BackendTables backends, std::span<const PatternRule> rules,
                                                         const Method& method);
}  // namespace detail

/// Gives chains of operators to backends, such as {"aten.convolution.default", "aten.relu.default"}.
///
/// A chain is a run of nodes with these targets in which each node but the last has one user, the next; none of its
/// values leaves the chain. Chains do not overlap: earlier patterns come first, then earlier nodes; a chain goes to its
/// backend as a whole or, if that refuses one of its nodes, not at all. Name a longer pattern before its own beginning.
/// Errors: invalid_argument for a pattern without operators; out_of_range for a backend that the list does not have.
/// O(patterns * nodes * length + edges). Source: torch.fx.passes.utils.matcher_utils, for linear patterns.
template <class List>
struct PatternPartitioner {
  using Backends = List;
  using Rule = PatternRule;
  std::vector<Rule> rules;

  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    return detail::partitioning_of<List>(detail::partition_patterns(List::tables(), rules, method));
  }
};

}  // namespace davit
