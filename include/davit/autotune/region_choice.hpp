// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/autotune/cheapest_cover.hpp"
#include "davit/autotune/cost_table.hpp"
#include "davit/autotune/region_key.hpp"
#include "davit/core/error.hpp"
#include "davit/lowering/group_nodes.hpp"

namespace davit {

/// A way to partition a program: groups numbered by their first node, and a backend per group.
struct RegionPlan {
  std::vector<std::uint32_t> group_of_node;     ///< no_id: not delegated
  std::vector<std::uint32_t> backend_of_group;  ///< index in order of preference
  friend constexpr bool operator==(const RegionPlan&, const RegionPlan&) = default;
};

/// The choices for one program: its regions and the backends that take them. Independent of costs.
class RegionChoice {
 public:
  /// `support` holds one bit per backend of `backends` for each node; the backends are in order of preference. The
  /// program must outlive this object. O(longest^2 * (nodes + edges)).
  constexpr RegionChoice(const ProgramTables& program, std::vector<std::uint64_t> support,
                         std::vector<std::string_view> backends, RegionOptions options = {})
      : graph_(program.view()), support_(std::move(support)), backends_(std::move(backends)), options_(options) {
    const ValueUsers users = value_users(graph_);
    RegionKeys keys(program, users);
    regions_ = divide_regions(program, support_, users, options);
    std::vector<NodeId> nodes;
    for (std::uint32_t first = 0; first < regions_.count(); ++first) {
      first_key_.push_back(keys_.size());
      for (std::uint32_t last = first + 1; joins(first, last); ++last) {
        nodes = sorted(first, last);
        keys_.push_back(keys.of(nodes));
      }
    }
    first_key_.push_back(keys_.size());
    for (std::uint32_t b = 0; b < backends_.size(); ++b) add_single_backend_plan(b, keys);
  }
  [[nodiscard]] constexpr GraphModuleView graph() const noexcept { return graph_; }
  [[nodiscard]] constexpr const Regions& regions() const noexcept { return regions_; }
  [[nodiscard]] constexpr std::span<const std::string_view> backends() const noexcept { return backends_; }
  [[nodiscard]] constexpr std::uint32_t longest() const noexcept { return options_.longest; }
  /// Returns the nodes of neighbouring regions, ascending. O(n log n).
  [[nodiscard]] constexpr std::vector<NodeId> sorted(std::uint32_t first, std::uint32_t last) const {
    const std::span<const NodeId> nodes = regions_.nodes(first, last);
    std::vector<NodeId> out(nodes.begin(), nodes.end());
    std::ranges::sort(out);
    return out;
  }
  /// Returns the key of at most `longest` neighbouring regions that a backend takes together. O(1).
  [[nodiscard]] constexpr RegionKey key(std::uint32_t first, std::uint32_t last) const {
    return keys_[first_key_[first] + (last - first - 1)];
  }
  [[nodiscard]] constexpr bool takes(std::uint32_t backend, std::uint32_t region) const {
    return (regions_.support[region] >> backend & 1) != 0;
  }

  /// A plan that needs no costs: one backend is preferred to all others, and every node goes to the first backend that
  /// takes it.
  struct SingleBackendPlan {
    RegionPlan plan;
    std::vector<RegionKey> keys;  ///< per group
  };
  /// Returns one such plan per backend, in order.
  [[nodiscard]] constexpr std::span<const SingleBackendPlan> single_backend_plans() const noexcept {
    return single_backend_plans_;
  }

  /// Converts a cover to a plan.
  [[nodiscard]] constexpr RegionPlan plan_of(const Cover& cover) const {
    std::vector<std::uint32_t> step_of_node(graph_.nodes.size(), no_id);
    for (std::uint32_t s = 0; s < cover.steps.size(); ++s)
      for (const NodeId n : regions_.nodes(cover.steps[s].first, cover.steps[s].last)) step_of_node[n] = s;
    RegionPlan plan{.group_of_node = std::vector<std::uint32_t>(graph_.nodes.size(), no_id), .backend_of_group = {}};
    std::vector<std::uint32_t> number(cover.steps.size(), no_id);
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      if (step_of_node[n] == no_id) continue;
      std::uint32_t& g = number[step_of_node[n]];
      if (g == no_id) {
        g = static_cast<std::uint32_t>(plan.backend_of_group.size());
        plan.backend_of_group.push_back(cover.steps[step_of_node[n]].backend);
      }
      plan.group_of_node[n] = g;
    }
    return plan;
  }
  /// Computes the keys of a plan's groups. O(nodes + edges).
  [[nodiscard]] constexpr std::vector<RegionKey> keys_of(const ProgramTables& program, const RegionPlan& plan) const {
    const ValueUsers users = value_users(graph_);
    RegionKeys keys(program, users);
    return keys_of(keys, plan);
  }
  /// Computes the key of the program with these backends.
  [[nodiscard]] constexpr RegionKey program_key() const {
    detail::KeyMixer mixer;
    for (const SingleBackendPlan& whole : single_backend_plans_) mixer.add(plan_key(whole.plan, whole.keys).bits);
    return {mixer.value()};
  }
  /// Computes the key of a program that is partitioned by a plan, from the keys of the groups.
  [[nodiscard]] constexpr RegionKey plan_key(const RegionPlan& plan, std::span<const RegionKey> keys) const {
    detail::KeyMixer mixer;
    mixer.add(graph_.nodes.size());
    for (std::size_t g = 0; g < keys.size(); ++g) {
      mixer.add(keys[g].bits);
      mixer.add(backends_[plan.backend_of_group[g]]);
    }
    return {mixer.value()};
  }

