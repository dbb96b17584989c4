// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "davit/autotune/region_choice.hpp"

namespace davit {

/// A candidate way to lower a program.
struct PlanCandidate {
  RegionPlan plan;
  std::vector<RegionKey> keys;  ///< per group
  RegionKey key;
  std::uint32_t preferred = no_id;  ///< backend that gets every node it takes; no_id: chosen region by region
  std::uint64_t sum = no_cost;      ///< sum of the costs of its groups, borders included
  std::uint64_t total = no_cost;    ///< measured time of the whole program
};

/// All candidates, and the chosen one.
struct PlanChoice {
  std::vector<PlanCandidate> candidates;
  std::size_t chosen = 0;
};

/// Minimum gain, in percent of the whole program's time, that justifies more partitions.
inline constexpr std::uint64_t min_gain_percent = 1;

namespace detail {

/// Returns the cost of a `Whole` plan; no_cost if the cost of any of its groups is unknown.
[[nodiscard]] constexpr std::uint64_t sum_of(const RegionChoice& choice, const RegionChoice::SingleBackendPlan& whole,
                                             const CostTable& table) {
  const std::uint64_t border = table.border_of(choice.program_key());
  std::uint64_t sum = 0;
  for (std::size_t g = 0; g < whole.keys.size(); ++g) {
    const RegionCost* cost = table.find(whole.keys[g], choice.backends()[whole.plan.backend_of_group[g]]);
    if (cost == nullptr || cost->outcome != CostOutcome::measured || sum > longest_cost_ns) return no_cost;
    sum += cost->ns + border;
  }
  return sum;
}

}  // namespace detail

/// Chooses how to partition a program by a table's costs: each region on its cheapest backend (borders included), or
/// every node that one backend takes on that backend, whichever is faster.
///
/// Candidates that the table has as whole programs compete by these times; if there are none, candidates compete by the
/// sums of their partitions' costs. Deterministic: the earlier backend in front wins a tie.
[[nodiscard]] constexpr PlanChoice choose_plan(const ProgramTables& program, const RegionChoice& choice,
                                               const CostTable& table) {
  PlanChoice out;
  const auto add = [&](PlanCandidate candidate) {
    for (PlanCandidate& known : out.candidates)
      if (known.plan == candidate.plan) {
        if (known.sum == no_cost) known.sum = candidate.sum;
        return;
      }
    candidate.key = choice.plan_key(candidate.plan, candidate.keys);
    if (const PlanCost* cost = table.find(candidate.key)) candidate.total = cost->ns;
    out.candidates.push_back(std::move(candidate));
  };
  for (std::uint32_t b = 0; b < choice.single_backend_plans().size(); ++b) {
    const RegionChoice::SingleBackendPlan& whole = choice.single_backend_plans()[b];
    add({.plan = whole.plan,
         .keys = whole.keys,
         .key = {},
         .preferred = b,
         .sum = detail::sum_of(choice, whole, table)});
  }
  if (choice.backends().size() > 1) {
    const Cover cover =
        cheapest_cover(choice.regions(), static_cast<std::uint32_t>(choice.backends().size()), choice.longest(),
                       table.border_of(choice.program_key()), RegionCosts(choice, table));
    RegionPlan plan = choice.plan_of(cover);
    std::vector<RegionKey> keys = choice.keys_of(program, plan);
    add({.plan = std::move(plan), .keys = std::move(keys), .key = {}, .sum = cover.ns});
  }
  const bool measured = std::ranges::any_of(out.candidates, [](const PlanCandidate& c) { return c.total != no_cost; });
  const auto cost = [&](const PlanCandidate& c) { return measured ? c.total : c.sum; };
  for (std::size_t i = 1; i < out.candidates.size(); ++i) {
    const PlanCandidate& c = out.candidates[i];
    const std::uint64_t best = cost(out.candidates[out.chosen]);
    const std::uint64_t gain = measured && c.preferred == no_id && best != no_cost ? best / 100 * min_gain_percent : 0;
    if (cost(c) < best - gain) out.chosen = i;
  }
  return out;
}

}  // namespace davit
