// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/kit/finite_guard.hpp"
#include "davit/backends/portable/run_time/kernel_step.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/xnnpack/constants.hpp"
#include "davit/backends/xnnpack/plan.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/uses.hpp"

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

/// A value during planning: a constant, or slots with its elements in different orders.
struct ValueState {
  bool constant = false;
  bool packed = false;       ///< constant: the int8 tensor below, not dequantized yet
  bool dequantized = false;  ///< slots hold int8, which `quantization` maps to the value
  Tensor tensor;             ///< constant
  QuantizedTensor weights;   ///< constant and packed
  Quantization quantization;
  std::vector<std::uint32_t> slots;
};

/// The place of a value that is part of a concatenation along the innermost dimension.
struct ConcatPart {
  ValueId whole = no_id;
  std::int64_t offset = 0;
};

/// Makes the steps of a plan node by node, through the rules of the op table.
class Planner : public PlanBuilder {
 public:
  /// Without `int8_kernels` XNNPACK's operators compute int8 values in float: only moves and maxima stay int8.
  Planner(const ProgramBody& body, bool int8_kernels)
      : g_(body.graph.view()), body_(body), calls_{g_, Uses(g_)}, int8_kernels_(int8_kernels) {
    states_.resize(g_.values.size());
    concat_part_.resize(g_.values.size());
    done_.assign(g_.nodes.size(), 0);
    take_inputs();
  }

  [[nodiscard]] GraphModuleView graph() const noexcept { return g_; }
  [[nodiscard]] const operators::ProgramCalls& calls() const noexcept { return calls_; }
  [[nodiscard]] std::span<const Dim> dims(ValueId v) const noexcept { return g_.dims_of(g_.values[v].sizes); }
  [[nodiscard]] std::size_t rank(ValueId v) const noexcept { return g_.values[v].sizes.count; }
  [[nodiscard]] ValueState& state(ValueId v) noexcept { return states_[v]; }
  [[nodiscard]] ConcatPart& concat_part(ValueId v) noexcept { return concat_part_[v]; }
  [[nodiscard]] bool is_done(NodeId n) const noexcept { return done_[n] != 0; }
  /// Records a node whose arguments or result do not fit its kernel.
  void refuse(NodeId n) noexcept { refused_ = n; }
  [[nodiscard]] NodeId refused() const noexcept { return refused_; }  ///< no_id: none
  /// Returns a table of values by id: the index in the list. Entries of other values are undefined; valid until the
  /// next call.
  [[nodiscard]] std::span<const std::uint32_t> numbered(std::span<const ValueId> list) {
    numbers_.resize(g_.values.size());
    for (std::uint32_t i = 0; i < list.size(); ++i) numbers_[list[i]] = i;
    return numbers_;
  }
  /// Marks a node as computed by another node's steps.
  void absorb(NodeId n) noexcept { done_[n] = 1; }

  /// The only node that uses the value; no_id if there are more uses or the graph returns it.
  [[nodiscard]] NodeId only_user(ValueId v) const noexcept { return calls_.uses.only_user(v); }
  /// Sets the values to check.
  void check_values(std::vector<ValueCheck> checks) {
    checks_ = std::move(checks);
    plan.exact = true;
    plan.always_falls_back = constants_are_lost(body_, checks_);
    for (const ValueId v : plan.input_values)
      plan.checked_inputs.push_back(v != no_id && checks_[v] != ValueCheck::none ? 1 : 0);
  }
  [[nodiscard]] bool is_checked(ValueId v) const noexcept { return !checks_.empty() && checks_[v] != ValueCheck::none; }
  /// Checks the results of a node after its steps; constant results, such as views of constants, are checked now.
  void check_results(NodeId n) {
    for (const Argument& a : g_.outputs(g_.nodes[n]))
      g_.for_each_value(a, [&](ValueId v) {
        if (!is_checked(v)) return;
        if (const Tensor* made = constant(v)) plan.always_falls_back = plan.always_falls_back || !passes_guard(*made);
        if (states_[v].constant || states_[v].slots.empty()) return;
        const std::uint32_t s = need_dense(v);
        add({.op = Op::check_values, .in = s, .out = s}, n);
      });
  }
  [[nodiscard]] bool int8_kernels() const noexcept { return int8_kernels_; }
  /// False if a constant contradicts the graph.
  [[nodiscard]] bool constants_fit() const noexcept { return fits_; }
  [[nodiscard]] bool used(ValueId v) const noexcept { return calls_.uses.any(v); }

