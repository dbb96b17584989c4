// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/dim_order.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/movement.hpp"

/// Operators that only rearrange elements: views, permutations, slices, repeats, concatenations; and sizes as numbers.
namespace davit::xnnpack_parts {

namespace detail {

inline void emit_view(Planner& p, const Call& call, const ViewOfSizes& view) {
  const ValueId x = view.input;
  const ValueId y = call.output();
  if (const Tensor* t = p.constant(x); t != nullptr && call.all_fixed(y)) {
    std::vector<std::int64_t> sizes;
    for (const Dim& d : p.dims(y)) sizes.push_back(d.value);
    p.state(y).constant = true;
    p.state(y).tensor = reshaped(*t, std::move(sizes));
    return;
  }
  inherit_quantization(p, x, y);
  const DimOrder plain = DimOrder::row_major(p.rank(x));
  const std::uint32_t any = p.raw(x);
  const bool movable = p.buffer_of(any).place != Place::input && p.plan.slots[any].pitch == 0;
  std::uint32_t from = movable ? any : p.need_raw(x, p.plan.slots[any].order);
  std::optional<DimOrder> order = order_of_view(p.dims(x), p.plan.slots[from].order, p.dims(y));
  if (!order) {
    from = p.need_raw(x, plain);
    order = DimOrder::row_major(p.rank(y));
  }
  p.alias(y, from, *order);
}
[[nodiscard]] constexpr const char* read_view(const Call& call, ViewOfSizes& view) {
  const ValueId x = view.input = call.value("self");
  if (const char* reason = refuses_data_movement(call, x)) return reason;
  const ValueId y = call.output();
  std::int64_t from = 1;
  std::int64_t to = 1;
  for (const Dim& d : call.dims(x))
    if (d.is_static() && __builtin_mul_overflow(from, d.value, &from)) return "too large";
  for (const Dim& d : call.dims(y))
    if (d.is_static() && __builtin_mul_overflow(to, d.value, &to)) return "too large";
  return call.all_fixed(x) && call.all_fixed(y) && from != to ? "another number of elements" : nullptr;
}

/// clone, alias and the like: they return the same elements.
[[nodiscard]] constexpr const char* read_same(const Call& call, ViewOfSizes& view) {
  view.input = call.value("self");
  if (const char* reason = refuses_data_movement(call, view.input)) return reason;
  return same_dims(call.dims(view.input), call.dims(call.output())) ? nullptr : "a change of sizes";
}

[[nodiscard]] constexpr const char* read_expand(const Call& call, ViewOfSizes& view) {
  view.input = call.value("self");
  if (const char* reason = refuses_data_movement(call, view.input)) return reason;
  const std::span<const Dim> from = call.dims(view.input);
  const std::span<const Dim> to = call.dims(call.output());
  if (from.size() > to.size()) return "another rank";
  for (std::size_t d = 0; d < from.size(); ++d) {
    const Dim& old = from[d];
    if (!same_dim(old, to[to.size() - from.size() + d]) && !(old.is_static() && old.value == 1))
      return "dimensions that may or may not broadcast";
  }
  return nullptr;
}
inline void emit_expand(Planner& p, const Call& call, const ViewOfSizes& view) {
  const ValueId x = view.input;
  const ValueId y = call.output();
  if (same_dims(p.dims(x), p.dims(y))) return emit_view(p, call, view);
  inherit_quantization(p, x, y);
  const std::uint32_t from = p.raw(x);
  const std::uint32_t to = p.temporary(p.dims(y), DimOrder::row_major(p.rank(y)), p.plan.slots[from].dtype);
  p.add({.op = Op::copy, .in = from, .out = to}, call.id());
  p.alias(y, to, DimOrder::row_major(p.rank(y)));
}

/// sym_size: a number that follows from the sizes of the inputs.
[[nodiscard]] constexpr const char* read_size(const Call& call, ViewOfSizes& view) {
  view.input = call.value("self");
  if (!call.is_tensor(view.input)) return "an operand is not a tensor";
  const ValueId out = call.output();
  if (out == no_id || call.graph().values[out].kind != ValueKind::sym_int) return "not a symbolic number";
  std::size_t axis = 0;
  if (const operators::Refusal wrong = operators::read_dim(call.arguments(), {"dim", 1}, call.rank(view.input), axis))
    return wrong.what;
  const Dim& dim = call.dims(view.input)[axis];
  const Value& value = call.graph().values[out];
  return dim.is_static() || (value.expr != no_id && value.expr == dim.expr)
             ? nullptr
             : "a size that is not the dimension's symbol";
}
inline void emit_nothing(Planner&, const Call&, const ViewOfSizes&) {}

[[nodiscard]] constexpr const char* read_permute(const Call& call, operators::PermutationView& view) {
  if (const operators::Refusal wrong = operators::read_permutation(call.arguments(), view)) return wrong.what;
  if (const char* reason = refuses_data_movement(call, view.input)) return reason;
  if (call.rank(call.output()) != view.rank) return "a result of another rank";
  for (std::size_t d = 0; d < view.rank; ++d)
    if (!same_dim(call.dims(view.input)[view.from[d]], call.dims(call.output())[d])) return "sizes that do not fit";
  return nullptr;
}
inline void emit_permute(Planner& p, const Call& call, const operators::PermutationView& view) {
  const ValueId x = view.input;
  const ValueId y = call.output();
  ValueState& state = p.state(y);
  if (p.state(x).constant) {
    const std::vector<std::int64_t> order(view.from.begin(),
                                          view.from.begin() + static_cast<std::ptrdiff_t>(view.rank));
    state.constant = true;
    state.packed = p.state(x).packed;
    if (!state.packed) {
      state.tensor = permuted(p.state(x).tensor, order);
    } else {
      state.weights = p.state(x).weights;
      state.weights.integers = permuted(state.weights.integers, order);
      for (std::size_t d = 0; d < view.rank; ++d)
        if (view.from[d] == p.state(x).weights.axis) state.weights.axis = d;
    }
    return;
  }
  inherit_quantization(p, x, y);
  const std::uint32_t any = p.raw(x);
  const bool movable = p.buffer_of(any).place != Place::input && p.plan.slots[any].pitch == 0;
  const std::uint32_t from = movable ? any : p.need_raw(x, p.plan.slots[any].order);
  std::array<std::uint8_t, max_dims> number{};  // of an old dimension among the new ones
  for (std::size_t d = 0; d < view.rank; ++d)
    if (view.from[d] < max_dims) number[view.from[d]] = static_cast<std::uint8_t>(d);
  DimOrder order = p.plan.slots[from].order;
  for (std::size_t i = 0; i < order.rank; ++i) order.dim[i] = number[order.dim[i]];
  p.alias(y, from, order);
}

[[nodiscard]] constexpr const char* read_slice(const Call& call, operators::SliceView& part) {
  if (const operators::Refusal wrong = operators::read_slice(call.arguments(), part)) return wrong.what;
  if (const char* reason = refuses_data_movement(call, part.input)) return reason;
  const ValueId x = part.input;
  if (call.rank(call.output()) + (part.selects ? 1u : 0u) != call.rank(x)) return "another rank";
  if (part.start > INT32_MAX || part.step > INT32_MAX) return "a start or step beyond 2^31";
  for (std::size_t d = 0, k = 0; d < call.rank(x); ++d) {
    if (d == part.dim) {
      const std::int64_t size = call.fixed(x, d);
      const std::int64_t count = part.selects ? 1 : call.fixed(call.output(), d);
      if (size >= 0 && count >= 0 && part.start + (count - 1) * part.step >= size) return "a part outside the tensor";
      if (!part.selects) ++k;
      continue;
    }
    if (!same_dim(call.dims(x)[d], call.dims(call.output())[k++])) return "sizes that do not fit";
  }
  return nullptr;
}
/// Copies the elements from `part` on, along its dimension, to a value of the same rank, or one less.
inline void emit_slice_to(Planner& p, const Call& call, ValueId y, const operators::SliceView& part) {
  const ValueId x = part.input;
  inherit_quantization(p, x, y);
  const std::uint32_t from = p.raw(x);
  Step step{.op = Op::copy, .axis = static_cast<std::uint32_t>(part.dim), .start = part.start, .step = part.step};
  step.in = from;
  const DimOrder order = p.plan.slots[from].order;
  const ScalarType dtype = p.plan.slots[from].dtype;
  if (p.rank(y) == p.rank(x)) {
    const std::uint32_t to = p.temporary(p.dims(y), order, dtype);
    step.out = to;
    p.add(step, call.id());
    return p.alias(y, to, order);
  }
  std::vector<Dim> sizes(p.dims(x).begin(), p.dims(x).end());
  sizes[part.dim] = Dim{.value = 1};
  step.out = p.temporary(sizes, order, dtype);
  p.add(step, call.id());
  DimOrder without;
  for (std::size_t i = 0; i < order.rank; ++i)
    if (order.dim[i] != part.dim)
      without.dim[without.rank++] = static_cast<std::uint8_t>(order.dim[i] - (order.dim[i] > part.dim ? 1 : 0));
  p.alias(y, step.out, without);
}
inline void emit_slice(Planner& p, const Call& call, const operators::SliceView& part) {
  emit_slice_to(p, call, call.output(), part);
}

[[nodiscard]] constexpr const char* read_split(const Call& call, operators::SliceView& whole) {
  if (const operators::Refusal wrong = operators::read_split(call.arguments(), whole)) return wrong.what;
  if (const char* reason = refuses_data_movement(call, whole.input)) return reason;
  const ValueId x = whole.input;
  const std::size_t axis = whole.dim;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    const ValueId y = call.output(i);
    if (call.rank(y) != call.rank(x)) return "another rank";
    for (std::size_t d = 0; d < call.rank(x); ++d) {
      if (d != axis && !same_dim(call.dims(x)[d], call.dims(y)[d])) return "sizes that do not fit";
    }
    const std::int64_t size = call.fixed(y, axis);
    if (size < 0) return "parts of symbolic size";
    total += size;
  }
  const std::int64_t all = call.fixed(x, axis);
  return all >= 0 && total > all ? "parts outside the tensor" : nullptr;
}
inline void emit_split(Planner& p, const Call& call, const operators::SliceView& whole) {
  operators::SliceView part = whole;
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    const ValueId y = call.output(i);
    if (p.used(y)) emit_slice_to(p, call, y, part);
    part.start += p.dims(y)[part.dim].value;
  }
}

