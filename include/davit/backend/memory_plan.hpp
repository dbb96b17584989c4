// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/table.hpp"

namespace davit {

/// A block of memory that is in use from step `first` to step `last`, both included.
struct Lifetime {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::size_t bytes = 0;
};

/// Offset of each block, and the size of the arena.
struct MemoryPlan {
  std::vector<std::size_t> offsets;  ///< one per lifetime, multiples of the alignment
  std::size_t arena_bytes = 0;
  std::size_t live_bytes = 0;  ///< of plan_memory: peak of the bytes in use, a lower bound of every plan
};

inline constexpr std::size_t plan_alignment = 64;

/// Limit of the sum of a plan's blocks, in bytes: more than any machine has, and small enough that sums cannot
/// overflow.
inline constexpr std::size_t max_plan_bytes = std::size_t{1} << (sizeof(std::size_t) == 8 ? 56 : 30);

namespace detail {

/// Free memory of an arena while blocks come and go: the gaps between blocks in use, and the end of the last block.
template <class = void>
class ArenaGaps {
 public:
  /// Takes the lowest gap of at least that many bytes, or grows the arena; returns the offset. O(gaps).
  [[nodiscard]] constexpr std::size_t take(std::size_t bytes) {
    Gap* const end = gaps_.end();
    Gap* gap = gaps_.begin();
    while (gap != end && gap->end - gap->begin < bytes) ++gap;
    if (gap == end) {
      top_ += bytes;
      return top_ - bytes;
    }
    const std::size_t at = gap->begin;
    gap->begin += bytes;
    if (gap->begin == gap->end) remove(gap);
    return at;
  }
  /// Frees [begin, end). O(gaps).
  constexpr void give(std::size_t begin, std::size_t end) {
    if (end == top_) {
      top_ = begin;
      if (!gaps_.empty() && gaps_.back().end == top_) {
        top_ = gaps_.back().begin;
        gaps_.shrink(gaps_.size() - 1);
      }
      return;
    }
    std::size_t after = gaps_.size();  // the first gap above it
    while (after != 0 && gaps_[after - 1].begin > begin) --after;
    const bool joins_next = after != gaps_.size() && gaps_[after].begin == end;
    if (after != 0 && gaps_[after - 1].end == begin) {
      gaps_[after - 1].end = joins_next ? gaps_[after].end : end;
      if (joins_next) remove(gaps_.begin() + after);
    } else if (joins_next) {
      gaps_[after].begin = begin;
    } else {
      gaps_.push_back({});
      for (std::size_t i = gaps_.size() - 1; i > after; --i) gaps_[i] = gaps_[i - 1];
      gaps_[after] = {begin, end};
    }
  }

 private:
  struct Gap {
    std::size_t begin, end;
  };
  constexpr void remove(Gap* gap) {
    for (; gap + 1 != gaps_.end(); ++gap) *gap = gap[1];
    gaps_.shrink(gaps_.size() - 1);
  }
  Table<Gap> gaps_;  ///< by offset; separated by blocks
  std::size_t top_ = 0;
};

/// A block in use, and a min-heap of them by last step.
struct AliveBlock {
  std::uint32_t last;
  std::size_t begin, end;
};
template <class = void>
constexpr void push_alive(Table<AliveBlock>& heap, AliveBlock block) {
  heap.push_back(block);
  std::size_t at = heap.size() - 1;
  for (; at != 0 && heap[(at - 1) / 2].last > block.last; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
  heap[at] = block;
}
template <class = void>
constexpr void pop_alive(Table<AliveBlock>& heap) {
  const AliveBlock moved = heap.back();
  const std::size_t size = heap.size() - 1;
  heap.shrink(size);
  std::size_t at = 0;
  for (std::size_t child = 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && heap[child + 1].last < heap[child].last) ++child;
    if (heap[child].last >= moved.last) break;
    heap[at] = heap[child];
    at = child;
  }
  if (size != 0) heap[at] = moved;
}

}  // namespace detail

/// Places blocks in one arena so that blocks alive at the same step never overlap: in order of their first step, each
/// at the lowest free offset, a multiple of `alignment`, that fits. Lifetimes must be sorted by `first`; blocks of 0
/// bytes take no room. Deterministic. O(n * (log n + gaps between blocks alive at once)).
template <class = void>
[[nodiscard]] constexpr MemoryPlan plan_memory(std::span<const Lifetime> lifetimes,
                                               std::size_t alignment = plan_alignment) {
  MemoryPlan plan{.offsets = std::vector<std::size_t>(lifetimes.size(), 0)};
  std::size_t* offset = plan.offsets.data();
  const Lifetime* const end = lifetimes.data() + lifetimes.size();
  Table<detail::AliveBlock> alive;
  detail::ArenaGaps<> gaps;
  std::size_t live = 0;
  for (const Lifetime* life = lifetimes.data(); life != end; ++life, ++offset) {
    if (life->bytes == 0) continue;
    for (; !alive.empty() && alive[0].last < life->first; detail::pop_alive(alive)) {
      gaps.give(alive[0].begin, alive[0].end);
      live -= alive[0].end - alive[0].begin;
    }
    const std::size_t bytes = (life->bytes + alignment - 1) / alignment * alignment;
    live += bytes;
    if (live > plan.live_bytes) plan.live_bytes = live;
    const std::size_t at = gaps.take(bytes);
    detail::push_alive(alive, {life->last, at, at + bytes});
    *offset = at;
    if (at + bytes > plan.arena_bytes) plan.arena_bytes = at + bytes;
  }
  return plan;
}

/// Places blocks in order of size, the largest first, each at the lowest offset that is free during its lifetime.
/// Lifetimes may be in any order. The arena is usually smaller than plan_memory's, at O(n^2): for plans of some hundred
/// blocks. Deterministic. Source: the greedy planner of executorch.exir.memory_planning.
template <class = void>
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

/// Returns the smaller plan of plan_memory and plan_memory_by_size; tries the second only if the first needs more than
/// `live_bytes` and there are at most `few` blocks. Lifetimes must be sorted by `first`. O(n^2) for up to `few` blocks.
template <class = void>
[[nodiscard]] constexpr MemoryPlan plan_memory_smallest(std::span<const Lifetime> lifetimes, std::size_t few,
                                                        std::size_t alignment = plan_alignment) {
  MemoryPlan plan = plan_memory(lifetimes, alignment);
  if (plan.arena_bytes == plan.live_bytes || lifetimes.size() > few) return plan;
  MemoryPlan by_size = plan_memory_by_size(lifetimes, alignment);
  return by_size.arena_bytes < plan.arena_bytes ? by_size : plan;
}

/// True if no two blocks in use at the same step overlap. O(n^2): for tests.
template <class = void>
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
