// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backend/memory_plan.hpp"
#include "davit/core/table.hpp"
#include "davit/embed/select_steps.hpp"

namespace davit {

/// The alignment in bytes of blocks in a static program's arena.
inline constexpr std::size_t static_alignment = 16;
/// The cache line of cache-maintaining backends: blocks of a module's own arena do not share one with other data.
inline constexpr std::size_t static_cache_line = 64;

/// The place of a static program's value at run time.
enum class StaticPlace : std::uint8_t {
  nowhere,
  arena,     ///< `offset` bytes into the arena
  argument,  ///< the caller's tensor number `offset` (inputs, then outputs)
  state,     ///< element `offset` of the module's state of that element type
  blob,      ///< `offset` bytes into the program's weight blob
  array,     ///< the array of graph input `offset`
  table,     ///< element `offset` of the plan's table of that element type
};

/// A typed address.
struct StaticOperand {
  StaticPlace place = StaticPlace::nowhere;
  ScalarType dtype = ScalarType::undefined;
  std::uint8_t writable = 0;
  std::uint8_t reserved = 0;
  std::uint32_t offset = 0;
  friend constexpr bool operator==(const StaticOperand&, const StaticOperand&) = default;
};

/// One tensor of forward's call.
struct StaticPort {
  ValueId value = no_id;
  std::uint8_t is_output = 0;
  std::uint8_t is_mutated = 0;  ///< an input that forward overwrites
  std::uint32_t offset = 0;     ///< bytes into the arena, if tensors are there
};

/// A copy after the last step.
struct StaticCopy {
  StaticOperand from;
  StaticOperand to;
  std::uint32_t count = 0;
};

/// The elements of the state, per type.
struct StatePools {
  /// By state_pool. The zeros are explicit: g++ 12 takes two template arguments for equal if the members that were ever
  /// written have equal values, whichever members these are, so that states of four floats and of four integers shared
  /// functions.
  std::array<std::uint32_t, 8> counts{0, 0, 0, 0, 0, 0, 0, 0};

  [[nodiscard]] constexpr std::uint32_t bytes() const noexcept {
    constexpr std::array<std::uint32_t, 8> widths{4, 8, 1, 1, 2, 4, 8, 1};
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) sum += counts[i] * widths[i];
    return sum;
  }
};
/// The pool of that type; 8 for types that state cannot have.
[[nodiscard]] constexpr std::size_t state_pool(ScalarType type) noexcept {
  constexpr std::array types{ScalarType::float32, ScalarType::float64, ScalarType::int8,  ScalarType::uint8,
                             ScalarType::int16,   ScalarType::int32,   ScalarType::int64, ScalarType::bool_};
  std::size_t i = 0;
  while (i < types.size() && types[i] != type) ++i;
  return i;
}

/// The input of code generation for a static program. All offsets come from one planning run.
struct PlannedProgram {
  SelectedSteps selected;
  Table<StaticOperand> operands;      ///< per row of the steps' operand table
  Table<StaticPort> ports;            ///< forward's arguments
  Table<StaticCopy> copies;           ///< user outputs first, then mutations
  Table<Lifetime> lifetimes;          ///< of the arena's blocks
  Table<std::uint32_t> offsets;       ///< of the arena's blocks
  Table<std::uint32_t> state_offset;  ///< per graph input: element in the state of its type, or no_id
  Table<std::uint8_t> is_read;        ///< per graph input: 1 for a constant that steps or copies read
  StatePools state;
  std::uint32_t arena_bytes = 0;
  std::uint32_t constant_bytes = 0;  ///< bytes of these constants
};

}  // namespace davit
