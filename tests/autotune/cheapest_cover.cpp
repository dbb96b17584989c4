// SPDX-License-Identifier: MIT
#include "davit/autotune/cheapest_cover.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using namespace davit;
using Steps = std::vector<CoverStep>;

namespace {

constexpr Regions regions(std::vector<std::uint64_t> support) {
  Regions r;
  r.first.push_back(0);
  for (std::uint32_t i = 0; i < support.size(); ++i) {
    r.order.push_back(i);
    r.first.push_back(i + 1);
    r.graph.push_back(0);
  }
  r.support = std::move(support);
  return r;
}
/// Backend 0 costs 10 per region. Backend 1 costs 12 per region, but 4 for region 1, and 1 per call.
constexpr std::uint64_t cost(std::uint32_t first, std::uint32_t last, std::uint32_t backend) {
  std::uint64_t sum = 0;
  for (std::uint32_t r = first; r < last; ++r) sum += backend == 0 ? 10 : r == 1 ? 4 : 12;
  return backend == 1 ? sum + 1 : sum;
}
constexpr Steps cover(std::uint64_t border) { return cheapest_cover(regions({3, 3, 3}), 2, 8, border, cost).steps; }

constexpr bool check_border() {
  return cover(0) == Steps{{0, 1, 0}, {1, 2, 1}, {2, 3, 0}} && cover(3) == Steps{{0, 3, 1}} &&
         cheapest_cover(regions({3, 3, 3}), 1, 8, 0, cost).steps == Steps{{0, 3, 0}} &&
         cheapest_cover(regions({3, 3, 3}), 1, 2, 0, cost).steps.size() == 2;
}
static_assert(check_border());

/// The smallest cost of all covers, found by trying each.
std::uint64_t least(const Regions& r, std::uint32_t from, std::uint32_t backends, std::uint32_t longest,
                    std::uint64_t border, auto&& cost_of) {
  if (from == r.count()) return 0;
  if (r.support[from] == 0) return least(r, from + 1, backends, longest, border, cost_of);
  std::uint64_t best = no_cost;
  std::uint64_t common = ~std::uint64_t{0};
  for (std::uint32_t last = from + 1; last <= r.count() && last - from <= longest; ++last) {
    common &= r.support[last - 1];
    for (std::uint32_t b = 0; b < backends; ++b)
      if ((common >> b & 1) != 0)
        best = std::min(best, cost_of(from, last, b) + border + least(r, last, backends, longest, border, cost_of));
  }
  return best;
}

}  // namespace

TEST_CASE("a switch is made where it pays, and not where borders cost more") { CHECK(check_border()); }

TEST_CASE("regions without support are left out and end a partition, as does the end of a graph") {
  Regions r = regions({3, 0, 3, 3});
  CHECK(cheapest_cover(r, 1, 8, 1, cost).steps == Steps{{0, 1, 0}, {2, 4, 0}});
  r.graph[3] = 1;
  CHECK(cheapest_cover(r, 1, 8, 1, cost).steps == Steps{{0, 1, 0}, {2, 3, 0}, {3, 4, 0}});
}

TEST_CASE("costs that are not known are not taken; a region without any is left out") {
  const auto only = [](std::uint32_t first, std::uint32_t last, std::uint32_t backend) -> std::uint64_t {
    return last - first == 1 && first != 1 && backend == 1 ? 5 : no_cost;
  };
  const Cover c = cheapest_cover(regions({3, 3, 3}), 2, 8, 1, only);
  CHECK(c.steps == Steps{{0, 1, 1}, {2, 3, 1}});
  CHECK(c.ns == 12);
}

TEST_CASE("sums saturate") {
  const auto most = [](auto...) { return no_cost - 1; };
  CHECK(cheapest_cover(regions({1, 1, 1}), 1, 1, UINT64_MAX, most).ns == no_cost - 1);
  CHECK(cheapest_cover(regions({}), 1, 1, 0, most).steps.empty());
}

TEST_CASE("no cover is cheaper: random costs, against all covers") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> support(1 + random() % 6);
    for (std::uint64_t& s : support) s = random() % 8;
    const Regions r = regions(support);
    std::vector<std::uint64_t> costs(7 * 7 * 3);
    for (std::uint64_t& c : costs) c = random() % 100;
    const auto any = [&](std::uint32_t first, std::uint32_t last, std::uint32_t b) {
      return costs[(first * 7 + last - 1) * 3 + b];
    };
    const auto longest = 1 + static_cast<std::uint32_t>(random() % 6);
    const std::uint64_t border = random() % 20;
    const Cover c = cheapest_cover(r, 3, longest, border, any);
    REQUIRE(c.ns == least(r, 0, 3, longest, border, any));
    std::uint64_t sum = 0;
    for (const CoverStep& s : c.steps) sum += any(s.first, s.last, s.backend) + border;
    REQUIRE(sum == c.ns);
  }
}
