// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "davit/backends/xnnpack/plan.hpp"
#include "davit/backends/xnnpack/workspace.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/evalue.hpp"

namespace davit::xnnpack_parts {

/// Sets the address of every buffer for this run.
inline void set_addresses(const Plan& plan, Workspace& ws, std::span<const EValue> inputs,
                          std::span<const EValue> outputs, std::byte* scratch) noexcept {
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    if (ws.scratched[b] != 0) {
      ws.base[b] = scratch + ws.offsets[b];
    } else if (buffer.place == Place::output) {
      ws.base[b] =
          outputs[buffer.number].is_tensor() ? static_cast<std::byte*>(outputs[buffer.number].tensor().data) : nullptr;
    } else if (buffer.place == Place::input && inputs[buffer.number].is_tensor()) {
      const TensorView& t = inputs[buffer.number].tensor();
      ws.base[b] = static_cast<std::byte*>(t.data);
      for (std::size_t d = 0; d < t.rank && d < max_dims; ++d) ws.input_strides[buffer.number][d] = t.stride(d);
    }
  }
}

/// Returns the results to the caller, after the last step.
inline void return_outputs(GraphModuleView graph, const Plan& plan, Workspace& ws, std::span<EValue> outputs) noexcept {
  const std::span<const Argument> results = graph.args(graph.root().outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Argument& a = results[i];
    const std::uint32_t s = plan.output_slots[i];
    if (s != no_id) {
      if (ws.given[i] != 0) continue;
      const Slot& slot = plan.slots[s];
      const TensorView made{ws.base[slot.buffer], ws.sizes.data() + slot.dims.first,
                            ws.strides.data() + slot.dims.first, static_cast<std::uint8_t>(slot.dims.count),
                            slot.dtype};
      if (!outputs[i].is_tensor() || !copy_if_same(made, outputs[i].tensor())) outputs[i] = EValue(made);
    } else if (a.kind == ArgumentKind::value) {
      const Value& v = graph.values[a.value()];
      const std::optional<std::int64_t> number = v.expr == no_id ? std::optional(v.constant) : ws.symbols.value(v.expr);
      outputs[i] = number ? EValue(*number) : EValue();
    } else if (a.kind == ArgumentKind::int_) {
      outputs[i] = EValue(a.payload);
    } else if (a.kind == ArgumentKind::float_) {
      outputs[i] = EValue(a.float_value());
    } else if (a.kind == ArgumentKind::bool_) {
      outputs[i] = EValue(a.payload != 0);
    } else if (a.kind == ArgumentKind::string) {
      outputs[i] = EValue(graph.string(a));
    } else {
      outputs[i] = EValue();
    }
  }
}

}  // namespace davit::xnnpack_parts
