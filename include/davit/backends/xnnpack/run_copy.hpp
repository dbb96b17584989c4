// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/copy_kernel.hpp"
#include "davit/backends/xnnpack/extent.hpp"
#include "davit/backends/xnnpack/operand.hpp"

namespace davit::xnnpack_parts {

inline void run_copy(const Plan& plan, const Workspace& ws, const Step& step) {
  const Slot& from = plan.slots[step.in[0]];
  const Extent x = extent_of(plan, ws, step.in[0]);
  const Extent out = extent_of(plan, ws, step.out);
  std::array<std::int64_t, max_dims> from_strides = strides_of(plan, ws, step.in[0]);
  if (const Buffer& b = plan.buffers[from.buffer]; b.place == Place::input && ws.input_strides.size() > b.number)
    for (std::size_t d = 0; d < x.rank; ++d) from_strides[d] = ws.input_strides[b.number][d];
  std::array<std::int64_t, max_dims> to_strides = strides_of(plan, ws, step.out);
  Walk w{.size = {}, .from = {}, .to = {}, .rank = step.into ? x.rank : out.rank};
  std::int64_t from_at = 0;
  std::int64_t to_at = 0;
  const std::size_t shift = out.rank - x.rank;  // an operand with fewer dimensions is repeated along the others
  for (std::size_t d = 0; d < w.rank; ++d) {
    w.to[d] = to_strides[d];
    w.size[d] = step.into ? x.sizes[d] : out.sizes[d];
    if (step.into) {
      w.from[d] = from_strides[d];
      continue;
    }
    if (d < shift) continue;
    const bool axis = d - shift == step.axis;
    w.from[d] = x.sizes[d - shift] == 1 ? 0 : from_strides[d - shift] * (axis ? step.step : 1);
    if (axis) from_at += from_strides[d - shift] * step.start;
  }
  if (step.into) to_at = to_strides[step.axis] * step.start;
  const std::size_t element = size_of(from.dtype);
  copy_elements(address(plan, ws, step.in[0]) + from_at * static_cast<std::int64_t>(element),
                address(plan, ws, step.out) + to_at * static_cast<std::int64_t>(element), element, w);
}
inline void run_pad(const Plan& plan, const Workspace& ws, const Step& step) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const Extent out = extent_of(plan, ws, step.out);
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  std::fill_n(to, out.count, step.alpha);
  Walk w{.size = {}, .from = strides_of(plan, ws, step.in[0]), .to = strides_of(plan, ws, step.out), .rank = x.rank};
  for (std::size_t d = 0; d < x.rank; ++d) {
    w.size[d] = x.sizes[d];
    to += w.to[d] * step.pads[2 * d];
  }
  copy_elements(address(plan, ws, step.in[0]), reinterpret_cast<std::byte*>(to), sizeof(float), w);
}

}  // namespace davit::xnnpack_parts
