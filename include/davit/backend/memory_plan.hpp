// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace davit {

/// A block of memory that is needed from step `first` to step `last`, both included.
struct Lifetime {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::size_t bytes = 0;
};

/// Where each block of a plan lies, and how many bytes the arena has.
struct MemoryPlan {
  std::vector<std::size_t> offsets;  ///< one per lifetime, multiples of the alignment
  std::size_t arena_bytes = 0;
};

inline constexpr std::size_t plan_alignment = 64;

/// Places blocks in one arena so that blocks alive at the same step never overlap: in order of their first step, each
/// at the lowest free offset, a multiple of `alignment`, that fits. Lifetimes must be sorted by `first`; blocks of 0
/// bytes take no room. Deterministic. O(n * blocks alive at once).
[[nodiscard]] constexpr MemoryPlan plan_memory(std::span<const Lifetime> lifetimes,
                                               std::size_t alignment = plan_alignment) {
  struct Block {
    std::size_t begin, end;
    std::uint32_t last;
  };
  MemoryPlan plan{.offsets = std::vector<std::size_t>(lifetimes.size(), 0)};
  std::vector<Block> alive;  // sorted by begin
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    const Lifetime& life = lifetimes[i];
    if (life.bytes == 0) continue;
    std::erase_if(alive, [&](const Block& b) { return b.last < life.first; });
    const std::size_t bytes = (life.bytes + alignment - 1) / alignment * alignment;
    std::size_t at = 0;
    std::size_t position = 0;
    while (position < alive.size() && alive[position].begin - at < bytes) {
      at = std::max(at, alive[position].end);
      ++position;
    }
    alive.insert(alive.begin() + static_cast<std::ptrdiff_t>(position), {at, at + bytes, life.last});
    plan.offsets[i] = at;
    plan.arena_bytes = std::max(plan.arena_bytes, at + bytes);
  }
  return plan;
}

/// Places blocks by size, the largest first, each at the lowest offset where no block that is alive at the same time
/// lies. Lifetimes may come in any order. Mostly smaller than plan_memory's arena, at O(n^2): for plans of some hundred
/// blocks. Deterministic. Source: the greedy planner of executorch.exir.memory_planning.
[[nodiscard]] constexpr MemoryPlan plan_memory_by_size(std::span<const Lifetime> lifetimes,
                                                       std::size_t alignment = plan_alignment) {
  MemoryPlan plan{.offsets = std::vector<std::size_t>(lifetimes.size(), 0)};
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < lifetimes.size(); ++i)
    if (lifetimes[i].bytes != 0) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return lifetimes[a].bytes != lifetimes[b].bytes ? lifetimes[a].bytes > lifetimes[b].bytes : a < b;
  });
  std::vector<std::uint32_t> placed;  // by offset
  for (const std::uint32_t i : order) {
    const Lifetime& life = lifetimes[i];
    const std::size_t bytes = (life.bytes + alignment - 1) / alignment * alignment;
    std::size_t at = 0;
    for (const std::uint32_t other : placed) {
      if (lifetimes[other].last < life.first || life.last < lifetimes[other].first) continue;
      if (plan.offsets[other] >= at + bytes) break;
      const std::size_t end = plan.offsets[other] + (lifetimes[other].bytes + alignment - 1) / alignment * alignment;
      at = std::max(at, end);
    }
    plan.offsets[i] = at;
    plan.arena_bytes = std::max(plan.arena_bytes, at + bytes);
    const auto where = std::upper_bound(placed.begin(), placed.end(), at, [&](std::size_t offset, std::uint32_t other) {
      return offset < plan.offsets[other];
    });
    placed.insert(where, i);
  }
  return plan;
}

/// True if no two blocks that are alive at the same step overlap. O(n^2): for tests.
[[nodiscard]] constexpr bool is_sound(const MemoryPlan& plan, std::span<const Lifetime> lifetimes) noexcept {
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    if (lifetimes[i].bytes != 0 && plan.offsets[i] + lifetimes[i].bytes > plan.arena_bytes) return false;
    for (std::size_t j = 0; j < i; ++j) {
      const bool together = lifetimes[i].first <= lifetimes[j].last && lifetimes[j].first <= lifetimes[i].last;
      const bool apart = plan.offsets[i] + lifetimes[i].bytes <= plan.offsets[j] ||
                         plan.offsets[j] + lifetimes[j].bytes <= plan.offsets[i];
      if (together && !apart && lifetimes[i].bytes != 0 && lifetimes[j].bytes != 0) return false;
    }
  }
  return true;
}

}  // namespace davit