 private:
  [[nodiscard]] constexpr bool joins(std::uint32_t first, std::uint32_t last) const {
    if (last > regions_.count() || last - first > options_.longest || regions_.graph[first] != regions_.graph[last - 1])
      return false;
    std::uint64_t common = ~std::uint64_t{0};
    for (std::uint32_t r = first; r < last; ++r) common &= regions_.support[r];
    return common != 0;
  }
  [[nodiscard]] constexpr std::vector<RegionKey> keys_of(RegionKeys& keys, const RegionPlan& plan) const {
    std::vector<std::vector<NodeId>> nodes(plan.backend_of_group.size());
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      if (plan.group_of_node[n] != no_id) nodes[plan.group_of_node[n]].push_back(n);
    std::vector<RegionKey> out;
    for (const std::vector<NodeId>& each : nodes) out.push_back(keys.of(each));
    return out;
  }
  constexpr void add_single_backend_plan(std::uint32_t preferred, RegionKeys& keys) {
    std::vector<std::uint32_t> classes(graph_.nodes.size(), no_id);
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      if (support_[n] == 0) continue;
      classes[n] =
          (support_[n] >> preferred & 1) != 0 ? preferred : static_cast<std::uint32_t>(std::countr_zero(support_[n]));
    }
    NodeGroups groups = group_nodes(graph_, classes, static_cast<std::uint32_t>(backends_.size()));
    SingleBackendPlan whole{.plan = {std::move(groups.group_of_node), std::move(groups.class_of_group)}, .keys = {}};
    whole.keys = keys_of(keys, whole.plan);
    single_backend_plans_.push_back(std::move(whole));
  }

  GraphModuleView graph_;
  std::vector<std::uint64_t> support_;
  std::vector<std::string_view> backends_;
  RegionOptions options_;
  Regions regions_;
  std::vector<RegionKey> keys_;  ///< keys of all joinable runs of regions
  std::vector<std::size_t> first_key_;
  std::vector<SingleBackendPlan> single_backend_plans_;
};

/// Costs of a choice's regions according to a table. The choice and the table must outlive this object.
class RegionCosts {
 public:
  /// A region on a backend that the table lacks.
  struct Missing {
    std::uint32_t region = 0;
    std::uint32_t backend = 0;
  };

  /// `joined_percent`: assumed cost of joined regions that were only measured alone, in percent of their sum.
  constexpr RegionCosts(const RegionChoice& choice, const CostTable& table, std::uint32_t joined_percent = 100)
      : choice_(&choice), table_(&table), joined_percent_(joined_percent) {
    const auto backends = static_cast<std::uint32_t>(choice.backends().size());
    alone_.assign(std::size_t{choice.regions().count()} * backends, no_cost);
    for (std::uint32_t r = 0; r < choice.regions().count(); ++r) read(r, backends);
  }
  /// Returns the entries that the table lacks for regions on backends that take them.
  [[nodiscard]] constexpr std::span<const Missing> missing() const noexcept { return missing_; }

  /// Returns the cost of regions as one partition: measured, else the sum of their costs alone; no_cost if the attempt
  /// failed.
  [[nodiscard]] constexpr std::uint64_t operator()(std::uint32_t first, std::uint32_t last,
                                                   std::uint32_t backend) const {
    const auto alone = [&](std::uint32_t r) { return alone_[r * choice_->backends().size() + backend]; };
    if (last - first == 1) return alone(first);
    if (const RegionCost* together = table_->find(choice_->key(first, last), choice_->backends()[backend]))
      return together->outcome == CostOutcome::measured ? together->ns : no_cost;
    std::uint64_t sum = 0;
    for (std::uint32_t r = first; r < last; ++r) {
      if (alone(r) == no_cost) return no_cost;
      sum += alone(r);
    }
    return sum / 100 * joined_percent_ + sum % 100 * joined_percent_ / 100;
  }

 private:
  /// A region that was measured on no backend goes to the first backend not known to refuse it.
  constexpr void read(std::uint32_t region, std::uint32_t backends) {
    std::uint32_t first = no_id, last = no_id;
    bool measured = false;
    for (std::uint32_t b = 0; b < backends; ++b) {
      if (!choice_->takes(b, region)) continue;
      last = b;
      const RegionCost* cost = table_->find(choice_->key(region, region + 1), choice_->backends()[b]);
      if (cost == nullptr) missing_.push_back({region, b});
      if (cost != nullptr && cost->outcome == CostOutcome::measured) {
        alone_[std::size_t{region} * backends + b] = cost->ns;
        measured = true;
      } else if (first == no_id && (cost == nullptr || cost->outcome != CostOutcome::refused)) {
        first = b;
      }
    }
    if (!measured && last != no_id) alone_[std::size_t{region} * backends + (first != no_id ? first : last)] = 0;
  }

  const RegionChoice* choice_;
  const CostTable* table_;
  std::uint32_t joined_percent_;
  std::vector<std::uint64_t> alone_;  ///< per region and backend
  std::vector<Missing> missing_;
};

}  // namespace davit
