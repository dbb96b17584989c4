// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/memory_plan.hpp"
#include "davit/backend/program_body.hpp"
#include "davit/backends/xnnpack/constants.hpp"
#include "davit/backends/xnnpack/workspace.hpp"

namespace davit::xnnpack_parts {

/// Returns the reason why the sizes of a step's operands are inconsistent, or nullptr. Only inconsistent graphs fail
/// this check.
[[nodiscard]] inline const char* size_mismatch(const Plan& plan, const Workspace& ws, const Step& step) noexcept {
  const auto extent = [&](std::uint32_t s) { return extent_of(plan, ws, s); };
  if (step.op == Op::kernel) return nullptr;  // the kernel checks them itself
  const Extent out = extent(step.out);
  const Extent x = extent(step.in);
  const auto same = [](const Extent& a, const Extent& b) { return std::ranges::equal(a.sizes, b.sizes); };
  const auto window = [&](bool channels, bool transposed) {
    const auto& w = step.window;
    const std::size_t spatial = x.rank - 2;
    if (spatial > 2) return same(x, out) ? nullptr : "images that do not fit";  // a batch norm: one element per channel
    if (x.rank != out.rank || x.sizes[0] != out.sizes[0] || (channels && x.sizes[1] != out.sizes[1]))
      return "images that do not fit";
    for (std::size_t d = 0; d < spatial; ++d) {
      const std::size_t k = d + 2 - spatial;
      const std::int64_t before = w.padding[k == 0 ? 0 : 3];
      const std::int64_t after = w.padding[k == 0 ? 2 : 1];
      const std::int64_t reach = static_cast<std::int64_t>(w.kernel[k] - 1) * w.dilation[k] + 1;
      if (transposed) {
        const std::int64_t made = (x.sizes[2 + d] - 1) * w.stride[k] + reach + w.output_padding[k] - before - after;
        if (made < 1 || out.sizes[2 + d] != made) return "a window that does not fit its image";
        continue;
      }
      const std::int64_t room = x.sizes[2 + d] + before + after - reach;
      if (room < 0 || out.sizes[2 + d] != room / w.stride[k] + 1) return "a window that does not fit its image";
    }
    return static_cast<const char*>(nullptr);
  };
  switch (step.op) {
    case Op::convolution: return window(false, false);
    case Op::transposed_convolution: return window(false, true);
    case Op::quantized_convolution:
      if (x.rank > 2) return window(false, false);
      return x.sizes[0] != out.sizes[0] ? "matrices that do not fit" : nullptr;
    case Op::max_pool:
    case Op::max_pool_s8:
    case Op::average_pool: return window(true, false);
    case Op::fully_connected: return out.rows() != x.rows() ? "matrices that do not fit" : nullptr;
    case Op::copy: {
      const bool part = step.into;
      const Extent& small = part ? x : out;
      const Extent& large = part ? out : x;
      if (small.rank < large.rank) return "sizes that do not fit";
      const std::size_t shift = small.rank - large.rank;
      for (std::size_t d = 0; d < large.rank; ++d) {
        const std::int64_t n = small.sizes[d + shift];
        const bool axis = d == step.axis && (part || step.start != 0 || step.step != 1 || n < large.sizes[d]);
        if (axis ? n > 0 && step.start + (n - 1) * step.step >= large.sizes[d]
                 : n != large.sizes[d] && large.sizes[d] != 1)
          return "sizes that do not fit";
      }
      return nullptr;
    }
    default: return same(x, out) ? nullptr : "sizes that do not fit";
  }
}

namespace detail {

/// The reason why a run cannot be prepared.
struct Unfit {
  ErrorCode code = ErrorCode::invalid_shape;
  NodeId node = no_id;
  Name what;
};

/// Finds the values of symbolic sizes in the inputs.
inline void bind_symbols(GraphModuleView graph, const Plan& plan, std::span<const EValue> inputs,
                         SymbolSizes& symbols) {
  symbols = SymbolSizes(graph.exprs, graph.text);
  for (const bool first : {true, false}) {  // first plain symbols, then solvable expressions
    const auto bind = [&](ExprId expr, std::int64_t value) { symbols.bind(expr, value, first); };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (plan.input_values[i] == no_id) continue;
      const Value& v = graph.values[plan.input_values[i]];
      if (inputs[i].is_int() && v.expr != no_id) bind(v.expr, inputs[i].as_int());
      if (!inputs[i].is_tensor()) continue;
      for (std::uint32_t d = 0; d < v.sizes.count && d < inputs[i].tensor().rank; ++d)
        if (const Dim& dim = graph.dims_of(v.sizes)[d]; !dim.is_static()) bind(dim.expr, inputs[i].tensor().size(d));
    }
    symbols.settle();
  }
}

/// Computes the sizes of every slot. Unfit if they do not follow from the inputs, or if a tensor is empty, which
/// XNNPACK's operators refuse.
[[nodiscard]] inline std::optional<Unfit> find_sizes(const Plan& plan, Workspace& ws) {
  ws.is_planned = true;
  ws.sizes.assign(plan.dims.size(), 0);
  ws.strides.assign(plan.dims.size(), 0);
  for (std::size_t d = 0; d < plan.dims.size(); ++d) {
    const std::optional<std::int64_t> size = ws.symbols.value(plan.dims[d]);
    ws.is_planned = size.has_value();
    if (!ws.is_planned) return std::nullopt;
    if (*size < 0 || *size > INT32_MAX) return Unfit{.what = "a symbolic size is negative, or has more than 31 bits"};
    ws.sizes[d] = *size;
  }
  for (const Slot& slot : plan.slots) {
    std::int64_t count = 1;
    for (std::uint32_t d = 0; d < slot.dims.count; ++d)
      if (__builtin_mul_overflow(count, ws.sizes[slot.dims.first + d], &count) || count > (std::int64_t{1} << 40))
        return Unfit{.code = ErrorCode::out_of_memory, .what = "a tensor of the program is too large"};
    if (count == 0) ws.is_planned = false;
    contiguous_strides(std::span(ws.sizes).subspan(slot.dims.first, slot.dims.count),
                       std::span(ws.strides).subspan(slot.dims.first, slot.dims.count));
  }
  return std::nullopt;
}

[[nodiscard]] inline bool has_sizes(const Workspace& ws, const TensorView& tensor, Range dims) {
  return std::ranges::equal(tensor.sizes(), std::span(ws.sizes).subspan(dims.first, dims.count));
}

/// True if every slot lies within its buffer, and every constant has the graph's size.
[[nodiscard]] inline bool slots_fit(const Plan& plan, const Workspace& ws) {
  for (std::uint32_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    const Buffer& buffer = plan.buffers[slot.buffer];
    const Extent own = extent_of(plan, ws, s);
    const Extent whole = extent_of(plan, ws, buffer.slot);
    if (slot.dtype != plan.slots[buffer.slot].dtype) return false;
    if (slot.pitch == 0 ? own.count != whole.count
                        : slot.offset + own.last() > slot.pitch || own.rows() * slot.pitch != whole.count)
      return false;
    if (buffer.place == Place::constant && plan.constants[buffer.number].numel() != whole.count) return false;
  }
  return true;
}

/// Checks the inputs, and the operands of each step against each other.
[[nodiscard]] inline std::optional<Unfit> check_sizes(const Plan& plan, const Workspace& ws,
                                                      std::span<const EValue> inputs) {
  for (const Buffer& b : plan.buffers) {
    if (b.place != Place::input) continue;
    const Slot& slot = plan.slots[b.slot];
    const TensorView* const t = inputs[b.number].tensor_if();
    if (t == nullptr || t->dtype != slot.dtype || !has_sizes(ws, *t, slot.dims))
      return Unfit{.what = concat("input ", b.number, " has another dtype or other sizes")};
  }
  if (!slots_fit(plan, ws)) return Unfit{.what = "a view of another number of elements"};
  for (const Step& step : plan.steps)
    if (const char* reason = size_mismatch(plan, ws, step))
      return Unfit{.node = step.node, .what = std::string_view(reason)};
  return std::nullopt;
}

/// Finds the outputs that are written to a destination of the caller's.
inline void find_given(const Plan& plan, Workspace& ws, std::span<const EValue> outputs) {
  ws.given.assign(plan.output_slots.size(), 0);
  for (std::size_t i = 0; i < outputs.size() && i < ws.given.size(); ++i) {
    const TensorView* const t = outputs[i].tensor_if();
    if (t == nullptr || plan.output_slots[i] == no_id) continue;
    ws.given[i] = t->is_contiguous() && t->dtype == plan.slots[plan.output_slots[i]].dtype &&
                          has_sizes(ws, *t, plan.slots[plan.output_slots[i]].dims)
                      ? 1
                      : 0;
  }
}

/// Assigns buffers their places in scratch; returns its size in bytes.
[[nodiscard]] inline std::size_t place_buffers(const Plan& plan, Workspace& ws) {
  std::vector<Lifetime> lifetimes;
  std::vector<std::uint32_t> owners;
  ws.scratched.assign(plan.buffers.size(), 0);
  ws.base.assign(plan.buffers.size(), nullptr);
  ws.offsets.assign(plan.buffers.size(), 0);
  for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    if (buffer.place == Place::constant) ws.base[b] = plan.constants[buffer.number].storage.writable();
    if (buffer.place == Place::constant || buffer.place == Place::input || buffer.first == no_id) continue;
    if (buffer.place == Place::output && ws.given[buffer.number] != 0) continue;
    ws.scratched[b] = 1;
    const auto count = static_cast<std::size_t>(extent_of(plan, ws, buffer.slot).count);
    const auto end = static_cast<std::uint32_t>(plan.steps.size());
    lifetimes.push_back({buffer.first, buffer.place == Place::output ? end : buffer.last,
                         count * size_of(plan.slots[buffer.slot].dtype) + slack});
    owners.push_back(b);
  }
  const MemoryPlan memory = plan_memory_by_size(lifetimes);
  for (std::size_t i = 0; i < owners.size(); ++i) ws.offsets[owners[i]] = memory.offsets[i];
  return memory.arena_bytes;
}

}  // namespace detail

