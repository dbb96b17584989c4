// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "davit/autotune/cost_table.hpp"
#include "davit/autotune/divide_regions.hpp"

namespace davit {

/// Regions `first` to `last` (exclusive) as one partition on a backend.
struct CoverStep {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t backend = 0;
  friend constexpr bool operator==(const CoverStep&, const CoverStep&) = default;
};

/// Runs of regions on backends that contain every region with support.
struct Cover {
  std::vector<CoverStep> steps;
  std::uint64_t ns = 0;  ///< borders included
};

/// Returns the cheapest cover; among equally cheap covers, the one with the fewest partitions.
///
/// `cost(first, last, backend)` returns nanoseconds or no_cost; every partition costs an additional `border_ns`. A
/// region that no partition covers is left out. Dynamic programming over the regions in order: O(regions * longest *
/// backends) calls of `cost`.
template <class Cost>
[[nodiscard]] constexpr Cover cheapest_cover(const Regions& regions, std::uint32_t backends, std::uint32_t longest,
                                             std::uint64_t border_ns, Cost&& cost) {
  struct Best {
    std::uint64_t ns = no_cost;
    std::uint32_t partitions = 0;
    CoverStep step{};
  };
  const auto plus = [](std::uint64_t a, std::uint64_t b) {  // saturates below no_cost
    constexpr std::uint64_t most = no_cost - 1;
    return a > most - std::min(b, most) ? most : a + b;
  };
  std::vector<Best> best(regions.count() + 1);
  best[0].ns = 0;
  for (std::uint32_t last = 1; last <= regions.count(); ++last) {
    Best& to = best[last];
    std::uint64_t common = ~std::uint64_t{0};
    for (std::uint32_t first = last; first-- > 0 && last - first <= std::max<std::uint32_t>(longest, 1);) {
      common &= regions.support[first];
      if (common == 0 || regions.graph[first] != regions.graph[last - 1]) break;
      for (std::uint32_t b = 0; b < backends; ++b) {
        if ((common >> b & 1) == 0) continue;
        const std::uint64_t own = cost(first, last, b);
        if (own == no_cost) continue;
        const std::uint64_t ns = plus(best[first].ns, plus(own, border_ns));
        const std::uint32_t partitions = best[first].partitions + 1;
        if (ns < to.ns || (ns == to.ns && partitions < to.partitions)) to = {ns, partitions, {first, last, b}};
      }
    }
    if (to.ns == no_cost) to = {best[last - 1].ns, best[last - 1].partitions, {last - 1, last, backends}};
  }
  Cover cover{.steps = {}, .ns = best[regions.count()].ns};
  for (std::uint32_t at = regions.count(); at > 0; at = best[at].step.first)
    if (best[at].step.backend < backends) cover.steps.push_back(best[at].step);
  std::ranges::reverse(cover.steps);
  return cover;
}

}  // namespace davit
