// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/assign_nodes.hpp"

namespace davit {

/// The backend of a chain of operators.
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
/// A chain is a sequence of nodes with these targets; the next node is the only user of each but the last. Chains do
/// not overlap: earlier patterns come first, then earlier nodes. A chain goes to its backend whole, or not at all if
/// the backend refuses a node. List a longer pattern before its prefix. Errors: invalid_argument for a pattern without
/// operators; out_of_range for a backend that the list does not have. O(patterns * nodes * length + edges). Source:
/// torch.fx.passes.utils.matcher_utils, for linear patterns.
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
