// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/core/scalar_type.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::testing {

/// Rounds a contiguous float32 tensor to a 16-bit dtype; returns other tensors unchanged. `dtype`: bfloat16, float16,
/// or float32, which rounds nothing. O(elements).
[[nodiscard]] inline Tensor as_reduced(Tensor tensor, ScalarType dtype) {
  if (tensor.dtype != ScalarType::float32 || dtype == ScalarType::float32) return tensor;
  Tensor out = Tensor::zeros(dtype, tensor.sizes);
  const std::span numbers(tensor.view().as<float>(), static_cast<std::size_t>(tensor.numel()));
  if (dtype == ScalarType::bfloat16)
    std::ranges::transform(numbers, out.view().as<BFloat16>(), [](float x) { return BFloat16(x); });
  else
    std::ranges::transform(numbers, out.view().as<Half>(), [](float x) { return Half(x); });
  return out;
}

/// Converts a float32 program to that dtype, as `module.to(torch.bfloat16)` does: values, dtype arguments and state.
/// O(program).
inline void make_reduced(ProgramTables& tables, ScalarType dtype) {
  for (Value& value : tables.graph_module.values)
    if (value.dtype == ScalarType::float32) value.dtype = dtype;
  for (Argument& argument : tables.graph_module.arguments)
    if (argument.kind == ArgumentKind::scalar_type &&
        argument.payload == static_cast<std::int64_t>(ScalarType::float32))
      argument.payload = static_cast<std::int64_t>(dtype);
  for (std::vector<NamedTensor>* list : {&tables.state_dict, &tables.constants})
    for (NamedTensor& entry : *list) entry.tensor = as_reduced(std::move(entry.tensor), dtype);
}

}  // namespace davit::testing
