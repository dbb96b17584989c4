// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/assign_nodes.hpp"

namespace davit {

/// The backend of a module's nodes.
struct ModuleRule {
  Name module;
  std::uint32_t backend = 0;  ///< index of the list
};

namespace detail {

[[nodiscard]] Result<PartitionResult> partition_modules(BackendTables backends, std::span<const ModuleRule> rules,
                                                        const Method& method);

}  // namespace detail

/// Gives the nodes of modules to backends. A rule matches nodes whose nn_module_stack holds the module's path, such as
/// "encoder.layers.0", or a path below it. The rule with the longest path decides; an empty path is the whole model.
///
/// Errors: not_found for a module without nodes; out_of_range for a backend that the list does not have. O(nodes +
/// edges + rules * distinct stacks).
template <class List>
struct ModulePartitioner {
  using Backends = List;
  using Rule = ModuleRule;
  std::vector<Rule> rules;

  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    return detail::partitioning_of<List>(detail::partition_modules(List::tables(), rules, method));
  }
};

}  // namespace davit
