// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/backends/xnnpack/unary_rules.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// The dimension that a softmax runs over, if its size is known; else -1.
[[nodiscard]] constexpr std::int64_t softmax_axis(const Call& call) noexcept {
  const std::size_t rank = call.rank(call.value("self"));
  const std::int64_t axis = call.axis(call.integer("dim", INT64_MIN), rank);
  return axis < 0 || call.fixed(call.value("self"), static_cast<std::size_t>(axis)) < 0 ? -1 : axis;
}
[[nodiscard]] constexpr const char* refuses_softmax(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  if (call.flag("half_to_float", false) || call.has("dtype")) return "a change of dtype";
  return softmax_axis(call) < 0 ? "a dimension of symbolic size" : nullptr;
}
/// The order with `axis` innermost and the others row-major.
[[nodiscard]] constexpr DimOrder innermost(std::size_t rank, std::size_t axis) noexcept {
  DimOrder o;
  for (std::size_t d = 0; d < rank; ++d)
    if (d != axis) o.dim[o.rank++] = static_cast<std::uint8_t>(d);
  o.dim[o.rank++] = static_cast<std::uint8_t>(axis);
  return o;
}
template <Op op>
void emit_softmax(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const DimOrder order = innermost(p.rank(x), static_cast<std::size_t>(softmax_axis(call)));
  const std::uint32_t in = p.need(x, order);
  p.add({.op = op, .in = {in, no_id, no_id}, .out = p.define(call.output(), order)}, call.id());
}

[[nodiscard]] constexpr const char* refuses_layer_norm(const Call& call) noexcept {
  const ValueId x = call.value("input");
  for (const ValueId v : {x, call.output()})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  const std::span<const Argument> sizes = call.list("normalized_shape");
  const std::size_t rank = call.rank(x);
  if (sizes.empty() || sizes.size() > rank || call.rank(call.output()) != rank) return "no dimensions to normalize";
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i].kind != ArgumentKind::int_ || call.fixed(x, rank - sizes.size() + i) != sizes[i].payload)
      return "dimensions of symbolic size";
  for (const std::string_view name : {"weight", "bias"}) {
    if (!call.has(name)) continue;
    const ValueId v = call.value(name);
    if (const char* reason = refuses_tensor(call, v)) return reason;
    if (!same_dims(call.dims(v), call.dims(x).subspan(rank - sizes.size()))) return "parameters of another shape";
  }
  if (!call.is_literal("eps")) return "eps is not a literal number";
  for (std::size_t i = 1; i < call.outputs(); ++i)
    if (is_used(call.graph(), call.output(i))) return "its saved statistics are used";
  return nullptr;
}
inline void emit_layer_norm(Planner& p, const Call& call) {
  const ValueId x = call.value("input");
  const DimOrder order = DimOrder::row_major(p.rank(x));
  Step step{.op = Op::layer_norm,
            .alpha = static_cast<float>(call.number("eps", 1e-5)),
            .axes = static_cast<std::uint32_t>(call.list("normalized_shape").size())};
  step.in[0] = p.need(x, order);
  for (std::size_t i = 1; i < 3; ++i)
    if (const std::string_view name = i == 1 ? "weight" : "bias"; call.has(name))
      step.in[i] = p.need(call.value(name), DimOrder::row_major(step.axes));
  step.out = p.define(call.output(), order);
  p.add(step, call.id());
}

}  // namespace detail

/// Functions of rows: softmax and layer norm.
inline constexpr auto row_rules = std::to_array<Rule>({
    {"aten._log_softmax.default", detail::refuses_softmax, detail::emit_softmax<Op::log_softmax>},
    {"aten._softmax.default", detail::refuses_softmax, detail::emit_softmax<Op::softmax>},
    {"aten.layer_norm.default", detail::refuses_layer_norm, detail::emit_layer_norm},
    {"aten.log_softmax.int", detail::refuses_softmax, detail::emit_softmax<Op::log_softmax>},
    {"aten.native_layer_norm.default", detail::refuses_layer_norm, detail::emit_layer_norm},
    {"aten.softmax.int", detail::refuses_softmax, detail::emit_softmax<Op::softmax>},
});

}  // namespace davit::xnnpack_parts
