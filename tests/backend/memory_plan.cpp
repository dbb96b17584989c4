// SPDX-License-Identifier: MIT
#include "davit/backend/memory_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

using namespace davit;

namespace {

constexpr bool check_chain() {  // each block dies when the next but one begins
  const Lifetime chain[] = {{0, 1, 100}, {1, 2, 100}, {2, 3, 100}, {3, 4, 100}, {4, 5, 0}};
  const MemoryPlan plan = plan_memory(chain);
  return is_sound(plan, chain) && plan.arena_bytes == 256 &&
         plan.offsets == std::vector<std::size_t>{0, 128, 0, 128, 0};
}
static_assert(check_chain());

constexpr bool check_unsound() {
  const Lifetime together[] = {{0, 1, 64}, {1, 2, 64}};
  return !is_sound(MemoryPlan{.offsets = {0, 0}, .arena_bytes = 64}, together) &&
         !is_sound(MemoryPlan{.offsets = {0, 64}, .arena_bytes = 64}, together) &&
         is_sound(MemoryPlan{.offsets = {0, 64}, .arena_bytes = 128}, together) && plan_memory({}).arena_bytes == 0;
}
static_assert(check_unsound());

constexpr bool check_by_size() {  // in order of time the large block is last and above the others
  const Lifetime lifetimes[] = {{0, 1, 64}, {1, 2, 128}, {2, 3, 256}, {2, 2, 0}};
  const MemoryPlan by_time = plan_memory(lifetimes);
  const MemoryPlan by_size = plan_memory_by_size(lifetimes);
  return is_sound(by_size, lifetimes) && is_sound(by_time, lifetimes) && by_time.arena_bytes == 448 &&
         by_size.arena_bytes == 384 && by_size.offsets == std::vector<std::size_t>{0, 256, 0, 0} &&
         plan_memory_by_size({}).arena_bytes == 0;
}
static_assert(check_by_size());

constexpr bool check_tightly() {
  const Lifetime lifetimes[] = {{0, 1, 64}, {1, 2, 128}, {2, 3, 256}, {2, 2, 0}};
  const Lifetime chain[] = {{0, 1, 100}, {1, 2, 100}, {2, 3, 100}};
  return plan_memory(lifetimes).live_bytes == 384 && plan_memory_smallest(lifetimes, 4).arena_bytes == 384 &&
         plan_memory_smallest(lifetimes, 3).arena_bytes == 448 &&
         plan_memory_smallest(lifetimes, 4, 16).arena_bytes == 384 && plan_memory(chain).live_bytes == 256 &&
         plan_memory_smallest(chain, 3).arena_bytes == 256;
}
static_assert(check_tightly());

constexpr bool check_gap() {  // the small block fits between two concurrent ones
  const Lifetime lifetimes[] = {{0, 4, 512}, {0, 1, 256}, {0, 4, 128}, {2, 3, 200}};
  const MemoryPlan plan = plan_memory_by_size(lifetimes);
  return is_sound(plan, lifetimes) && plan.arena_bytes == 512 + 256 + 128 && plan.offsets[3] == 512;
}
static_assert(check_gap());

/// The lowest free offset for each block at its beginning, by a search over all blocks.
std::vector<std::size_t> lowest_offsets(std::span<const Lifetime> lifetimes) {
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    std::vector<std::pair<std::size_t, std::size_t>> alive;
    for (std::size_t k = 0; k < i; ++k)
      if (lifetimes[k].bytes != 0 && lifetimes[k].last >= lifetimes[i].first)
        alive.emplace_back(offsets[k], offsets[k] + (lifetimes[k].bytes + 63) / 64 * 64);
    std::ranges::sort(alive);
    std::size_t at = 0;
    for (const auto& [begin, end] : alive)
      if (begin < at + lifetimes[i].bytes) at = end;
    offsets.push_back(lifetimes[i].bytes == 0 ? 0 : at);
  }
  return offsets;
}

}  // namespace

TEST_CASE("in order of time each block takes the lowest free place, among many short and long lifetimes") {
  std::uint32_t seed = 3;
  const auto random = [&](std::uint32_t below) { return ((seed = seed * 1664525u + 1013904223u) >> 9) % below; };
  for (int round = 0; round < 60; ++round) {
    std::vector<Lifetime> lifetimes;
    std::uint32_t step = 0;
    for (int i = 0; i < 150; ++i) {
      step += random(3) == 0 ? 1 : 0;
      lifetimes.push_back(
          {step, step + random(random(4) == 0 ? 60 : 6), random(9) == 0 ? 0 : 64 * random(8) + random(64)});
    }
    const MemoryPlan plan = plan_memory(lifetimes);
    CHECK(plan.offsets == lowest_offsets(lifetimes));
    CHECK(is_sound(plan, lifetimes));
  }
}

TEST_CASE("blocks by size: the largest first, the rest where there is room; also in a gap") {
  CHECK(check_by_size());
  CHECK(check_gap());
}

TEST_CASE("the tighter of two plans, as long as there are few blocks") { CHECK(check_tightly()); }

TEST_CASE("of two blocks of one time the larger comes first; the order depends on nothing else") {
  const Lifetime lifetimes[] = {{0, 1, 64}, {0, 1, 64}, {0, 1, 65}};
  CHECK(plan_memory_by_size(lifetimes).offsets == std::vector<std::size_t>{128, 192, 0});
}

TEST_CASE("blocks of a chain alternate between two places") { CHECK(check_chain()); }

TEST_CASE("the check of plans finds overlaps and blocks outside the arena") { CHECK(check_unsound()); }

TEST_CASE("plans of random lifetimes are sound, aligned, and no larger than all blocks together") {
  std::uint32_t seed = 7;
  const auto random = [&](std::uint32_t below) {
    return (seed = seed * 1664525u + 1013904223u) >> 8 & 0xffffu ? (seed >> 9) % below : 0;
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> lifetimes;
    std::size_t all = 0;
    for (std::uint32_t i = 0; i < 60; ++i) {
      lifetimes.push_back({i, i + random(10), random(1000)});
      all += (lifetimes.back().bytes + plan_alignment - 1) / plan_alignment * plan_alignment;
    }
    const MemoryPlan plan = plan_memory(lifetimes);
    CHECK(is_sound(plan, lifetimes));
    CHECK(plan.arena_bytes <= all);
    for (const std::size_t offset : plan.offsets) CHECK(offset % plan_alignment == 0);
    std::vector<Lifetime> shuffled = lifetimes;
    for (std::uint32_t i = 60; i > 1; --i) std::swap(shuffled[i - 1], shuffled[random(i)]);
    const MemoryPlan by_size = plan_memory_by_size(shuffled);
    CHECK(is_sound(by_size, shuffled));
    CHECK(by_size.arena_bytes <= all);
    for (const std::size_t offset : by_size.offsets) CHECK(offset % plan_alignment == 0);
    MemoryPlan broken = by_size;
    broken.offsets[5] = broken.arena_bytes;
    if (shuffled[5].bytes != 0) CHECK(!is_sound(broken, shuffled));
  }
}

TEST_CASE("blocks are at multiples of the requested alignment") {
  constexpr std::array<Lifetime, 3> lifetimes{{{0, 1, 10}, {0, 2, 20}, {1, 2, 3}}};
  const MemoryPlan narrow = plan_memory(lifetimes, 16);
  CHECK(narrow.offsets == std::vector<std::size_t>{0, 16, 48});
  CHECK(narrow.arena_bytes == 64);
  CHECK(is_sound(plan_memory_by_size(lifetimes, 16), lifetimes));
  CHECK(plan_memory(lifetimes).arena_bytes == 192);
}
