// SPDX-License-Identifier: MIT
#pragma once

#include <pthreadpool.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/combine_kernel.hpp"
#include "davit/backends/xnnpack/extent.hpp"
#include "davit/backends/xnnpack/operand.hpp"
#include "davit/backends/xnnpack/threads.hpp"

namespace davit::xnnpack_parts {

inline void run_combine(const Plan& plan, const Workspace& ws, const Step& step, pthreadpool_t pool) {
  const Extent out = extent_of(plan, ws, step.out);
  const std::array<std::int64_t, max_dims> strides = strides_of(plan, ws, step.out);
  std::array<Walk, 2> walk{};  // to: the result's strides; from: the operand's, 0 where it repeats
  const float* at[2]{};
  for (std::size_t i = 0; i < 2; ++i) {
    const Extent e = extent_of(plan, ws, step.in[i]);
    const std::array<std::int64_t, max_dims> own = strides_of(plan, ws, step.in[i]);
    const std::size_t shift = step.axis != 0 && e.rank == 1 ? step.axis : out.rank - e.rank;
    walk[i].rank = out.rank;
    for (std::size_t d = 0; d < out.rank; ++d) {
      walk[i].size[d] = out.sizes[d];
      walk[i].to[d] = strides[d];
      const bool has = d >= shift && d < shift + e.rank;
      walk[i].from[d] = has && e.sizes[d - shift] != 1 ? own[d - shift] : 0;
    }
    at[i] = reinterpret_cast<const float*>(address(plan, ws, step.in[i]));
  }
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  const bool alike = plan.slots[step.in[0]].order == plan.slots[step.out].order &&
                     plan.slots[step.in[1]].order == plan.slots[step.out].order &&
                     std::ranges::equal(extent_of(plan, ws, step.in[0]).sizes, out.sizes) &&
                     std::ranges::equal(extent_of(plan, ws, step.in[1]).sizes, out.sizes);
  if (!alike) return combine_elements(step.op, at[0], at[1], to, walk[0], walk[1]);
  for_stretches(pool, static_cast<std::size_t>(out.count), 4096, [&](std::size_t first, std::size_t count) {
    combine_row(step.op, at[0] + first, true, at[1] + first, true, to + first, static_cast<std::int64_t>(count));
  });
}

}  // namespace davit::xnnpack_parts
