// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] constexpr const char* refuses_slice(const Call& call) noexcept {
  operators::SliceView part;
  if (const operators::Refusal wrong = operators::read_slice(call.arguments(), part)) return wrong.what;
  if (const char* reason = refuses_data_movement(call)) return reason;
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
/// Copies what lies from `part` on along its dimension to a value that has as many dimensions, or one less.
inline void emit_slice_to(Planner& p, const Call& call, ValueId y, const operators::SliceView& part) {
  const ValueId x = call.value("self");
  inherit_quantization(p, x, y);
  const std::uint32_t from = p.raw(x);
  Step step{.op = Op::copy, .axis = static_cast<std::uint32_t>(part.dim), .start = part.start, .step = part.step};
  step.in[0] = from;
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
inline void emit_slice(Planner& p, const Call& call) {
  operators::SliceView part;
  if (operators::read_slice(call.arguments(), part)) return;  // which refuses_slice has asked
  emit_slice_to(p, call, call.output(), part);
}

[[nodiscard]] constexpr const char* refuses_split(const Call& call) noexcept {
  if (const char* reason = refuses_data_movement(call)) return reason;
  operators::SliceView whole;
  if (const operators::Refusal wrong = operators::read_split(call.arguments(), whole)) return wrong.what;
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
inline void emit_split(Planner& p, const Call& call) {
  operators::SliceView part;
  if (operators::read_split(call.arguments(), part)) return;  // which refuses_split has asked
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    const ValueId y = call.output(i);
    if (p.used(y)) emit_slice_to(p, call, y, part);
    part.start += p.dims(y)[part.dim].value;
  }
}

}  // namespace detail

inline constexpr auto slice_rules = std::to_array<Rule>({
    {"aten.select.int", detail::refuses_slice, detail::emit_slice},
    {"aten.slice.Tensor", detail::refuses_slice, detail::emit_slice},
    {"aten.split_with_sizes.default", detail::refuses_split, detail::emit_split},
});

}  // namespace davit::xnnpack_parts
