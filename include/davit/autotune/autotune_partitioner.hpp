// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/autotune/choose_plan.hpp"
#include "davit/core/config.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/assign_nodes.hpp"
#include "davit/lowering/partitioning.hpp"

namespace davit {

/// Behaviour of an AutotunePartitioner for a region that its table lacks on a backend that takes it.
enum class MissingCosts : std::uint8_t {
  refuse,  ///< an error that names the region
  ignore,  ///< measured backends are preferred; a region measured on none goes to the first backend
};

/// Options of an AutotunePartitioner.
struct AutotuneOptions {
  std::vector<std::uint32_t>
      order{};  ///< preferred backends first, as indices into the list; empty: all, in the list's order
  RegionOptions regions{};
  MissingCosts missing = MissingCosts::refuse;
  bool fallbacks = true;  ///< the later backends of the order become fallbacks of a partition
};

namespace detail {

/// Checks the backend order of an autotuning partitioner. Errors: out_of_range; invalid_argument for a duplicate.
[[nodiscard]] Result<std::vector<std::uint32_t>> autotune_order(BackendTables backends,
                                                                std::vector<std::uint32_t> order);
/// Queries the backends of `order` for the nodes they take. O(backends * nodes), plus the time of the backends.
[[nodiscard]] RegionChoice make_choice(BackendTables backends, const Method& method,
                                       const std::vector<std::uint32_t>& order, RegionOptions options,
                                       std::vector<NodeRefusal>* refusals = nullptr);
/// Converts a plan to a partitioning.
[[nodiscard]] PartitionResult apply_plan(BackendTables backends, GraphModuleView graph, const RegionPlan& plan,
                                         std::span<const std::uint32_t> order, bool fallbacks);
/// Describes a group of nodes in words: first and last operator, and their number.
[[nodiscard]] Name describe_nodes(GraphModuleView graph, std::span<const NodeId> nodes);
[[nodiscard]] Result<PartitionResult> choose_partitions(BackendTables backends, const CostTable& table,
                                                        const AutotuneOptions& options, const Method& method);

}  // namespace detail

/// Assigns each region of a program to its fastest backend, by a table of measured costs.
///
/// A region is a run of nodes that the same backends take; large runs are divided. Neighbouring regions are joined if
/// that is cheaper. The partitions depend only on the program, the backends and the table. measure_costs
/// (davit/autotune/measure_costs.hpp) fills the table, or the user does. Control flow and nodes that no backend takes
/// stay in the lowered program. A single backend needs no table. Errors: not_found for a region that the table lacks,
/// with its nodes; out_of_range, invalid_argument for the order. O(longest^2 * (nodes + edges) + regions * longest *
/// backends * log entries).
template <class List>
class AutotunePartitioner {
  static_assert(List::size <= 64, "davit: a AutotunePartitioner takes up to 64 backends");

 public:
  using Backends = List;

  /// The table must outlive the partitioner.
  explicit AutotunePartitioner(const CostTable& table, AutotuneOptions options = {})
      : table_(&table), options_(std::move(options)) {}

  [[nodiscard]] const std::vector<std::uint32_t>& preference() const noexcept { return options_.order; }
  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    return detail::partitioning_of<List>(detail::choose_partitions(List::tables(), *table_, options_, method));
  }

 private:
  const CostTable* table_;
  AutotuneOptions options_;
};

}  // namespace davit
