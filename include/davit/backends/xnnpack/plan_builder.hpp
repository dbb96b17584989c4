// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "davit/backends/xnnpack/constants.hpp"
#include "davit/backends/xnnpack/plan.hpp"

namespace davit::xnnpack_parts {

/// Adds rows to the tables of a plan, and tracks the first and last use of buffers.
class PlanBuilder {
 public:
  Plan plan;

  /// Makes a slot in a new buffer, without a value.
  [[nodiscard]] std::uint32_t temporary(std::span<const Dim> sizes, const DimOrder& order,
                                        ScalarType dtype = ScalarType::float32) {
    plan.slots.push_back(fresh(sizes, order, dtype));
    return static_cast<std::uint32_t>(plan.slots.size() - 1);
  }
  /// Makes a slot with a dense constant that has slack behind its end.
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
    if (step.in != no_id) read(step.in);
    write(step.out);
    plan.steps.push_back(step);
  }
  void add_kernel(KernelRow row, NodeId node) {
    const std::size_t operands = row.slots.size() - row.step.results;
    for (const std::uint32_t s : std::span(row.slots).first(operands)) read(s);
    for (const std::uint32_t s : std::span(row.slots).subspan(operands)) write(s);
    plan.steps.push_back({.op = Op::kernel,
                          .out = row.slots[operands],
                          .weights = static_cast<std::uint32_t>(plan.kernels.size()),
                          .node = node});
    plan.kernels.push_back(std::move(row));
  }
  [[nodiscard]] Buffer& buffer_of(std::uint32_t slot) noexcept { return plan.buffers[plan.slots[slot].buffer]; }
  [[nodiscard]] bool is_input(std::uint32_t slot) noexcept { return buffer_of(slot).place == Place::input; }

 protected:
  /// Marks a slot as used by the next step.
  void read(std::uint32_t slot) {
    buffer_of(slot).last = static_cast<std::uint32_t>(plan.steps.size());
    buffer_of(slot).read = true;
  }
  void write(std::uint32_t slot) {
    const auto now = static_cast<std::uint32_t>(plan.steps.size());
    Buffer& out = buffer_of(slot);
    if (out.first == no_id) out.first = now;
    out.last = std::max(out.last, now);
  }
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