[[nodiscard]] constexpr const char* read_cat(const Call& call, Concatenation& made) {
  const ScalarType dtype = call.is_tensor(call.output()) ? call.dtype(call.output()) : ScalarType::undefined;
  if (const char* reason = refuses_tensor(call, call.output(), dtype)) return reason;
  if (const operators::Refusal wrong = operators::read_cat(call.arguments(), call.rank(call.output()), made.axis))
    return wrong.what;
  const std::size_t axis = made.axis;
  const std::span<const Argument> parts = call.list("tensors");
  std::int64_t total = 0;
  for (const Argument& a : parts) {
    if (!a.is_value()) return "an operand is not a tensor";
    if (const char* reason = refuses_tensor(call, a.value(), dtype)) return reason;
    if (call.rank(a.value()) != call.rank(call.output())) return "an operand of another rank";
    for (std::size_t d = 0; d < call.rank(a.value()); ++d)
      if (d != axis && !same_dim(call.dims(a.value())[d], call.dims(call.output())[d])) return "sizes that do not fit";
    const std::int64_t size = call.fixed(a.value(), axis);
    if (size < 0) return "parts of symbolic size";
    total += size;
  }
  return call.fixed(call.output(), axis) == total ? nullptr : "sizes that do not fit";
}
/// Registers the parts of a concatenation of channels before planning, so that they are computed in place.
inline void reserve_cat(Planner& p, const Call& call, const Concatenation& made) {
  const ValueId y = call.output();
  if (made.axis != 1 || p.rank(y) != 4) return;
  std::int64_t offset = 0;
  for (const Argument& a : call.list("tensors")) {
    ConcatPart& slice = p.concat_part(a.value());
    if (slice.whole == no_id && p.graph().values[a.value()].producer != no_id) slice = {y, offset};
    offset += p.dims(a.value())[1].value;
  }
}
inline void emit_cat(Planner& p, const Call& call, const Concatenation& made) {
  const ValueId y = call.output();
  const std::span<const Argument> parts = call.list("tensors");
  const auto axis = static_cast<std::uint32_t>(made.axis);
  const bool begun = !p.state(y).slots.empty();
  const DimOrder first =
      p.state(parts[0].value()).constant ? DimOrder::row_major(p.rank(y)) : p.plan.slots[p.raw(parts[0].value())].order;
  const std::uint32_t whole = begun ? p.whole_of(y) : p.define(y, first);
  std::int64_t offset = 0;
  for (const Argument& a : parts) {
    const ValueId part = a.value();
    bool there = false;
    for (const std::uint32_t s : p.state(part).slots)
      there =
          there || (begun && p.plan.slots[s].buffer == p.plan.slots[whole].buffer && p.plan.slots[s].offset == offset);
    if (!there)
      p.add({.op = Op::copy, .in = p.need(part), .out = whole, .axis = axis, .start = offset, .into = true}, call.id());
    offset += p.dims(part)[axis].value;
  }
}

}  // namespace detail

