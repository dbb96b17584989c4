// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/xnnpack/plan.hpp"
#include "davit/backends/xnnpack/workspace.hpp"

namespace davit::xnnpack_parts {

/// A slot's numbers at run time.
struct Extent {
  std::span<const std::int64_t> sizes;            ///< logical
  std::array<std::int64_t, max_dims> physical{};  ///< from the outermost
  std::size_t rank = 0;
  std::int64_t count = 1;
  [[nodiscard]] std::int64_t last() const noexcept { return rank == 0 ? 1 : physical[rank - 1]; }
  [[nodiscard]] std::int64_t rows() const noexcept { return last() == 0 ? 0 : count / last(); }
};
[[nodiscard]] inline Extent extent_of(const Plan& plan, const Workspace& ws, std::uint32_t slot) noexcept {
  const Slot& s = plan.slots[slot];
  Extent e{.sizes = std::span(ws.sizes).subspan(s.dims.first, s.dims.count),
           .physical = {},
           .rank = s.order.rank,
           .count = 1};
  for (std::size_t p = 0; p < e.rank; ++p) {
    e.physical[p] = e.sizes[s.order.dim[p]];
    e.count *= e.physical[p];
  }
  return e;
}
/// Element strides of a slot's logical dimensions.
[[nodiscard]] inline std::array<std::int64_t, max_dims> strides_of(const Plan& plan, const Workspace& ws,
                                                                   std::uint32_t slot) noexcept {
  const Slot& s = plan.slots[slot];
  const Extent e = extent_of(plan, ws, slot);
  std::array<std::int64_t, max_dims> out{};
  std::int64_t step = 1;
  for (std::size_t p = e.rank; p-- > 0;) {
    out[s.order.dim[p]] = step;
    step = p + 1 == e.rank && s.pitch != 0 ? s.pitch : step * e.physical[p];
  }
  return out;
}

}  // namespace davit::xnnpack_parts
