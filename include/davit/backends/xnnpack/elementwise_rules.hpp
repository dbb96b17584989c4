// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "davit/backends/xnnpack/rules.hpp"

namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] constexpr bool same_dim(const Dim& a, const Dim& b) noexcept {
  return a.is_static() || b.is_static() ? a.is_static() && b.is_static() && a.value == b.value : a.expr == b.expr;
}
[[nodiscard]] constexpr bool same_dims(std::span<const Dim> a, std::span<const Dim> b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (!same_dim(a[d], b[d])) return false;
  return true;
}

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

/// Why an operand of a function of two cannot be taken: a tensor that broadcasts to the output, or a literal number.
[[nodiscard]] constexpr const char* refuses_operand(const Call& call, std::string_view name) noexcept {
  const ValueId v = call.value(name);
  if (v == no_id) return call.number(name) ? nullptr : "an operand is not a number";
  if (const char* reason = refuses_tensor(call, v)) return reason;
  const std::size_t rank = call.rank(v);
  const std::span<const Dim> out = call.dims(call.output());
  if (rank > out.size()) return "operands do not broadcast";
  for (std::size_t d = 0; d < rank; ++d) {
    const Dim& dim = call.dims(v)[d];
    const Dim& to = out[out.size() - rank + d];
    if (!same_dim(dim, to) && !(dim.is_static() && dim.value == 1)) return "dimensions that may or may not broadcast";
  }
  return nullptr;
}
[[nodiscard]] constexpr const char* refuses_binary(const Call& call) noexcept {
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  if (call.value("self") == no_id && call.value("other") == no_id) return "no operand is a tensor";
  if (const char* reason = refuses_operand(call, "self")) return reason;
  if (const char* reason = refuses_operand(call, "other")) return reason;
  return call.is_literal("alpha") && call.number("alpha", 1) == 1 ? nullptr : "an alpha other than 1";
}

/// The order of an operand's dimensions when the result has `order`.
[[nodiscard]] constexpr Order order_of_operand(const Order& order, std::size_t rank) noexcept {
  Order out;
  const std::size_t missing = order.rank - rank;
  for (std::size_t p = 0; p < order.rank; ++p)
    if (order.dim[p] >= missing) out.dim[out.rank++] = static_cast<std::uint8_t>(order.dim[p] - missing);
  return out;
}

/// The order in which two operands are best combined: that of one as large as the result, rather not row-major.
[[nodiscard]] inline Order best_order(Planner& p, const Call& call, ValueId result) {
  const Order plain = Order::row_major(p.rank(result));
  Order best = plain;
  for (const std::string_view name : {"self", "other"}) {
    const ValueId v = call.value(name);
    if (v == no_id || p.known(v).constant || !same_dims(p.dims(v), p.dims(result))) continue;
    const Order& order = p.plan.slots[p.raw(v)].order;
    if (same_order(p.dims(v), best, plain)) best = order;
  }
  return best;
}

/// int8 in, int8 out: both operands were dequantized, and the result is quantized and nothing else.
[[nodiscard]] inline bool emit_quantized_binary(Planner& p, const Call& call, Op op) {
  const ValueId a = call.value("self");
  const ValueId b = call.value("other");
  if (a == no_id || b == no_id || !p.known(a).dequantized || !p.known(b).dequantized) return false;
  const std::optional<QuantizedResult> result = find_quantizer(p, call.output());
  if (!result) return false;
  const Quantization& qa = p.known(a).quantization;
  const Quantization& qb = p.known(b).quantization;
  const float so = result->quantizer.quantization.scale;
  const auto fits = [](float ratio) { return ratio >= 0x1.0p-10f && ratio < 0x1.0p+8f; };
  if (op == Op::multiply_s8 ? !(qa.scale * qb.scale / so >= 0x1.0p-16f && qa.scale * qb.scale / so < 0x1.0p+8f)
                            : !fits(qa.scale / so) || !fits(qb.scale / so))
    return false;
  const Order order = best_order(p, call, call.output());
  Step step{.op = op,
            .quantization = {qa, qb, result->quantizer.quantization},
            .low = result->quantizer.low,
            .high = result->quantizer.high};
  step.in[0] = p.need_raw(a, order_of_operand(order, p.rank(a)));
  step.in[1] = p.need_raw(b, order_of_operand(order, p.rank(b)));
  absorb_quantizer(p, *result);
  step.out = p.define(result->value, order);
  p.add(step, call.id());
  return true;
}

