// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowered/method_interface.hpp"

namespace davit {

enum class StepKind : std::uint8_t { call_delegate, cond, while_loop, map, scan };

/// One step of a lowered program. Ranges are rows of Schedule::slots.
struct ScheduleStep {
  StepKind kind = StepKind::call_delegate;
  std::uint8_t reverse = 0;  ///< scan: from the last slice to the first
  std::uint16_t reserved = 0;
  std::uint32_t delegate = no_id;  ///< call_delegate: index of the delegate
  NodeId node = no_id;             ///< node of the parent program
  GraphId graph = no_id;           ///< cond: the true branch; while_loop: the condition; map and scan: the body
  GraphId other = no_id;           ///< cond: the false branch; while_loop: the body
  std::uint32_t carried = 0;       ///< while_loop, scan: number of carried inputs
  std::uint32_t sliced = 0;        ///< map, scan: number of sliced inputs, which follow the carried ones
  Range inputs{};                  ///< cond: starts with the predicate
  Range outputs{};
  std::int64_t dim = 0;  ///< scan: dimension that is sliced
  friend constexpr bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

/// The steps of one graph of the parent, and the slots of its inputs and outputs.
struct ScheduleGraph {
  Range steps{};
  Range inputs{};
  Range outputs{};
  friend constexpr bool operator==(const ScheduleGraph&, const ScheduleGraph&) = default;
};

/// Execution plan of a lowered program: delegate calls and control flow over numbered slots.
///
/// Slots hold, in this order: the values of the parent program, literals, buffers that moved into partitions, and the
/// new values of these buffers.
struct Schedule {
  struct Literal {
    std::uint32_t slot = 0;
    Argument argument;  ///< none, int_, float_, bool_ or string (text of the parent program)
  };
  struct MovedBuffer {
    Name target;
    std::uint32_t slot = 0;    ///< value at the start of a run
    std::uint32_t result = 0;  ///< value at the end of a run
  };
  std::vector<ScheduleStep> steps;
  std::vector<std::uint32_t> slots;
  std::vector<ScheduleGraph> graphs;
  std::vector<Literal> literals;
  std::vector<MovedBuffer> buffers;
  std::vector<std::uint32_t> input_slots;   ///< per input of the method's interface
  std::vector<std::uint32_t> output_slots;  ///< per output of the method's interface
  std::uint32_t slot_count = 0;

  [[nodiscard]] constexpr std::span<const std::uint32_t> at(Range r) const noexcept {
    return std::span(slots).subspan(r.first, r.count);
  }
};

/// Plans the execution of a parent program. `interface` belongs to the whole method; `delegates` holds the interface of
/// each delegate.
///
/// Errors: invalid_program for a node that is neither a delegate call nor control flow, and for a second call of a
/// delegate. O(size of the parent).
[[nodiscard]] Result<Schedule> make_schedule(const ExportedProgram& parent, const MethodInterface& interface,
                                             std::span<const MethodInterface* const> delegates);

}  // namespace davit
