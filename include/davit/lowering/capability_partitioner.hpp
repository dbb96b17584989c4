// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/assign_nodes.hpp"

namespace davit {

/// Options of a CapabilityPartitioner.
struct CapabilityOptions {
  std::vector<std::uint32_t>
      order{};                ///< backends by preference, as indices of the list; empty: all, in the list's order
  std::size_t min_nodes = 1;  ///< smaller groups go to the next backend; the last one takes any size
  std::size_t max_partitions = SIZE_MAX;  ///< per backend but the last: the largest groups are kept
  bool only_available = false;            ///< pass over backends that are not available on this machine
  bool fallbacks = true;                  ///< name the backends after a partition's own as its fallbacks
  /// Returns true if a group gains by running on the backend; false sends it to the next one. Null: always true.
  bool (*profitable)(GraphModuleView graph, std::span<const NodeId> nodes, std::uint32_t backend) = nullptr;
};

/// Implements CapabilityPartitioner for any list of backends.
[[nodiscard]] Result<PartitionResult> partition_by_capability(BackendTables backends, const CapabilityOptions& options,
                                                              const Method& method);

/// Gives every node to the first backend that takes it, and merges neighbours into few large partitions.
///
/// Where that backend and later ones estimate the cost of a region (EstimatesOffloadCost), the region goes to the
/// backend with the lowest estimate, and the result's candidates list both estimates. A region that only moves data
/// (is_data_movement), or that its backend declines (JudgesRegions), goes to the next backend that takes the whole
/// region, if there is one. A backend without `refuses` takes everything. Control flow stays with the lowered program;
/// nodes of its sub-graphs are partitioned too. The result holds the reason of every refusal. O(backends * (nodes +
/// edges)), plus one estimate for each pair of estimating backends. Source:
/// torch.fx.passes.infra.partitioner.CapabilityBasedPartitioner, in linear time and without mutual dependencies.
template <class List>
class CapabilityPartitioner {
 public:
  using Backends = List;

  CapabilityPartitioner() = default;
  explicit CapabilityPartitioner(CapabilityOptions options) : options_(std::move(options)) {}

  [[nodiscard]] const std::vector<std::uint32_t>& preference() const noexcept { return options_.order; }

  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    return detail::partitioning_of<List>(partition_by_capability(List::tables(), options_, method));
  }

 private:
  CapabilityOptions options_;
};

}  // namespace davit
