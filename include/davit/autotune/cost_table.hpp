// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/autotune/region_key.hpp"
#include "davit/core/name.hpp"

namespace davit {

/// An unknown cost. Costs in a CostTable are at most `longest_cost_ns`, so that their sums stay below no_cost.
inline constexpr std::uint64_t no_cost = UINT64_MAX;
inline constexpr std::uint64_t longest_cost_ns = 1'000'000'000'000'000;

/// Outcome of a measurement.
enum class CostOutcome : std::uint8_t {
  measured,
  refused,  ///< the backend is not available, or could not lower the region
  not_run,  ///< lowered, but it failed on synthetic inputs, or time ran out
};

/// Cost of one call of a region on a backend, with the conversions of inputs and outputs at its border.
struct RegionCost {
  RegionKey region;
  Name backend;
  std::uint64_t ns = 0;  ///< if measured
  CostOutcome outcome = CostOutcome::measured;
  Name what;  ///< description of the region for readers of the table
};

/// Cost of one run of a whole program that is partitioned by a certain plan.
struct PlanCost {
  RegionKey plan;
  std::uint64_t ns = 0;
  Name what;
};

/// Cost per partition of a program, in addition to the separately measured costs of its regions.
struct BorderCost {
  RegionKey program;
  std::uint64_t ns = 0;
};

/// Measured costs of regions on backends and of whole plans: the only input of an AutotunePartitioner besides the
/// program.
///
/// The key of an entry is a hash of the computation. So the table stays valid after renaming and with new weights, and
/// serves all programs that share regions.
class CostTable {
  template <class Cost>  // clang 19 needs it declared before its uses in constant evaluation
  static constexpr void put(std::vector<Cost>& costs, Cost cost, RegionKey Cost::* key) {
    cost.ns = std::min(cost.ns, longest_cost_ns);
    const auto at = std::ranges::lower_bound(costs, cost.*key, {}, key);
    if (at != costs.end() && (*at).*key == cost.*key) {
      *at = std::move(cost);
    } else {
      costs.insert(at, std::move(cost));
    }
  }

 public:
  Name cpu;                     ///< CPU of the measurement
  std::uint32_t threads = 1;    ///< threads per backend
  std::uint64_t border_ns = 0;  ///< cost per partition for programs without a BorderCost

  /// Adds or replaces an entry. O(log entries) if the key is the highest so far, else O(entries).
  constexpr void set(RegionCost cost) {
    cost.ns = std::min(cost.ns, longest_cost_ns);
    const auto at = std::ranges::lower_bound(regions_, order_of(cost), {}, order_of);
    if (at != regions_.end() && order_of(*at) == order_of(cost)) {
      *at = std::move(cost);
    } else {
      regions_.insert(at, std::move(cost));
    }
  }
  constexpr void set(PlanCost cost) { put(plans_, std::move(cost), &PlanCost::plan); }
  constexpr void set(BorderCost cost) { put(borders_, cost, &BorderCost::program); }

  /// Returns the entry, or nullptr. O(log entries).
  [[nodiscard]] constexpr const RegionCost* find(RegionKey region, std::string_view backend) const {
    const std::pair wanted(region, backend);
    const auto at = std::ranges::lower_bound(regions_, wanted, {}, order_of);
    return at != regions_.end() && order_of(*at) == wanted ? &*at : nullptr;
  }
  [[nodiscard]] constexpr const PlanCost* find(RegionKey plan) const {
    const auto at = std::ranges::lower_bound(plans_, plan, {}, &PlanCost::plan);
    return at != plans_.end() && at->plan == plan ? &*at : nullptr;
  }
  [[nodiscard]] constexpr std::uint64_t border_of(RegionKey program) const {
    const auto at = std::ranges::lower_bound(borders_, program, {}, &BorderCost::program);
    return at != borders_.end() && at->program == program ? at->ns : border_ns;
  }
  /// Returns all entries, by key and backend.
  [[nodiscard]] constexpr std::span<const RegionCost> regions() const noexcept { return regions_; }
  [[nodiscard]] constexpr std::span<const PlanCost> plans() const noexcept { return plans_; }
  [[nodiscard]] constexpr std::span<const BorderCost> borders() const noexcept { return borders_; }

 private:
  [[nodiscard]] static constexpr std::pair<RegionKey, std::string_view> order_of(const RegionCost& cost) {
    return {cost.region, cost.backend.view()};
  }

  std::vector<RegionCost> regions_;
  std::vector<PlanCost> plans_;
  std::vector<BorderCost> borders_;
};

}  // namespace davit