  /// The value as a constant float tensor; nullptr if it is not constant.
  [[nodiscard]] const Tensor* constant(ValueId v) {
    if (v == no_id || !states_[v].constant) return nullptr;
    ValueState& k = states_[v];
    if (k.packed) {
      k.tensor = dequantize(k.weights);
      k.packed = false;
    }
    return &k.tensor;
  }

  /// Any slot that holds the value: int8 for a dequantized value, possibly with a pitch, possibly the caller's memory.
  [[nodiscard]] std::uint32_t raw(ValueId v) {
    if (states_[v].slots.empty()) add_constant(v);
    return states_[v].slots.front();
  }
  /// A slot in the plan's memory that holds the value in float, possibly with a pitch.
  [[nodiscard]] std::uint32_t need(ValueId v) {
    if (states_[v].dequantized) unpack(v);
    const std::uint32_t first = raw(v);
    return is_input(first) ? need_raw(v, plan.slots[first].order, true) : first;
  }
  /// As need, but dense.
  [[nodiscard]] std::uint32_t need_dense(ValueId v) {
    const std::uint32_t first = need(v);
    return plan.slots[first].pitch == 0 ? first : need(v, plan.slots[first].order);
  }
  /// As need, in that order of dimensions; `pitched` allows a pitch.
  [[nodiscard]] std::uint32_t need(ValueId v, const DimOrder& order, bool pitched = false) {
    if (states_[v].dequantized) unpack(v);
    return need_raw(v, order, pitched);
  }
  /// As need, but int8 for a dequantized value.
  [[nodiscard]] std::uint32_t need_raw(ValueId v, const DimOrder& order, bool pitched = false) {
    (void)raw(v);
    for (const std::uint32_t s : states_[v].slots) {
      const Slot& slot = plan.slots[s];
      if (!is_input(s) && slot.pitch == 0 && same_order(dims(v), slot.order, order))
        return slot.order == order ? s : renamed(v, s, order);
      if (pitched && slot.pitch != 0 && slot.order == order) return s;  // the pitch is of the innermost dimension
    }
    return copy_to(v, order);
  }

  /// Makes a slot of that order for a value that the next step writes. With `pitched` it may be a slice of a
  /// concatenation.
  [[nodiscard]] std::uint32_t define(ValueId v, const DimOrder& order, bool pitched = false) {
    const ConcatPart& slice = concat_part_[v];
    if (pitched && slice.whole != no_id && order == DimOrder::channels_last(rank(v))) {
      const std::uint32_t whole = whole_of(slice.whole);
      Slot part = plan.slots[whole];
      part.dims = add_dims(dims(v));
      part.pitch = dims(slice.whole)[1].value;
      part.offset = slice.offset;
      return put(v, part);
    }
    return put(v, fresh(dims(v), order, g_.values[v].dtype));
  }
  /// The slot of the concatenation `v` as a whole.
  [[nodiscard]] std::uint32_t whole_of(ValueId v) {
    if (states_[v].slots.empty()) put(v, fresh(dims(v), DimOrder::channels_last(rank(v)), g_.values[v].dtype));
    return states_[v].slots.front();
  }
  /// Makes `v` the value of `slot`, in other dimensions.
  void alias(ValueId v, std::uint32_t slot, const DimOrder& order) {
    Slot s = plan.slots[slot];
    s.dims = add_dims(dims(v));
    s.order = order;
    put(v, s);
  }
  /// Writes the graph's outputs in row-major order, each in its own buffer.
  void finish() {
    const std::span<const Argument> outputs = g_.args(g_.root().outputs);
    for (std::uint32_t i = 0; i < outputs.size(); ++i) {
      const bool tensor = outputs[i].is_value() && g_.values[outputs[i].value()].kind == ValueKind::tensor;
      plan.output_slots.push_back(tensor ? output(outputs[i].value(), i) : no_id);
    }
  }

