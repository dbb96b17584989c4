// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/xnnpack/workspace.hpp"
#include "davit/core/walk.hpp"
#include "davit/kernels/move.hpp"

namespace davit::xnnpack_parts {

/// Copies elements of that many bytes, in the target's order; strides are in elements.
inline void move_along(const std::byte* from, const std::array<std::int64_t, max_dims>& from_strides, std::byte* to,
                       const std::array<std::int64_t, max_dims>& to_strides, std::size_t element,
                       const Extent& sizes) noexcept {
  Walk walk(std::span(sizes.sizes).first(sizes.rank));
  walk.add(std::span(from_strides).first(sizes.rank), element)
      .add(std::span(to_strides).first(sizes.rank), element)
      .sort_by(1);
  walk.collapse();
  kernels::move_in_parallel(element, walk, from, to);
}
inline void run_copy(const Plan& plan, const Workspace& ws, const Step& step) {
  const Slot& from = plan.slots[step.in];
  const Extent x = extent_of(plan, ws, step.in);
  const Extent out = extent_of(plan, ws, step.out);
  std::array<std::int64_t, max_dims> from_strides = strides_of(plan, ws, step.in);
  if (const Buffer& b = plan.buffers[from.buffer]; b.place == Place::input && ws.input_strides.size() > b.number)
    for (std::size_t d = 0; d < x.rank; ++d) from_strides[d] = ws.input_strides[b.number][d];
  std::array<std::int64_t, max_dims> to_strides = strides_of(plan, ws, step.out);
  const Extent& walked = step.into ? x : out;
  std::array<std::int64_t, max_dims> walked_strides{};
  std::int64_t from_at = 0;
  std::int64_t to_at = 0;
  const std::size_t shift = out.rank - x.rank;  // missing leading dimensions are broadcast
  for (std::size_t d = 0; d < walked.rank; ++d) {
    if (step.into) {
      walked_strides[d] = from_strides[d];
      continue;
    }
    if (d < shift) continue;
    const bool axis = d - shift == step.axis;
    walked_strides[d] = x.sizes[d - shift] == 1 ? 0 : from_strides[d - shift] * (axis ? step.step : 1);
    if (axis) from_at += from_strides[d - shift] * step.start;
  }
  if (step.into) to_at = to_strides[step.axis] * step.start;
  const std::size_t element = size_of(from.dtype);
  move_along(address(plan, ws, step.in) + from_at * static_cast<std::int64_t>(element), walked_strides,
             address(plan, ws, step.out) + to_at * static_cast<std::int64_t>(element), to_strides, element, walked);
}

}  // namespace davit::xnnpack_parts
