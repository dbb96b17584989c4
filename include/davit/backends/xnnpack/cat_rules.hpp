// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// The dimension that a cat joins along; -1 if it is not known.
[[nodiscard]] constexpr std::int64_t cat_axis(const Call& call) noexcept {
  std::size_t dim = 0;
  return operators::read_cat(call.arguments(), call.rank(call.output()), dim) ? -1 : static_cast<std::int64_t>(dim);
}
[[nodiscard]] constexpr const char* refuses_cat(const Call& call) noexcept {
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  const std::int64_t axis = cat_axis(call);
  const std::span<const Argument> parts = call.list("tensors");
  if (axis < 0) return "a dimension that is not a literal number";
  std::int64_t total = 0;
  for (const Argument& a : parts) {
    if (!a.is_value()) return "an operand is not a tensor";
    if (const char* reason = refuses_tensor(call, a.value())) return reason;
    if (call.rank(a.value()) != call.rank(call.output())) return "an operand of another rank";
    for (std::size_t d = 0; d < call.rank(a.value()); ++d)
      if (static_cast<std::int64_t>(d) != axis && !same_dim(call.dims(a.value())[d], call.dims(call.output())[d]))
        return "sizes that do not fit";
    const std::int64_t size = call.fixed(a.value(), static_cast<std::size_t>(axis));
    if (size < 0) return "parts of symbolic size";
    total += size;
  }
  return call.fixed(call.output(), static_cast<std::size_t>(axis)) == total ? nullptr : "sizes that do not fit";
}
/// Says before planning which values are parts of a concatenation of channels, so that they are made in place.
inline void reserve_cat(Planner& p, const Call& call) {
  const ValueId y = call.output();
  if (cat_axis(call) != 1 || p.rank(y) != 4) return;
  std::int64_t offset = 0;
  for (const Argument& a : call.list("tensors")) {
    ConcatPart& slice = p.concat_part(a.value());
    if (slice.whole == no_id && p.graph().values[a.value()].producer != no_id) slice = {y, offset};
    offset += p.dims(a.value())[1].value;
  }
}
inline void emit_cat(Planner& p, const Call& call) {
  const ValueId y = call.output();
  const std::span<const Argument> parts = call.list("tensors");
  const auto axis = static_cast<std::uint32_t>(cat_axis(call));
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
      p.add({.op = Op::copy,
             .in = {p.need(part), no_id, no_id},
             .out = whole,
             .axis = axis,
             .start = offset,
             .into = true},
            call.id());
    offset += p.dims(part)[axis].value;
  }
}

}  // namespace detail

inline constexpr auto cat_rules = std::to_array<Rule>({
    {"aten.cat.default", detail::refuses_cat, detail::emit_cat},
});

}  // namespace davit::xnnpack_parts