inline constexpr auto layout_rules = std::to_array<Rule>({
    rule<ViewOfSizes, detail::read_same, detail::emit_view>("aten._to_copy.default"),
    rule<ViewOfSizes, detail::read_view, detail::emit_view>("aten._unsafe_view.default"),
    rule<ViewOfSizes, detail::read_same, detail::emit_view>("aten.alias.default"),
    rule<Concatenation, detail::read_cat, detail::emit_cat>("aten.cat.default"),
    rule<ViewOfSizes, detail::read_same, detail::emit_view>("aten.clone.default"),
    rule<ViewOfSizes, detail::read_expand, detail::emit_expand>("aten.expand.default"),
    rule<ViewOfSizes, detail::read_view, detail::emit_view>("aten.flatten.using_ints"),
    rule<operators::PermutationView, detail::read_permute, detail::emit_permute>("aten.permute.default"),
    rule<ViewOfSizes, detail::read_view, detail::emit_view>("aten.reshape.default"),
    rule<operators::SliceView, detail::read_slice, detail::emit_slice>("aten.select.int"),
    rule<operators::SliceView, detail::read_slice, detail::emit_slice>("aten.slice.Tensor"),
    rule<operators::SliceView, detail::read_split, detail::emit_split>("aten.split_with_sizes.default"),
    rule<ViewOfSizes, detail::read_view, detail::emit_view>("aten.squeeze.dim"),
    rule<ViewOfSizes, detail::read_view, detail::emit_view>("aten.squeeze.dims"),
    rule<ViewOfSizes, detail::read_size, detail::emit_nothing>("aten.sym_size.int"),
    rule<operators::PermutationView, detail::read_permute, detail::emit_permute>("aten.t.default"),
    rule<operators::PermutationView, detail::read_permute, detail::emit_permute>("aten.transpose.int"),
    rule<ViewOfSizes, detail::read_view, detail::emit_view>("aten.unsqueeze.default"),
    rule<ViewOfSizes, detail::read_view, detail::emit_view>("aten.view.default"),
});

}  // namespace davit::xnnpack_parts
