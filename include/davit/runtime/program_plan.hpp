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

/// Memory with a lifetime in a lowered program: an output of a partition, or its scratch.
struct PlannedBlock {
  enum class Kind : std::uint8_t { value, scratch };
  Kind kind = Kind::value;
  std::uint32_t slot = no_id;      ///< slot of a value
  std::uint32_t step = no_id;      ///< step that makes the value or uses the scratch
  std::uint32_t shares = no_id;    ///< earlier block whose memory this block reuses
  std::uint32_t in_state = no_id;  ///< slot of the buffer in whose memory the value is made, outside the arena
  Lifetime life{};                 ///< in ticks: one per step, two for control flow (begin and end)
  std::size_t offset = 0;
};

/// Places of all values and scratch of a lowered program's partitions in one arena.
struct ProgramPlan {
  std::vector<PlannedBlock> blocks;
  std::size_t arena_bytes = 0;
  std::uint32_t ticks = 0;

  /// Returns the bytes needed without any sharing; SIZE_MAX if above max_plan_bytes.
  [[nodiscard]] constexpr std::size_t total_bytes() const noexcept {
    std::size_t sum = 0;
    for (const PlannedBlock& block : blocks) {
      if (block.life.bytes > max_plan_bytes - sum) return SIZE_MAX;
      sum += block.life.bytes;
    }
    return sum;
  }

  /// Prints a line per block, by offset: contents, lifetime, place. `graph` is the parent program.
  [[nodiscard]] Name report(GraphModuleView graph) const;
  /// Returns the plan for the report of its method.
  [[nodiscard]] PartitionReport::Memory memory(const Schedule& schedule, GraphModuleView graph) const;

  /// Returns the block whose memory this block reuses, or the block itself. Blocks of one place count as one.
  [[nodiscard]] constexpr const PlannedBlock* place_of(const PlannedBlock& block) const noexcept {
    return block.shares == no_id ? &block : &blocks[block.shares];
  }

  /// True if `after` reuses the place of `before`, whose last use is the step that makes `after`.
  [[nodiscard]] constexpr bool handed_over(const PlannedBlock& before, const PlannedBlock& after) const noexcept {
    return place_of(before) == place_of(after) && before.life.last == after.life.first &&
           before.life.first < after.life.first;
  }

  /// True if all blocks lie in the arena, and blocks with overlapping lifetimes are disjoint. O(n log n + n * alive).
  [[nodiscard]] bool is_sound() const;
};

/// Finds the blocks of a lowered program's partitions and their lifetimes; sizes are still 0. `views` says per delegate
/// if outputs may view inputs, which extends the inputs' lifetimes; missing entries mean no. O(size of the schedule).
[[nodiscard]] ProgramPlan plan_lifetimes(const Schedule& schedule, std::span<const std::uint8_t> views = {});

/// Index of a plan's blocks by slot. Built in O(blocks + slots).
class BlocksOfSlots {
 public:
  BlocksOfSlots(const ProgramPlan& plan, std::uint32_t slots);
  /// Returns the blocks of a slot in the order of the plan.
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t slot) const noexcept {
    return std::span(blocks_).subspan(first_[slot], first_[slot + 1] - first_[slot]);
  }

 private:
  std::vector<std::uint32_t> first_;  ///< offset per slot, and one more
  std::vector<std::uint32_t> blocks_;
};

/// Lets an output reuse the memory of an input that dies at this step, if their sizes are equal and `may(in, out)` is
/// true. `scratch` is the block of the step's scratch; the blocks of its outputs follow. O(inputs + dying inputs *
/// outputs).
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

/// Assigns an offset to every block: in order of time, or, up to some thousand blocks, largest first if that makes the
/// arena smaller.
void place_blocks(ProgramPlan& plan);

}  // namespace davit
