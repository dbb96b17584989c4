// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "davit/program/exported_program.hpp"

namespace davit {

/// How a graph input of a method reaches a delegate.
enum class InputRole : std::uint8_t {
  constant,  ///< a parameter, buffer or lifted tensor that the program never changes: known to preprocess
  state,     ///< a buffer or parameter that the program changes: passed at each call
  user,      ///< passed at each call
  token,     ///< orders effects; has no value
  object,    ///< a custom object
};

/// Returns the role of every graph input, in order. The inputs of a delegate call are those with role `state` or
/// `user`, in this order. O(n log n) for n inputs and outputs.
template <class = void>
[[nodiscard]] constexpr std::vector<InputRole> input_roles(const ExportGraphSignature& signature) {
  std::vector<std::string_view> mutated;
  for (const OutputSpec& spec : signature.output_specs)
    if (kind(spec) == OutputKind::buffer_mutation || kind(spec) == OutputKind::parameter_mutation)
      mutated.push_back(target(spec)->view());
  for (const Name& unlisted : signature.unlisted_state) mutated.push_back(unlisted.view());
  std::sort(mutated.begin(), mutated.end());
  std::vector<InputRole> roles;
  roles.reserve(signature.input_specs.size());
  for (const InputSpec& spec : signature.input_specs) {
    InputRole role = InputRole::user;
    switch (kind(spec)) {
      case InputKind::user_input: break;
      case InputKind::token: role = InputRole::token; break;
      case InputKind::custom_obj: role = InputRole::object; break;
      case InputKind::constant_tensor:
      case InputKind::parameter:
      case InputKind::buffer:
        role = std::binary_search(mutated.begin(), mutated.end(), target(spec)->view()) ? InputRole::state
                                                                                        : InputRole::constant;
    }
    roles.push_back(role);
  }
  return roles;
}

}  // namespace davit
