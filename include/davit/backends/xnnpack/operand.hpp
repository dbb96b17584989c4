// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/plan.hpp"
#include "davit/backends/xnnpack/workspace.hpp"

namespace davit::xnnpack_parts {

/// Where a slot's first element lies; nullptr for none.
[[nodiscard]] inline std::byte* address(const Plan& plan, const Workspace& ws, std::uint32_t slot) noexcept {
  if (slot == no_id) return nullptr;
  const Slot& s = plan.slots[slot];
  std::byte* base = ws.base[s.buffer];
  return base == nullptr ? nullptr : base + static_cast<std::size_t>(s.offset) * size_of(s.dtype);
}
/// The size of the innermost dimension, which is known.
[[nodiscard]] constexpr std::size_t channels(const Plan& plan, std::uint32_t slot) noexcept {
  const Slot& s = plan.slots[slot];
  if (s.order.rank == 0) return 1;
  const Dim& d = plan.sizes(slot)[s.order.dim[s.order.rank - 1]];
  return static_cast<std::size_t>(std::max<std::int64_t>(d.value, 1));
}
/// Elements from one row of the innermost dimension to the next.
[[nodiscard]] constexpr std::size_t pitch(const Plan& plan, std::uint32_t slot) noexcept {
  return plan.slots[slot].pitch != 0 ? static_cast<std::size_t>(plan.slots[slot].pitch) : channels(plan, slot);
}
/// True if a step's operand and result have no gaps: one row for all.
[[nodiscard]] constexpr bool is_flat(const Plan& plan, const Step& step) noexcept {
  return plan.slots[step.in[0]].pitch == 0 && plan.slots[step.out].pitch == 0;
}

}  // namespace davit::xnnpack_parts
