// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "davit/program/argument_spec.hpp"

namespace davit {

/// Kinds of graph inputs, with torch.export's numbers.
enum class InputKind : std::uint8_t {
  user_input = 1,
  parameter = 2,
  buffer = 3,
  constant_tensor = 4,
  custom_obj = 5,
  token = 6,
};

/// Returns the kind's name in torch.export: "USER_INPUT".
[[nodiscard]] constexpr std::string_view name_of(InputKind kind) noexcept {
  switch (kind) {
    case InputKind::user_input: return "USER_INPUT";
    case InputKind::parameter: return "PARAMETER";
    case InputKind::buffer: return "BUFFER";
    case InputKind::constant_tensor: return "CONSTANT_TENSOR";
    case InputKind::custom_obj: return "CUSTOM_OBJ";
    case InputKind::token: return "TOKEN";
  }
  return "?";
}

/// An input from the caller.
using UserInputSpec = detail::Spec<InputKind::user_input, UserArgument>;

/// An input that is the parameter `target` of the state dict.
using InputToParameterSpec = detail::TargetSpec<InputKind::parameter>;

/// An input that is the buffer `target`: of the state dict if persistent, of the constants if not.
struct InputToBufferSpec {
  static constexpr InputKind kind = InputKind::buffer;
  TensorArgument arg;
  Name target;
  bool persistent;
  constexpr InputToBufferSpec(TensorArgument a, Name t, bool p) noexcept
      : arg(std::move(a)), target(std::move(t)), persistent(p) {}
  friend constexpr bool operator==(const InputToBufferSpec&, const InputToBufferSpec&) = default;
};

/// An input that is the tensor `target` of the constants.
using InputToTensorConstantSpec = detail::TargetSpec<InputKind::constant_tensor>;

/// An input that is the object `target` of the constants.
using InputToCustomObjSpec = detail::TargetSpec<InputKind::custom_obj, CustomObjArgument>;

/// An input that orders side effects.
using InputTokenSpec = detail::Spec<InputKind::token, TokenArgument>;

/// Source of a graph input: one alternative per kind, with the members of that kind.
///
/// Source: torch.export.graph_signature.InputSpec; the alternatives follow torch._export.serde.schema.
using InputSpec = std::variant<UserInputSpec, InputToParameterSpec, InputToBufferSpec, InputToTensorConstantSpec,
                               InputToCustomObjSpec, InputTokenSpec>;

[[nodiscard]] constexpr InputKind kind(const InputSpec& spec) noexcept { return detail::spec_kind<InputKind>(spec); }

/// Returns a copy of the input's argument.
template <class = void>
[[nodiscard]] constexpr ArgumentSpec arg(const InputSpec& spec) {
  return std::visit([](const auto& s) { return detail::spec_arg(s); }, spec);
}

/// Returns the name of the input's argument.
[[nodiscard]] constexpr const Name& arg_name(const InputSpec& spec) noexcept { return detail::spec_arg_name(spec); }

/// Returns the name in the state dict or the constants; nullptr for user inputs and tokens.
[[nodiscard]] constexpr const Name* target(const InputSpec& spec) noexcept { return detail::spec_target(spec); }

/// Returns whether a buffer is persistent; nullopt for every other kind.
[[nodiscard]] constexpr std::optional<bool> persistent(const InputSpec& spec) noexcept {
  const auto* buffer = std::get_if<InputToBufferSpec>(&spec);
  return buffer ? std::optional(buffer->persistent) : std::nullopt;
}

}  // namespace davit
