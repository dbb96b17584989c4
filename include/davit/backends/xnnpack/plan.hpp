// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/xnnpack/order.hpp"
#include "davit/backends/xnnpack/step.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/graph.hpp"

namespace davit::xnnpack_parts {

enum class Place : std::uint8_t { arena, input, output, constant };

/// A block of memory that steps write or read.
struct Buffer {
  Place place = Place::arena;
  std::uint32_t number = 0;  ///< which input, output or constant
  std::uint32_t first = 0;   ///< the step that writes it first
  std::uint32_t last = 0;    ///< the last step that reads or writes it; no_id: it is kept
  bool read = false;         ///< a step reads it
  std::uint32_t slot = 0;    ///< the slot that covers all of it
};

/// A tensor in a buffer: dense in `order`, or every row of its innermost dimension `pitch` elements after the last one.
struct Slot {
  std::uint32_t buffer = 0;
  Range dims;  ///< logical sizes, rows of Plan::dims
  Order order;
  ScalarType dtype = ScalarType::float32;
  std::int64_t pitch = 0;   ///< 0: dense
  std::int64_t offset = 0;  ///< elements into the buffer
};

/// What a method's execute does, in order; immutable, shared by its sessions.
struct Plan {
  std::vector<Dim> dims;
  std::vector<Slot> slots;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Weights> weights;
  std::vector<Tensor> constants;            ///< dense, with room to read past their end
  std::vector<ValueId> input_values;        ///< per delegate input; no_id for none
  std::vector<std::uint32_t> output_slots;  ///< per graph output; no_id for one that is no tensor of the plan

  [[nodiscard]] std::span<const Dim> sizes(std::uint32_t slot) const noexcept {
    return std::span(dims).subspan(slots[slot].dims.first, slots[slot].dims.count);
  }
};

}  // namespace davit::xnnpack_parts
