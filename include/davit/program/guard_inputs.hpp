// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "davit/program/exported_program.hpp"
#include "davit/program/guard.hpp"

namespace davit {

/// True if a guard can read a user input with this fixed value: an int, a float or a bool.
[[nodiscard]] constexpr bool is_guard_number(const ConstantValue& constant) noexcept {
  return std::holds_alternative<std::int64_t>(constant) || std::holds_alternative<double>(constant) ||
         std::holds_alternative<bool>(constant);
}

/// Returns the properties of a program's user inputs that guards may read, in order. The tables must have passed
/// check_tables. O(inputs).
template <class = void>
[[nodiscard]] constexpr std::vector<GuardInput> guard_inputs(const ProgramTables& program) {
  const GraphModuleView graph = program.view();
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  std::vector<GuardInput> all;
  for (std::size_t i = 0; i < program.signature.input_specs.size(); ++i) {
    const auto* user = std::get_if<UserInputSpec>(&program.signature.input_specs[i]);
    if (user == nullptr) continue;
    GuardInput input;
    if (const auto* constant = std::get_if<ConstantArgument>(&user->arg)) {
      input.is_number = is_guard_number(constant->value);
    } else if (i < inputs.size() && inputs[i].is_value()) {
      const Value& value = graph.values[inputs[i].value()];
      input.is_tensor = value.kind == ValueKind::tensor;
      input.is_number =
          value.kind == ValueKind::sym_int || value.kind == ValueKind::sym_float || value.kind == ValueKind::sym_bool;
      input.rank = input.is_tensor ? value.sizes.count : 0;
    }
    all.push_back(input);
  }
  return all;
}

/// Returns the names of a program's user inputs, in order.
template <class = void>
[[nodiscard]] constexpr std::vector<Name> guard_names(const ProgramTables& program) {
  std::vector<Name> names;
  for (const InputSpec& spec : program.signature.input_specs)
    if (std::holds_alternative<UserInputSpec>(spec)) names.push_back(arg_name(spec));
  return names;
}

}  // namespace davit