template <Op op>
void emit_binary(Planner& p, const Call& call) {
  if constexpr (op == Op::add || op == Op::subtract || op == Op::multiply) {
    constexpr Op quantized = op == Op::add ? Op::add_s8 : op == Op::subtract ? Op::subtract_s8 : Op::multiply_s8;
    if (emit_quantized_binary(p, call, quantized)) return;
  }
  constexpr bool clamps = op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::divide;
  const Clamped out = clamps ? take_clamp(p, call.output()) : Clamped{call.output(), {}};
  const Order order = best_order(p, call, call.output());
  Step step{.op = op, .min = out.bounds.low, .max = out.bounds.high};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view name = i == 0 ? "self" : "other";
    const ValueId v = call.value(name);
    step.in[i] =
        v == no_id ? p.number(static_cast<float>(*call.number(name))) : p.need(v, order_of_operand(order, p.rank(v)));
  }
  step.out = p.define(out.value, order);
  p.add(step, call.id());
}

}  // namespace detail

inline constexpr auto elementwise_rules = std::to_array<Rule>({
    {"aten.abs.default", detail::refuses_unary, detail::emit_simple<Op::abs>},
    {"aten.add.Scalar", detail::refuses_binary, detail::emit_binary<Op::add>},
    {"aten.add.Tensor", detail::refuses_binary, detail::emit_binary<Op::add>},
    {"aten.ceil.default", detail::refuses_unary, detail::emit_simple<Op::ceil>},
    {"aten.clamp.default", detail::refuses_clamp, detail::emit_clamp},
    {"aten.div.Scalar", detail::refuses_binary, detail::emit_binary<Op::divide>},
    {"aten.div.Tensor", detail::refuses_binary, detail::emit_binary<Op::divide>},
    {"aten.elu.default", detail::refuses_elu, detail::emit_elu},
    {"aten.exp.default", detail::refuses_unary, detail::emit_simple<Op::exp>},
    {"aten.floor.default", detail::refuses_unary, detail::emit_simple<Op::floor>},
    {"aten.gelu.default", detail::refuses_gelu, detail::emit_gelu},
    {"aten.hardsigmoid.default", detail::refuses_unary, detail::emit_simple<Op::hardsigmoid>},
    {"aten.hardswish.default", detail::refuses_unary, detail::emit_simple<Op::hardswish>},
    {"aten.hardtanh.default", detail::refuses_clamp, detail::emit_clamp},
    {"aten.leaky_relu.default", detail::refuses_leaky_relu, detail::emit_leaky_relu},
    {"aten.maximum.default", detail::refuses_binary, detail::emit_binary<Op::maximum>},
    {"aten.minimum.default", detail::refuses_binary, detail::emit_binary<Op::minimum>},
    {"aten.mul.Scalar", detail::refuses_binary, detail::emit_binary<Op::multiply>},
    {"aten.mul.Tensor", detail::refuses_binary, detail::emit_binary<Op::multiply>},
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
    {"aten.sub.Scalar", detail::refuses_binary, detail::emit_binary<Op::subtract>},
    {"aten.sub.Tensor", detail::refuses_binary, detail::emit_binary<Op::subtract>},
    {"aten.tanh.default", detail::refuses_unary, detail::emit_simple<Op::tanh>},
    {"aten.trunc.default", detail::refuses_unary, detail::emit_simple<Op::trunc>},
});

}  // namespace davit::xnnpack_parts
