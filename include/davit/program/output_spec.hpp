// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
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
using UserOutputSpec = detail::Spec<OutputKind::user_output, UserArgument>;

/// The loss of a joint forward and backward graph.
using LossOutputSpec = detail::Spec<OutputKind::loss_output, TensorArgument>;

/// The new value of the buffer `target`.
using BufferMutationSpec = detail::TargetSpec<OutputKind::buffer_mutation>;

/// The new value of the parameter `target` (newer than torch 2.6).
using ParameterMutationSpec = detail::TargetSpec<OutputKind::parameter_mutation>;

/// The gradient of the loss with respect to the parameter `target`.
using GradientToParameterSpec = detail::TargetSpec<OutputKind::gradient_to_parameter>;

/// The gradient of the loss with respect to the user input named `target`.
using GradientToUserInputSpec = detail::TargetSpec<OutputKind::gradient_to_user_input>;

/// The new value of the user input named `target`.
using UserInputMutationSpec = detail::TargetSpec<OutputKind::user_input_mutation>;

/// An output that orders side effects.
using OutputTokenSpec = detail::Spec<OutputKind::token, TokenArgument>;

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
