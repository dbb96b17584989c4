// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

#include "davit/backends/xnnpack/rule.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// Why a function of one float tensor cannot be taken, or nullptr.
[[nodiscard]] constexpr const char* refuses_unary(const Call& call) noexcept {
  if (const char* reason = refuses_tensor(call, call.value("self"))) return reason;
  return refuses_tensor(call, call.output());
}

inline void emit_unary(Planner& p, const Call& call, Step step) {
  const bool pitched = step.op < Op::own;
  const std::uint32_t x = pitched ? p.need(call.value("self")) : p.need_dense(call.value("self"));
  step.in[0] = x;
  step.out = p.define(call.output(), p.plan.slots[x].order, pitched);
  p.add(step, call.id());
}
template <Op op>
void emit_simple(Planner& p, const Call& call) {
  emit_unary(p, call, {.op = op});
}

[[nodiscard]] constexpr const char* refuses_clamp(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  return bounds_of(call) ? nullptr : "bounds that are not literal numbers, the lower below the upper";
}
inline void emit_clamp(Planner& p, const Call& call) {
  const Bounds bounds = *bounds_of(call);
  emit_unary(p, call, {.op = Op::clamp, .min = bounds.low, .max = bounds.high});
}

[[nodiscard]] constexpr const char* refuses_leaky_relu(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  const double slope = call.number("negative_slope", 0.01);
  return call.is_literal("negative_slope") && slope > -1e30 && slope < 1e30 ? nullptr
                                                                            : "the slope is not a literal number";
}
inline void emit_leaky_relu(Planner& p, const Call& call) {
  emit_unary(p, call, {.op = Op::leaky_relu, .alpha = static_cast<float>(call.number("negative_slope", 0.01))});
}

[[nodiscard]] constexpr const char* refuses_elu(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  if (call.number("scale", 1) != 1 || call.number("input_scale", 1) != 1) return "an elu with scales";
  const double alpha = call.number("alpha", 1);
  return call.is_literal("alpha") && alpha > 1e-30 && alpha < 1e30 ? nullptr : "alpha is not a positive number";
}
inline void emit_elu(Planner& p, const Call& call) {
  emit_unary(p, call, {.op = Op::elu, .alpha = static_cast<float>(call.number("alpha", 1))});
}

[[nodiscard]] constexpr const char* refuses_gelu(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  const std::string_view form = call.string("approximate");
  return form.empty() || form == "none" || form == "tanh" ? nullptr : "an unknown approximation";
}
inline void emit_gelu(Planner& p, const Call& call) {
  emit_unary(p, call, {.op = call.string("approximate") == "tanh" ? Op::gelu_tanh : Op::gelu});
}

[[nodiscard]] constexpr const char* refuses_power(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  const double exponent = call.number("exponent", 0);
  return call.is_literal("exponent") && (exponent == 2 || exponent == 0.5) ? nullptr
                                                                           : "an exponent other than 2 and 0.5";
}
inline void emit_power(Planner& p, const Call& call) {
  emit_unary(p, call, {.op = call.number("exponent", 2) == 2 ? Op::square : Op::square_root});
}

}  // namespace detail

inline constexpr auto unary_rules = std::to_array<Rule>({
    {"aten.abs.default", detail::refuses_unary, detail::emit_simple<Op::abs>},
    {"aten.ceil.default", detail::refuses_unary, detail::emit_simple<Op::ceil>},
    {"aten.clamp.default", detail::refuses_clamp, detail::emit_clamp},
    {"aten.elu.default", detail::refuses_elu, detail::emit_elu},
    {"aten.exp.default", detail::refuses_unary, detail::emit_simple<Op::exp>},
    {"aten.floor.default", detail::refuses_unary, detail::emit_simple<Op::floor>},
    {"aten.gelu.default", detail::refuses_gelu, detail::emit_gelu},
    {"aten.hardsigmoid.default", detail::refuses_unary, detail::emit_simple<Op::hardsigmoid>},
    {"aten.hardswish.default", detail::refuses_unary, detail::emit_simple<Op::hardswish>},
    {"aten.hardtanh.default", detail::refuses_clamp, detail::emit_clamp},
    {"aten.leaky_relu.default", detail::refuses_leaky_relu, detail::emit_leaky_relu},
    {"aten.neg.default", detail::refuses_unary, detail::emit_simple<Op::negate>},
    {"aten.pow.Tensor_Scalar", detail::refuses_power, detail::emit_power},
    {"aten.reciprocal.default", detail::refuses_unary, detail::emit_simple<Op::reciprocal>},
    {"aten.relu.default", detail::refuses_clamp, detail::emit_clamp},
    {"aten.relu6.default", detail::refuses_clamp, detail::emit_clamp},
    {"aten.round.default", detail::refuses_unary, detail::emit_simple<Op::round>},
    {"aten.rsqrt.default", detail::refuses_unary, detail::emit_simple<Op::rsqrt>},
    {"aten.sigmoid.default", detail::refuses_unary, detail::emit_simple<Op::sigmoid>},
    {"aten.silu.default", detail::refuses_unary, detail::emit_simple<Op::silu>},
    {"aten.sqrt.default", detail::refuses_unary, detail::emit_simple<Op::square_root>},
    {"aten.tanh.default", detail::refuses_unary, detail::emit_simple<Op::tanh>},
    {"aten.trunc.default", detail::refuses_unary, detail::emit_simple<Op::trunc>},
});

}  // namespace davit::xnnpack_parts
