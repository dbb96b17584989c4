// SPDX-License-Identifier: MIT
#pragma once

#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

enum class ActivationFunction : std::uint8_t { gelu, gelu_tanh, leaky_relu, elu, power };

/// A function of one tensor that has numbers or forms, as its call says it.
struct ActivationView {
  ActivationFunction function = ActivationFunction::gelu;
  ValueId input = no_id;
  std::array<double, 3> numbers{};  ///< the slope; alpha, scale and input_scale; the exponent

  friend constexpr bool operator==(const ActivationView&, const ActivationView&) = default;
};

/// One of ATen's: self, then numbers of these names, which may be left out; of gelu, whether it is approximate.
struct ActivationOperator {
  const char* target;
  ActivationFunction function;
  std::array<const char*, 3> names{};
  std::array<double, 3> otherwise{};
};

inline constexpr std::array activation_operators{
    ActivationOperator{"aten.gelu.default", ActivationFunction::gelu},
    ActivationOperator{"aten.leaky_relu.default", ActivationFunction::leaky_relu, {"negative_slope"}, {0.01}},
    ActivationOperator{"aten.elu.default", ActivationFunction::elu, {"alpha", "scale", "input_scale"}, {1, 1, 1}},
    ActivationOperator{"aten.pow.Tensor_Scalar", ActivationFunction::power, {"exponent"}},
};

/// Reads a call of that activation. Errors: invalid_argument for numbers and approximations that are not known.
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
/// Reads a call of any such activation.
template <CallArguments Call>
constexpr Refusal read_activation(const Call& call, ActivationView& view) noexcept {
  const ActivationOperator* const op = find_row(activation_operators, call);
  return op == nullptr ? Refusal{"the operator is no such activation"} : read_activation(call, *op, view);
}

}  // namespace davit::operators
