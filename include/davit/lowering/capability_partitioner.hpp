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

/// How a CapabilityPartitioner chooses.
struct CapabilityOptions {
  std::vector<std::uint32_t>
      order{};                ///< backends by preference, as indices of the list; empty: all, in the list's order
  std::size_t min_nodes = 1;  ///< smaller groups go to the next backend; the last one takes any size
  std::size_t max_partitions = SIZE_MAX;  ///< per backend but the last: the largest groups are kept
  bool only_available = false;            ///< pass over backends that are not available on this machine
  bool fallbacks = true;                  ///< name the backends after a partition's own as its fallbacks
  /// Whether a group is worth its backend's while: false sends it to the next one. Null: yes.
  bool (*profitable)(GraphModuleView graph, std::span<const NodeId> nodes, std::uint32_t backend) = nullptr;
};

/// What a CapabilityPartitioner does, for any list of backends.
[[nodiscard]] Result<PartitionResult> partition_by_capability(BackendTables backends, const CapabilityOptions& options,
                                                              const Method& method);

/// Gives every node to the first backend that takes it, and joins neighbours to few large partitions.
///
/// Where that backend and later ones estimate what a region costs (EstimatesOffloadCost), the one with the least gets
/// it, and both estimates are among the answer's candidates. A region that computes nothing (is_data_movement), or that
/// its backend says it gains nothing by (JudgesRegions), goes to the next backend, if there is one that takes all of
/// it. A backend without `refuses` takes everything. Control flow stays with the lowered program; nodes of its
/// sub-graphs are partitioned like others. Why a backend refused a node is in the answer. O(backends * (nodes +
/// edges)), and the estimates of every pair of backends that make some. Source:
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
