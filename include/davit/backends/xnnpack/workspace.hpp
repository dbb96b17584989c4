// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/kit/non_finite_fallback.hpp"
#include "davit/backends/xnnpack/plan.hpp"
#include "davit/backends/xnnpack/sizes.hpp"

namespace davit::xnnpack_parts {

/// The sizes and addresses of every slot for one set of inputs.
struct Workspace {
  std::vector<std::int64_t> sizes;      ///< of every row of Plan::dims
  std::vector<std::size_t> offsets;     ///< of every buffer in scratch
  std::vector<std::byte*> base;         ///< of every buffer
  std::vector<std::uint8_t> scratched;  ///< per buffer: 1 if it is in scratch
  std::vector<std::uint8_t> given;      ///< per graph output: 1 if it has a destination
  std::vector<std::int64_t> strides;    ///< of graph outputs, like sizes
  std::vector<std::int64_t> numbers;    ///< values of graph outputs that are symbolic numbers
  std::vector<std::array<std::int64_t, max_dims>> input_strides;
  SymbolSizes symbols;
  ExactRun
      exact;  ///< runs the partition where XNNPACK loses NaN or infinities, or if sizes do not follow from the inputs
  bool is_planned = true;        ///< all sizes follow from the inputs, and no tensor is empty
  std::uint64_t generation = 0;  ///< unique among the prepares of all sessions
};

/// The address of a slot's first element; nullptr for no slot.
[[nodiscard]] inline std::byte* address(const Plan& plan, const Workspace& ws, std::uint32_t slot) noexcept {
  if (slot == no_id) return nullptr;
  const Slot& s = plan.slots[slot];
  std::byte* base = ws.base[s.buffer];
  return base == nullptr ? nullptr : base + static_cast<std::size_t>(s.offset) * size_of(s.dtype);
}
/// The size of the innermost dimension, which is fixed.
[[nodiscard]] constexpr std::size_t channels(const Plan& plan, std::uint32_t slot) noexcept {
  const Slot& s = plan.slots[slot];
  if (s.order.rank == 0) return 1;
  const Dim& d = plan.sizes(slot)[s.order.dim[s.order.rank - 1]];
  return static_cast<std::size_t>(std::max<std::int64_t>(d.value, 1));
}
/// The stride between rows of the innermost dimension, in elements.
[[nodiscard]] constexpr std::size_t pitch(const Plan& plan, std::uint32_t slot) noexcept {
  return plan.slots[slot].pitch != 0 ? static_cast<std::size_t>(plan.slots[slot].pitch) : channels(plan, slot);
}
/// True if a step's operand and result have no gaps, so that they can be one row.
[[nodiscard]] constexpr bool is_flat(const Plan& plan, const Step& step) noexcept {
  return plan.slots[step.in].pitch == 0 && plan.slots[step.out].pitch == 0;
}

/// The sizes of a slot at run time.
struct Extent {
  std::span<const std::int64_t> sizes;            ///< logical
  std::array<std::int64_t, max_dims> physical{};  ///< from the outermost to the innermost
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
