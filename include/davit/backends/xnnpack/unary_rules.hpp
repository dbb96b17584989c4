// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/activation.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// Why what makes floats of one float tensor cannot be taken, or nullptr.
[[nodiscard]] constexpr const char* refuses_floats(const Call& call) noexcept {
  if (const char* reason = refuses_tensor(call, call.value("self"))) return reason;
  return refuses_tensor(call, call.output());
}
/// The same of a function of each element.
[[nodiscard]] constexpr const char* refuses_unary(const Call& call) noexcept {
  if (const char* reason = refuses_floats(call)) return reason;
  return refuses_other_sizes(call, call.value("self"));
}

inline void emit_unary(Planner& p, const Call& call, Step step) {
  step.in[0] = p.need(call.value("self"));
  step.out = p.define(call.output(), p.plan.slots[step.in[0]].order, true);
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

[[nodiscard]] constexpr const char* refuses_activation(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  operators::ActivationView view;
  if (const operators::Refusal wrong = operators::read_activation(call.arguments(), view)) return wrong.what;
  const auto& [number, scale, input_scale] = view.numbers;
  switch (view.function) {
    case operators::ActivationFunction::gelu:
    case operators::ActivationFunction::gelu_tanh: return nullptr;
    case operators::ActivationFunction::leaky_relu:
      return number > -1e30 && number < 1e30 ? nullptr : "the slope is not a literal number";
    case operators::ActivationFunction::elu:
      if (scale != 1 || input_scale != 1) return "an elu with scales";
      return number > 1e-30 && number < 1e30 ? nullptr : "alpha is not a positive number";
    case operators::ActivationFunction::power:
      return number == 2 || number == 0.5 ? nullptr : "an exponent other than 2 and 0.5";
  }
  return nullptr;
}
inline void emit_activation(Planner& p, const Call& call) {
  operators::ActivationView view;
  if (operators::read_activation(call.arguments(), view)) return;  // which refuses_activation has asked
  const auto number = static_cast<float>(view.numbers[0]);
  switch (view.function) {
    case operators::ActivationFunction::gelu: return emit_unary(p, call, {.op = Op::gelu});
    case operators::ActivationFunction::gelu_tanh: return emit_unary(p, call, {.op = Op::gelu_tanh});
    case operators::ActivationFunction::leaky_relu: return emit_unary(p, call, {.op = Op::leaky_relu, .alpha = number});
    case operators::ActivationFunction::elu: return emit_unary(p, call, {.op = Op::elu, .alpha = number});
    case operators::ActivationFunction::power:
      return emit_unary(p, call, {.op = number == 2 ? Op::square : Op::square_root});
  }
}

}  // namespace detail

inline constexpr auto unary_rules = std::to_array<Rule>({
    {"aten.abs.default", detail::refuses_unary, detail::emit_simple<Op::abs>},
    {"aten.ceil.default", detail::refuses_unary, detail::emit_simple<Op::ceil>},
    {"aten.clamp.default", detail::refuses_clamp, detail::emit_clamp},
    {"aten.elu.default", detail::refuses_activation, detail::emit_activation},
    {"aten.exp.default", detail::refuses_unary, detail::emit_simple<Op::exp>},
    {"aten.floor.default", detail::refuses_unary, detail::emit_simple<Op::floor>},
    {"aten.gelu.default", detail::refuses_activation, detail::emit_activation},
    {"aten.hardsigmoid.default", detail::refuses_unary, detail::emit_simple<Op::hardsigmoid>},
    {"aten.hardswish.default", detail::refuses_unary, detail::emit_simple<Op::hardswish>},
    {"aten.hardtanh.default", detail::refuses_clamp, detail::emit_clamp},
    {"aten.leaky_relu.default", detail::refuses_activation, detail::emit_activation},
    {"aten.neg.default", detail::refuses_unary, detail::emit_simple<Op::negate>},
    {"aten.pow.Tensor_Scalar", detail::refuses_activation, detail::emit_activation},
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
