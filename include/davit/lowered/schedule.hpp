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
  std::uint32_t delegate = no_id;  ///< call_delegate: the delegate's number
  NodeId node = no_id;             ///< of the parent program
  GraphId graph = no_id;           ///< cond: if true; while_loop: the condition; map and scan: the body
  GraphId other = no_id;           ///< cond: if false; while_loop: the body
  std::uint32_t carried = 0;       ///< while_loop, scan: how many of the inputs are carried
  std::uint32_t sliced = 0;        ///< map, scan: how many of the inputs after those are taken slice by slice
  Range inputs{};                  ///< cond: the predicate first
  Range outputs{};
  std::int64_t dim = 0;  ///< scan: the dimension of the slices
  friend constexpr bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

/// The steps of one graph of the parent, and where its inputs and outputs are.
struct ScheduleGraph {
  Range steps{};
  Range inputs{};
  Range outputs{};
  friend constexpr bool operator==(const ScheduleGraph&, const ScheduleGraph&) = default;
};

/// How a lowered program runs: delegate calls and control flow over numbered slots.
///
/// The first slots are the values of the parent program; then come literals, the buffers that partitions took along,
/// and those buffers' new values.
struct Schedule {
  struct Literal {
    std::uint32_t slot = 0;
    Argument argument;  ///< none, int_, float_, bool_ or string (text of the parent program)
  };
  struct MovedBuffer {
    Name target;
    std::uint32_t slot = 0;    ///< its value when a run begins
    std::uint32_t result = 0;  ///< its value when the run ends
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

/// Lays out how a parent program runs; `interface` is that of the whole method, `delegates` holds the interface of each
/// delegate it calls. O(size of the parent).
/// Errors: invalid_program for a node that is neither a delegate call nor control flow, and for a second call of a
/// delegate.
[[nodiscard]] Result<Schedule> make_schedule(const ExportedProgram& parent, const MethodInterface& interface,
                                             std::span<const MethodInterface* const> delegates);

}  // namespace davit
