// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/quantization.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/binary.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// Why a tensor that is an operand of a function of two cannot be taken: it broadcasts to the output.
[[nodiscard]] constexpr const char* refuses_operand(const Call& call, ValueId v) noexcept {
  if (v == no_id) return nullptr;
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
  operators::BinaryView view;
  if (const operators::Refusal wrong = operators::read_binary(call.arguments(), view)) return wrong.what;
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  if (const char* reason = refuses_operand(call, view.left)) return reason;
  if (const char* reason = refuses_operand(call, view.right)) return reason;
  return view.alpha == 1 ? nullptr : "an alpha other than 1";
}

/// The order of an operand's dimensions when the result has `order`.
[[nodiscard]] constexpr DimOrder order_of_operand(const DimOrder& order, std::size_t rank) noexcept {
  DimOrder out;
  const std::size_t missing = order.rank - rank;
  for (std::size_t p = 0; p < order.rank; ++p)
    if (order.dim[p] >= missing) out.dim[out.rank++] = static_cast<std::uint8_t>(order.dim[p] - missing);
  return out;
}

/// The order in which two operands are best combined: that of one as large as the result, rather not row-major.
[[nodiscard]] inline DimOrder best_order(Planner& p, const operators::BinaryView& view, ValueId result) {
  const DimOrder plain = DimOrder::row_major(p.rank(result));
  DimOrder best = plain;
  for (const ValueId v : {view.left, view.right}) {
    if (v == no_id || p.state(v).constant || !same_dims(p.dims(v), p.dims(result))) continue;
    const DimOrder& order = p.plan.slots[p.raw(v)].order;
    if (same_order(p.dims(v), best, plain)) best = order;
  }
  return best;
}

/// int8 in, int8 out: both operands were dequantized, and the result is quantized and nothing else.
[[nodiscard]] inline bool emit_quantized_binary(Planner& p, const Call& call, const operators::BinaryView& view,
                                                Op op) {
  const ValueId a = view.left;
  const ValueId b = view.right;
  if (!p.int8_kernels() || a == no_id || b == no_id || !p.state(a).dequantized || !p.state(b).dequantized) return false;
  const std::optional<QuantizedResult> result = find_quantizer(p, call.output());
  if (!result) return false;
  const DimOrder order = best_order(p, view, call.output());
  Step step{.op = op,
            .alpha = result->quantizer.inverse,
            .quantization = {p.state(a).quantization, p.state(b).quantization, result->quantizer.quantization},
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
  operators::BinaryView view;
  if (operators::read_binary(call.arguments(), view)) return;  // which refuses_binary has asked
  if constexpr (op == Op::add || op == Op::subtract || op == Op::multiply) {
    constexpr Op quantized = op == Op::add ? Op::add_s8 : op == Op::subtract ? Op::subtract_s8 : Op::multiply_s8;
    if (emit_quantized_binary(p, call, view, quantized)) return;
  }
  constexpr bool clamps = op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::divide;
  const Clamped out = clamps ? take_clamp(p, call.output()) : Clamped{call.output(), {}};
  const DimOrder order = best_order(p, view, call.output());
  Step step{.op = op, .min = out.bounds.low, .max = out.bounds.high};
  const auto operand = [&](ValueId v, double number) {
    return v == no_id ? p.number(static_cast<float>(number)) : p.need(v, order_of_operand(order, p.rank(v)));
  };
  step.in[0] = operand(view.left, view.left_number);
  step.in[1] = operand(view.right, view.right_number);
  step.out = p.define(out.value, order);
  p.add(step, call.id());
}

}  // namespace detail

inline constexpr auto binary_rules = std::to_array<Rule>({
    {"aten.add.Scalar", detail::refuses_binary, detail::emit_binary<Op::add>},
    {"aten.add.Tensor", detail::refuses_binary, detail::emit_binary<Op::add>},
    {"aten.div.Scalar", detail::refuses_binary, detail::emit_binary<Op::divide>},
    {"aten.div.Tensor", detail::refuses_binary, detail::emit_binary<Op::divide>},
    {"aten.maximum.default", detail::refuses_binary, detail::emit_binary<Op::maximum>},
    {"aten.minimum.default", detail::refuses_binary, detail::emit_binary<Op::minimum>},
    {"aten.mul.Scalar", detail::refuses_binary, detail::emit_binary<Op::multiply>},
    {"aten.mul.Tensor", detail::refuses_binary, detail::emit_binary<Op::multiply>},
    {"aten.sub.Scalar", detail::refuses_binary, detail::emit_binary<Op::subtract>},
    {"aten.sub.Tensor", detail::refuses_binary, detail::emit_binary<Op::subtract>},
});

}  // namespace davit::xnnpack_parts
