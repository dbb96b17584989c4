// SPDX-License-Identifier: MIT
#pragma once

#include "davit/ops/families/activations.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Arguments of an activation of one tensor with parameters or variants.
struct ActivationView {
  ActivationFunction function = ActivationFunction::gelu;
  ValueId input = no_id;
  std::array<double, 3> numbers{};  ///< the slope; alpha, scale and input_scale; the exponent

  friend constexpr bool operator==(const ActivationView&, const ActivationView&) = default;
};

/// Reads a call of that activation. Errors: invalid_argument for unknown numbers and approximations.
template <CallArguments Call>
constexpr Refusal read_activation(const Call& call, const ActivationOperator& op, ActivationView& view) noexcept {
  view.function = op.function;
  view.input = call.value({"self", 0});
  if (view.input == no_id) return {"an operand is no tensor"};
  for (std::uint32_t i = 0; i < 3 && op.names[i] != nullptr; ++i)
    if (!read_number(call, {op.names[i], i + 1}, op.otherwise[i], view.numbers[i])) return {"a factor is no number"};
  if (op.function != ActivationFunction::gelu) return {};
  const auto* const given = call.find({"approximate", 1});
  const std::string_view form = given == nullptr ? std::string_view("none") : std::string_view(call.text(*given));
  if (form == "tanh") view.function = ActivationFunction::gelu_tanh;
  return form == "tanh" || form == "none" ? Refusal{} : Refusal{"the approximation is unknown"};
}
/// Reads a call of any activation with parameters or variants.
template <CallArguments Call>
constexpr Refusal read_activation(const Call& call, ActivationView& view) noexcept {
  const ActivationOperator* const op = find_row(activation_operators, call);
  return op == nullptr ? Refusal{"the operator is no such activation"} : read_activation(call, *op, view);
}

}  // namespace davit::operators
