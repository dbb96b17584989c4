// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/memory_plan.hpp"
#include "davit/lowered/partition_report.hpp"
#include "davit/lowered/schedule.hpp"

namespace davit {

/// Memory that a lowered program needs for some time: a value that a partition makes, or a partition's scratch.
struct PlannedBlock {
  enum class Kind : std::uint8_t { value, scratch };
  Kind kind = Kind::value;
  std::uint32_t slot = no_id;      ///< of a value
  std::uint32_t step = no_id;      ///< of the schedule: the one that makes the value or uses the scratch
  std::uint32_t shares = no_id;    ///< the earlier block in whose place this one lies
  std::uint32_t in_state = no_id;  ///< the slot of the buffer in whose memory it is made: it takes none of the arena
  Lifetime life{};                 ///< in ticks: every step has its own, control flow one at each end
  std::size_t offset = 0;
};

/// Where the values and the scratch of a lowered program's partitions lie in one arena.
struct ProgramPlan {
  std::vector<PlannedBlock> blocks;
  std::size_t arena_bytes = 0;
  std::uint32_t ticks = 0;

  /// Bytes if nothing shared its place; SIZE_MAX if they are more than max_plan_bytes.
  [[nodiscard]] constexpr std::size_t total_bytes() const noexcept {
    std::size_t sum = 0;
    for (const PlannedBlock& block : blocks) {
      if (block.life.bytes > max_plan_bytes - sum) return SIZE_MAX;
      sum += block.life.bytes;
    }
    return sum;
  }

  /// A line per block, in order of offsets: what it is, when it is needed, where it lies. `graph` is the parent
  /// program.
  [[nodiscard]] Name report(GraphModuleView graph) const;
  /// The same for the report of the method that was planned.
  [[nodiscard]] PartitionReport::Memory memory(const Schedule& schedule, GraphModuleView graph) const;

  /// The block that a block shares its place with, or itself: what may be computed over one another counts as one.
  [[nodiscard]] constexpr const PlannedBlock* place_of(const PlannedBlock& block) const noexcept {
    return block.shares == no_id ? &block : &blocks[block.shares];
  }

  /// True if `after` is computed in the place of `before`, which is needed for the last time by the step that does so.
  [[nodiscard]] constexpr bool handed_over(const PlannedBlock& before, const PlannedBlock& after) const noexcept {
    return place_of(before) == place_of(after) && before.life.last == after.life.first &&
           before.life.first < after.life.first;
  }

  /// True if no two blocks that are needed at the same time overlap, and all lie in the arena. O(n log n + n * alive).
  [[nodiscard]] bool is_sound() const;
};

/// The blocks that a lowered program's partitions need, with lifetimes; sizes are still 0. `views` says per delegate
/// whether its outputs may view its inputs, which then live as long; a missing entry is a no. O(size of the schedule).
[[nodiscard]] ProgramPlan plan_lifetimes(const Schedule& schedule, std::span<const std::uint8_t> views = {});

/// Where the blocks of each value stand in a plan. Built in O(blocks + slots).
class BlocksOfSlots {
 public:
  BlocksOfSlots(const ProgramPlan& plan, std::uint32_t slots);
  /// In order.
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t slot) const noexcept {
    return std::span(blocks_).subspan(first_[slot], first_[slot + 1] - first_[slot]);
  }

 private:
  std::vector<std::uint32_t> first_;  ///< per slot, and one more
  std::vector<std::uint32_t> blocks_;
};

/// Gives an output the place of an input that is not needed after the step, if both have the same size and `may(in,
/// out)` allows it. `scratch` is the block of the step's scratch; those of its outputs follow. O(inputs, and outputs
/// for each of those inputs).
template <class May>
void overwrite_inputs(ProgramPlan& plan, const BlocksOfSlots& made, std::size_t scratch,
                      std::span<const std::uint32_t> inputs, std::size_t outputs, May&& may) {
  std::vector<PlannedBlock>& blocks = plan.blocks;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (const std::uint32_t b : made.of(inputs[i])) {
      const PlannedBlock& input = blocks[b];
      if (b >= scratch || input.life.bytes == 0 || input.life.last != blocks[scratch].life.first) continue;
      for (std::size_t k = 0; k < outputs; ++k) {
        PlannedBlock& output = blocks[scratch + 1 + k];
        if (output.shares != no_id || output.life.bytes != input.life.bytes || !may(i, k)) continue;
        output.shares = input.shares != no_id ? input.shares : b;
        break;
      }
    }
}

/// Gives every block its offset. Up to some thousand blocks the largest go first if that makes a smaller arena, else
/// they go in order of time.
void place_blocks(ProgramPlan& plan);

}  // namespace davit
