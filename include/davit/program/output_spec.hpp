// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "davit/program/argument_spec.hpp"

namespace davit {

/// Kinds of graph outputs, with the numbers of torch 2.6.
///
/// Newer torch inserts PARAMETER_MUTATION as 4 and shifts the later kinds by one; files do not contain the numbers.
enum class OutputKind : std::uint8_t {
  user_output = 1,
  loss_output = 2,
  buffer_mutation = 3,
  gradient_to_parameter = 4,
  gradient_to_user_input = 5,
  user_input_mutation = 6,
  token = 7,
  parameter_mutation = 8,
};

/// Returns the kind's name in torch.export: "USER_OUTPUT".
[[nodiscard]] constexpr std::string_view name_of(OutputKind kind) noexcept {
  switch (kind) {
    case OutputKind::user_output: return "USER_OUTPUT";
    case OutputKind::loss_output: return "LOSS_OUTPUT";
    case OutputKind::buffer_mutation: return "BUFFER_MUTATION";
    case OutputKind::gradient_to_parameter: return "GRADIENT_TO_PARAMETER";
    case OutputKind::gradient_to_user_input: return "GRADIENT_TO_USER_INPUT";
    case OutputKind::user_input_mutation: return "USER_INPUT_MUTATION";
    case OutputKind::token: return "TOKEN";
    case OutputKind::parameter_mutation: return "PARAMETER_MUTATION";
  }
  return "?";
}

/// An output to the caller.
struct UserOutputSpec {
  static constexpr OutputKind kind = OutputKind::user_output;
  UserArgument arg;
  friend constexpr bool operator==(const UserOutputSpec&, const UserOutputSpec&) = default;
};

/// The loss of a joint forward and backward graph.
struct LossOutputSpec {
  static constexpr OutputKind kind = OutputKind::loss_output;
  TensorArgument arg;
  friend constexpr bool operator==(const LossOutputSpec&, const LossOutputSpec&) = default;
};

/// The new value of the buffer `target`.
struct BufferMutationSpec {
  static constexpr OutputKind kind = OutputKind::buffer_mutation;
  TensorArgument arg;
  Name target;
  constexpr BufferMutationSpec(TensorArgument a, Name t) noexcept : arg(std::move(a)), target(std::move(t)) {}
  friend constexpr bool operator==(const BufferMutationSpec&, const BufferMutationSpec&) = default;
};

/// The new value of the parameter `target` (newer than torch 2.6).
struct ParameterMutationSpec {
  static constexpr OutputKind kind = OutputKind::parameter_mutation;
  TensorArgument arg;
  Name target;
  constexpr ParameterMutationSpec(TensorArgument a, Name t) noexcept : arg(std::move(a)), target(std::move(t)) {}
  friend constexpr bool operator==(const ParameterMutationSpec&, const ParameterMutationSpec&) = default;
};

/// The gradient of the loss with respect to the parameter `target`.
struct GradientToParameterSpec {
  static constexpr OutputKind kind = OutputKind::gradient_to_parameter;
  TensorArgument arg;
  Name target;
  constexpr GradientToParameterSpec(TensorArgument a, Name t) noexcept : arg(std::move(a)), target(std::move(t)) {}
  friend constexpr bool operator==(const GradientToParameterSpec&, const GradientToParameterSpec&) = default;
};

/// The gradient of the loss with respect to the user input named `target`.
struct GradientToUserInputSpec {
  static constexpr OutputKind kind = OutputKind::gradient_to_user_input;
  TensorArgument arg;
  Name target;
  constexpr GradientToUserInputSpec(TensorArgument a, Name t) noexcept : arg(std::move(a)), target(std::move(t)) {}
  friend constexpr bool operator==(const GradientToUserInputSpec&, const GradientToUserInputSpec&) = default;
};

/// The new value of the user input named `target`.
struct UserInputMutationSpec {
  static constexpr OutputKind kind = OutputKind::user_input_mutation;
  TensorArgument arg;
  Name target;
  constexpr UserInputMutationSpec(TensorArgument a, Name t) noexcept : arg(std::move(a)), target(std::move(t)) {}
  friend constexpr bool operator==(const UserInputMutationSpec&, const UserInputMutationSpec&) = default;
};

/// An output that orders side effects.
struct OutputTokenSpec {
  static constexpr OutputKind kind = OutputKind::token;
  TokenArgument arg;
  friend constexpr bool operator==(const OutputTokenSpec&, const OutputTokenSpec&) = default;
};

/// Meaning of a graph output: one alternative per kind, with the members of that kind.
///
/// Source: torch.export.graph_signature.OutputSpec; the alternatives follow torch._export.serde.schema.
using OutputSpec =
    std::variant<UserOutputSpec, LossOutputSpec, BufferMutationSpec, ParameterMutationSpec, GradientToParameterSpec,
                 GradientToUserInputSpec, UserInputMutationSpec, OutputTokenSpec>;

[[nodiscard]] constexpr OutputKind kind(const OutputSpec& spec) noexcept { return detail::spec_kind<OutputKind>(spec); }

/// Returns a copy of the output's argument.
template <class = void>
[[nodiscard]] constexpr ArgumentSpec arg(const OutputSpec& spec) {
  return std::visit([](const auto& s) { return detail::spec_arg(s); }, spec);
}

/// Returns the name of the output's argument; empty for a constant.
[[nodiscard]] constexpr const Name& arg_name(const OutputSpec& spec) noexcept { return detail::spec_arg_name(spec); }

/// Returns the buffer, parameter or user input of the output; nullptr for user outputs, losses and tokens.
[[nodiscard]] constexpr const Name* target(const OutputSpec& spec) noexcept { return detail::spec_target(spec); }

}  // namespace davit
