// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/dim_order.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::xnnpack_parts {

namespace detail {

inline void emit_view(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
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
[[nodiscard]] constexpr const char* refuses_view(const Call& call) noexcept {
  if (const char* reason = refuses_data_movement(call)) return reason;
  const ValueId x = call.value("self");
  const ValueId y = call.output();
  std::int64_t from = 1;
  std::int64_t to = 1;
  for (const Dim& d : call.dims(x))
    if (d.is_static() && __builtin_mul_overflow(from, d.value, &from)) return "too large";
  for (const Dim& d : call.dims(y))
    if (d.is_static() && __builtin_mul_overflow(to, d.value, &to)) return "too large";
  return call.all_fixed(x) && call.all_fixed(y) && from != to ? "another number of elements" : nullptr;
}

/// clone, alias and the like: the same elements.
[[nodiscard]] constexpr const char* refuses_same(const Call& call) noexcept {
  if (const char* reason = refuses_data_movement(call)) return reason;
  if (call.has("dtype") && call.arg("dtype")->kind == ArgumentKind::scalar_type &&
      call.dtype(call.output()) != call.dtype(call.value("self")))
    return "a change of dtype";
  return same_dims(call.dims(call.value("self")), call.dims(call.output())) ? nullptr : "a change of sizes";
}

[[nodiscard]] constexpr const char* refuses_expand(const Call& call) noexcept {
  if (const char* reason = refuses_data_movement(call)) return reason;
  const std::span<const Dim> from = call.dims(call.value("self"));
  const std::span<const Dim> to = call.dims(call.output());
  if (from.size() > to.size()) return "another rank";
  for (std::size_t d = 0; d < from.size(); ++d) {
    const Dim& old = from[d];
    if (!same_dim(old, to[to.size() - from.size() + d]) && !(old.is_static() && old.value == 1))
      return "dimensions that may or may not broadcast";
  }
  return nullptr;
}
inline void emit_expand(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const ValueId y = call.output();
  if (same_dims(p.dims(x), p.dims(y))) return emit_view(p, call);
  inherit_quantization(p, x, y);
  const std::uint32_t from = p.raw(x);
  const std::uint32_t to = p.temporary(p.dims(y), DimOrder::row_major(p.rank(y)), p.plan.slots[from].dtype);
  p.add({.op = Op::copy, .in = {from, no_id, no_id}, .out = to}, call.id());
  p.alias(y, to, DimOrder::row_major(p.rank(y)));
}

/// sym_size: a number that the sizes of the inputs tell.
[[nodiscard]] constexpr const char* refuses_size(const Call& call) noexcept {
  if (!call.is_tensor(call.value("self"))) return "an operand is not a tensor";
  const ValueId out = call.output();
  if (out == no_id || call.graph().values[out].kind != ValueKind::sym_int) return "not a symbolic number";
  std::size_t axis = 0;
  if (const operators::Refusal wrong =
          operators::read_dim(call.arguments(), {"dim", 1}, call.rank(call.value("self")), axis))
    return wrong.what;
  const Dim& dim = call.dims(call.value("self"))[axis];
  const Value& value = call.graph().values[out];
  return dim.is_static() || (value.expr != no_id && value.expr == dim.expr)
             ? nullptr
             : "a size that is not the dimension's symbol";
}
inline void emit_nothing(Planner&, const Call&) {}

}  // namespace detail

/// The same elements under other sizes; what repeats them; sizes as numbers.
inline constexpr auto view_rules = std::to_array<Rule>({
    {"aten._to_copy.default", detail::refuses_same, detail::emit_view},
    {"aten._unsafe_view.default", detail::refuses_view, detail::emit_view},
    {"aten.alias.default", detail::refuses_same, detail::emit_view},
    {"aten.clone.default", detail::refuses_same, detail::emit_view},
    {"aten.expand.default", detail::refuses_expand, detail::emit_expand},
    {"aten.flatten.using_ints", detail::refuses_view, detail::emit_view},
    {"aten.reshape.default", detail::refuses_view, detail::emit_view},
    {"aten.squeeze.dim", detail::refuses_view, detail::emit_view},
    {"aten.squeeze.dims", detail::refuses_view, detail::emit_view},
    {"aten.sym_size.int", detail::refuses_size, detail::emit_nothing},
    {"aten.unsqueeze.default", detail::refuses_view, detail::emit_view},
    {"aten.view.default", detail::refuses_view, detail::emit_view},
});

}  // namespace davit::xnnpack_parts
