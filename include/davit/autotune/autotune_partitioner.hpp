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

/// What a AutotunePartitioner does with a region that its table lacks on a backend that takes it.
enum class MissingCosts : std::uint8_t {
  refuse,  ///< an error that names the region
  ignore,  ///< backends that were measured are preferred; where none was, the first backend gets the region
};

/// How a AutotunePartitioner chooses.
struct AutotuneOptions {
  std::vector<std::uint32_t>
      order{};  ///< backends by preference, as indices of the list; empty: all, in the list's order
  RegionOptions regions{};
  MissingCosts missing = MissingCosts::refuse;
  bool fallbacks = true;  ///< name the backends after a partition's own as its fallbacks
};

namespace detail {

/// A check of an autotuning partitioner's backends. Errors: out_of_range; invalid_argument for one that is named twice.
[[nodiscard]] Result<std::vector<std::uint32_t>> autotune_order(BackendTables backends,
                                                                std::vector<std::uint32_t> order);
/// Asks the backends of `order` which nodes they take. O(backends * nodes) beside what they do.
[[nodiscard]] RegionChoice make_choice(BackendTables backends, const Method& method,
                                       const std::vector<std::uint32_t>& order, RegionOptions options,
                                       std::vector<NodeRefusal>* refusals = nullptr);
/// The partitioning that a plan describes.
[[nodiscard]] PartitionResult apply_plan(BackendTables backends, GraphModuleView graph, const RegionPlan& plan,
                                         std::span<const std::uint32_t> order, bool fallbacks);
/// A group of nodes for people: first and last operator, and how many there are.
[[nodiscard]] Name describe_nodes(GraphModuleView graph, std::span<const NodeId> nodes);
[[nodiscard]] Result<PartitionResult> choose_partitions(BackendTables backends, const CostTable& table,
                                                        const AutotuneOptions& options, const Method& method);

}  // namespace detail

/// Gives each region of a program to the backend that is fastest for it, by a table of measured costs.
///
/// A region is a stretch of nodes that the same backends take, large ones divided again; neighbours are joined where
/// that is cheaper. A function of the program, the backends and the table: the same ones give the same partitions. The
/// table is filled by measure_costs (davit/autotune/measure_costs.hpp), or by hand. Control flow stays with the lowered
/// program, as do nodes that no backend takes. With one backend no table is needed. Errors: not_found for a region that
/// the table lacks, with its nodes; out_of_range, invalid_argument for the order. O(longest^2 * (nodes + edges) +
/// regions * longest * backends * log entries).
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
