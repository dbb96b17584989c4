// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "davit/backends/xnnpack/constants.hpp"
#include "davit/backends/xnnpack/plan.hpp"

namespace davit::xnnpack_parts {

/// Adds rows to the tables of a plan, and keeps count of when buffers are written and read.
class PlanBuilder {
 public:
  Plan plan;

  /// A slot of a buffer of its own that belongs to no value.
  [[nodiscard]] std::uint32_t temporary(std::span<const Dim> sizes, const DimOrder& order,
                                        ScalarType dtype = ScalarType::float32) {
    plan.slots.push_back(fresh(sizes, order, dtype));
    return static_cast<std::uint32_t>(plan.slots.size() - 1);
  }
  /// A slot with one number.
  [[nodiscard]] std::uint32_t number(float value) {
    Tensor t = padded_zeros(ScalarType::float32, std::array<std::int64_t, 1>{1});
    t.view().as<float>()[0] = value;
    return constant_slot(std::move(t), {}, DimOrder{});
  }
  /// A slot with a dense constant that has room behind its end.
  [[nodiscard]] std::uint32_t constant_slot(Tensor dense, std::span<const Dim> sizes, const DimOrder& order) {
    Slot s = fresh(sizes, order, dense.dtype);
    plan.buffers.back().place = Place::constant;
    plan.buffers.back().number = static_cast<std::uint32_t>(plan.constants.size());
    plan.constants.push_back(std::move(dense));
    plan.slots.push_back(s);
    return static_cast<std::uint32_t>(plan.slots.size() - 1);
  }
  [[nodiscard]] std::uint32_t add_weights(Weights weights) {
    plan.weights.push_back(std::move(weights));
    return static_cast<std::uint32_t>(plan.weights.size() - 1);
  }
  void add(Step step, NodeId node) {
    step.node = node;
    const auto now = static_cast<std::uint32_t>(plan.steps.size());
    for (const std::uint32_t s : step.in)
      if (s != no_id) {
        buffer_of(s).last = now;
        buffer_of(s).read = true;
      }
    Buffer& out = buffer_of(step.out);
    if (out.first == no_id) out.first = now;
    out.last = std::max(out.last, now);
    plan.steps.push_back(step);
  }
  [[nodiscard]] Buffer& buffer_of(std::uint32_t slot) noexcept { return plan.buffers[plan.slots[slot].buffer]; }
  [[nodiscard]] bool is_input(std::uint32_t slot) noexcept { return buffer_of(slot).place == Place::input; }

 protected:
  [[nodiscard]] Range add_dims(std::span<const Dim> sizes) {
    const Range r{static_cast<std::uint32_t>(plan.dims.size()), static_cast<std::uint32_t>(sizes.size())};
    plan.dims.insert(plan.dims.end(), sizes.begin(), sizes.end());
    return r;
  }
  [[nodiscard]] Slot fresh(std::span<const Dim> sizes, const DimOrder& order, ScalarType dtype) {
    Slot s{.buffer = static_cast<std::uint32_t>(plan.buffers.size()),
           .dims = add_dims(sizes),
           .order = order,
           .dtype = dtype};
    plan.buffers.push_back({.first = no_id, .slot = static_cast<std::uint32_t>(plan.slots.size())});
    return s;
  }
};

}  // namespace davit::xnnpack_parts
