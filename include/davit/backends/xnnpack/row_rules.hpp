// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/backends/xnnpack/unary_rules.hpp"
#include "davit/program/operators/normalization.hpp"
#include "davit/program/operators/softmax.hpp"

namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] constexpr const char* refuses_softmax(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  operators::SoftmaxView view;
  if (const operators::Refusal wrong = operators::read_softmax(call.arguments(), view)) return wrong.what;
  if (view.converts) return "a change of dtype";
  return call.rank(view.input) == 0 || call.fixed(view.input, view.dim) < 0 ? "a dimension of symbolic size" : nullptr;
}
inline void emit_softmax(Planner& p, const Call& call) {
  operators::SoftmaxView view;
  if (operators::read_softmax(call.arguments(), view)) return;  // which refuses_softmax has asked
  const DimOrder order = DimOrder::row_major(p.rank(view.input));
  Step step{.op = view.logarithm ? Op::log_softmax : Op::softmax,
            .axis = static_cast<std::uint32_t>(view.dim),
            .axes = view.masked ? 1u : 0u};
  step.in[0] = p.need(view.input, order);
  step.out = p.define(call.output(), order);
  p.add(step, call.id());
}

[[nodiscard]] constexpr const char* refuses_layer_norm(const Call& call) noexcept {
  operators::LayerNormView view;
  if (const operators::Refusal wrong = operators::read_layer_norm(call.arguments(), view)) return wrong.what;
  for (const ValueId v : {view.input, call.output()})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  const std::size_t rank = call.rank(view.input);
  if (call.rank(call.output()) != rank) return "a result of another rank";
  const std::span<const Dim> sizes = call.dims(view.input).subspan(rank - view.dims);
  for (const Dim& d : sizes)
    if (!d.is_static()) return "dimensions of symbolic size";
  for (const ValueId v : {view.weight, view.bias}) {
    if (v == no_id) continue;
    if (const char* reason = refuses_tensor(call, v)) return reason;
    if (!same_dims(call.dims(v), sizes)) return "parameters of another shape";
  }
  return call.arguments().uses_first_output_only() ? nullptr : "its saved statistics are used";
}
inline void emit_layer_norm(Planner& p, const Call& call) {
  operators::LayerNormView view;
  if (operators::read_layer_norm(call.arguments(), view)) return;  // which refuses_layer_norm has asked
  const DimOrder order = DimOrder::row_major(p.rank(view.input));
  Step step{.op = Op::layer_norm, .alpha = static_cast<float>(view.eps), .axes = static_cast<std::uint32_t>(view.dims)};
  step.in[0] = p.need(view.input, order);
  if (view.weight != no_id) step.in[1] = p.need(view.weight, DimOrder::row_major(step.axes));
  if (view.bias != no_id) step.in[2] = p.need(view.bias, DimOrder::row_major(step.axes));
  step.out = p.define(call.output(), order);
  p.add(step, call.id());
}

[[nodiscard]] constexpr const char* refuses_group_norm(const Call& call) noexcept {
  operators::GroupNormView view;
  if (const operators::Refusal wrong = operators::read_group_norm(call.arguments(), view)) return wrong.what;
  for (const ValueId v : {view.input, call.output()})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  if (call.rank(view.input) < 2 || call.rank(call.output()) != call.rank(view.input)) return "no channel dimension";
  const std::int64_t channels = call.fixed(view.input, 1);
  if (channels < 0) return "a symbolic number of channels";
  if (channels % view.groups != 0) return "channels that do not divide into the groups";
  for (const ValueId v : {view.weight, view.bias}) {
    if (v == no_id) continue;
    if (const char* reason = refuses_tensor(call, v)) return reason;
    if (call.rank(v) != 1 || call.fixed(v, 0) != channels) return "parameters that are not one number per channel";
  }
  return call.arguments().uses_first_output_only() ? nullptr : "its saved statistics are used";
}
inline void emit_group_norm(Planner& p, const Call& call) {
  operators::GroupNormView view;
  if (operators::read_group_norm(call.arguments(), view)) return;  // which refuses_group_norm has asked
  const DimOrder order = DimOrder::row_major(p.rank(view.input));
  Step step{.op = Op::group_norm,
            .alpha = static_cast<float>(view.eps),
            .window = {.groups = static_cast<std::uint32_t>(view.groups)}};
  step.in[0] = p.need(view.input, order);
  if (view.weight != no_id) step.in[1] = p.need(view.weight, DimOrder::row_major(1));
  if (view.bias != no_id) step.in[2] = p.need(view.bias, DimOrder::row_major(1));
  step.out = p.define(call.output(), order);
  p.add(step, call.id());
}

}  // namespace detail

/// Functions of rows: softmax and layer norm; and of groups of channels.
inline constexpr auto row_rules = std::to_array<Rule>({
    {"aten._log_softmax.default", detail::refuses_softmax, detail::emit_softmax},
    {"aten._safe_softmax.default", detail::refuses_softmax, detail::emit_softmax},
    {"aten._softmax.default", detail::refuses_softmax, detail::emit_softmax},
    {"aten.layer_norm.default", detail::refuses_layer_norm, detail::emit_layer_norm},
    {"aten.log_softmax.int", detail::refuses_softmax, detail::emit_softmax},
    {"aten.native_group_norm.default", detail::refuses_group_norm, detail::emit_group_norm},
    {"aten.native_layer_norm.default", detail::refuses_layer_norm, detail::emit_layer_norm},
    {"aten.softmax.int", detail::refuses_softmax, detail::emit_softmax},
});

}  // namespace davit::xnnpack_parts