 private:
  void take_inputs() {
    const std::span<const Argument> inputs = g_.args(g_.root().inputs);
    std::size_t next = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const ValueId v = inputs[i].is_value() ? inputs[i].value() : no_id;
      if (body_.roles[i] == InputRole::constant) {
        const Tensor& tensor = body_.constants[next++];
        if (v == no_id) continue;
        states_[v].constant = true;
        states_[v].tensor = tensor;
        fits_ = fits_ && g_.values[v].dtype == tensor.dtype && tensor.sizes.size() == rank(v);
        for (std::size_t d = 0; fits_ && d < rank(v); ++d)
          fits_ = dims(v)[d].is_static() && dims(v)[d].value == tensor.sizes[d];
      } else if (body_.roles[i] == InputRole::user || body_.roles[i] == InputRole::state) {
        const auto number = static_cast<std::uint32_t>(plan.input_values.size());
        plan.input_values.push_back(v);
        if (v == no_id || g_.values[v].kind != ValueKind::tensor || rank(v) > max_dims) continue;
        put(v, fresh(dims(v), DimOrder::row_major(rank(v)), g_.values[v].dtype));
        plan.buffers.back().place = Place::input;
        plan.buffers.back().number = number;
      }
    }
  }
  std::uint32_t put(ValueId v, const Slot& slot) {
    plan.slots.push_back(slot);
    states_[v].slots.push_back(static_cast<std::uint32_t>(plan.slots.size() - 1));
    return states_[v].slots.back();
  }
  /// The same memory with the dimensions of size 1 in other places.
  [[nodiscard]] std::uint32_t renamed(ValueId v, std::uint32_t slot, const DimOrder& order) {
    Slot s = plan.slots[slot];
    s.order = order;
    return put(v, s);
  }
  [[nodiscard]] std::uint32_t copy_to(ValueId v, const DimOrder& order) {
    if (const Tensor* tensor = constant(v); tensor != nullptr && tensor->sizes.size() == order.rank) {
      std::array<std::int64_t, max_dims> axes{};
      for (std::size_t p = 0; p < order.rank; ++p) axes[p] = order.dim[p];
      const std::uint32_t s =
          constant_slot(padded_copy(permuted(*tensor, std::span(axes).first(order.rank))), dims(v), order);
      states_[v].slots.push_back(s);
      return s;
    }
    const std::uint32_t from = states_[v].slots.front();
    const std::uint32_t to = put(v, fresh(dims(v), order, plan.slots[from].dtype));
    add({.op = Op::copy, .in = from, .out = to}, g_.values[v].producer);
    return to;
  }
  void add_constant(ValueId v) {
    const Tensor* tensor = constant(v);
    const Tensor empty = Tensor::zeros(g_.values[v].dtype, std::array<std::int64_t, 1>{0});
    const std::uint32_t s =
        constant_slot(padded_copy(tensor == nullptr ? empty : *tensor), dims(v), DimOrder::row_major(rank(v)));
    states_[v].slots.push_back(s);
  }
  /// Converts a dequantized value to floats.
  void unpack(ValueId v) {
    const std::uint32_t first = states_[v].slots.front();
    const std::uint32_t from = need_raw(v, plan.slots[first].order);
    const std::uint32_t to = temporary(dims(v), plan.slots[from].order);
    add_dequantize(from, to, states_[v].quantization, g_.values[v].producer);
    states_[v].dequantized = false;
    states_[v].slots.assign(1, to);
  }
  /// Converts bytes to float32, elementwise.
  void add_dequantize(std::uint32_t from, std::uint32_t to, const Quantization& q, NodeId node) {
    const portable_kernels::OpRow* const op =
        portable_kernels::find_op("quantized_decomposed.dequantize_per_tensor.default");
    const std::array numbers{EValue(double{q.scale}),
                             EValue(std::int64_t{q.zero_point}),
                             EValue(std::int64_t{-128}),
                             EValue(std::int64_t{127}),
                             EValue(static_cast<std::int64_t>(ScalarType::int8)),
                             EValue()};
    const std::array bytes{portable_kernels::KernelTensor{{}, ScalarType::int8}};
    add_kernel({.step = own_kernel_step(op->kernel, bytes, numbers, {}), .slots = {from, to}, .elementwise = true},
               node);
  }
  [[nodiscard]] std::uint32_t output(ValueId v, std::uint32_t i) {
    const std::uint32_t s = need(v, DimOrder::row_major(rank(v)));
    Buffer& b = buffer_of(s);
    const Slot whole = plan.slots[b.slot];
    if (b.place == Place::arena && !b.read && whole.pitch == 0 && plan.slots[s].pitch == 0) {
      b.place = Place::output;
      b.number = i;
      b.last = no_id;
      return s;
    }
    const std::uint32_t to = temporary(dims(v), DimOrder::row_major(rank(v)), plan.slots[s].dtype);
    buffer_of(to).place = Place::output;
    buffer_of(to).number = i;
    add({.op = Op::copy, .in = s, .out = to}, g_.values[v].producer);
    buffer_of(to).last = no_id;
    return to;
  }

  GraphModuleView g_;
  const ProgramBody& body_;
  std::vector<ValueState> states_;
  std::vector<ConcatPart> concat_part_;
  std::vector<std::uint8_t> done_;
  operators::ProgramCalls calls_;
  std::vector<ValueCheck> checks_;      ///< per value; empty: no checks
  std::vector<std::uint32_t> numbers_;  ///< the table of numbered()
  NodeId refused_ = no_id;
  bool int8_kernels_;
  bool fits_ = true;
};

}  // namespace davit::xnnpack_parts