/// Prepares a workspace for runs with inputs of these sizes; returns their bytes of scratch. Errors: invalid_argument
/// for another number of inputs; invalid_shape; out_of_memory. O(dims + slots + steps).
[[nodiscard]] inline Result<std::size_t> prepare_run(const Plan& plan, const ProgramBody& body,
                                                     std::span<const EValue> inputs, std::span<const EValue> outputs,
                                                     Workspace& ws) {
  static std::atomic<std::uint64_t> generations{0};
  ws.generation = ++generations;
  std::optional<detail::Unfit> unfit;
  if (inputs.size() != plan.input_values.size())
    unfit = {.code = ErrorCode::invalid_argument, .what = "another number of inputs"};
  if (!unfit) {
    detail::bind_symbols(body.graph.view(), plan, inputs, ws.symbols);
    unfit = detail::find_sizes(plan, ws);
  }
  if (!unfit && !ws.is_planned) return 0;  // portable's kernels will run, and find their sizes themselves
  if (!unfit) unfit = detail::check_sizes(plan, ws, inputs);
  if (unfit)
    return std::unexpected(
        Error{.code = unfit->code,
              .stage = Stage::execute,
              .debug_handle = unfit->node < body.handles.size() ? body.handles[unfit->node] : no_debug_handle,
              .backend = "xnnpack",
              .what = std::move(unfit->what),
              .fix = "run with inputs of the sizes that the program declares"});
  detail::find_given(plan, ws, outputs);
  ws.input_strides.assign(inputs.size(), {});
  return detail::place_buffers(plan, ws);
}

}  // namespace davit::xnnpack_parts
