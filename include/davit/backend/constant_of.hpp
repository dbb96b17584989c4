// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "davit/backend/contract.hpp"
#include "davit/backend/delegate_io.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Returns the tensor of a value that never changes between runs (a weight, a buffer that no run writes, a lifted
/// constant); nullptr for any other value.
///
/// The tensor shares the model's memory and may have any strides and offset; to keep it, a backend copies the Tensor,
/// not its elements. Such values are not inputs of execute. O(inputs log inputs + tensors of the program).
/// Source: torch._export.utils.get_param, get_buffer, get_lifted_tensor_constant.
template <class = void>
[[nodiscard]] constexpr const Tensor* constant_of(const Method& method, ValueId value) {
  const ExportedProgram& program = *method.program;
  const GraphModuleView graph = method.view();
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  const std::vector<InputRole> roles = input_roles(program.signature);
  for (std::size_t i = 0; i < inputs.size() && i < roles.size(); ++i)
    if (roles[i] == InputRole::constant && inputs[i].is_value() && inputs[i].value() == value)
      if (const Name* name = target(program.signature.input_specs[i]); name != nullptr)
        return program.tensor_named(*name);
  return nullptr;
}

}  // namespace davit
