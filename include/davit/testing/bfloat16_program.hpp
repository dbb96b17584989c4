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

/// A contiguous float32 tensor as bfloat16, each number rounded; another tensor as it is. O(elements).
[[nodiscard]] inline Tensor as_bfloat16(Tensor tensor) {
  if (tensor.dtype != ScalarType::float32) return tensor;
  Tensor out = Tensor::zeros(ScalarType::bfloat16, tensor.sizes);
  std::ranges::transform(std::span(tensor.view().as<float>(), static_cast<std::size_t>(tensor.numel())), out.view().as<BFloat16>(), [](float x) { return BFloat16(x); });
  return out;
}

/// Makes a program of float32 one of bfloat16, as `module.to(torch.bfloat16)` does: its values, the dtypes that arguments name, and its
/// state. O(program).
inline void make_bfloat16(ProgramTables& tables) {
  for (Value& value : tables.graph_module.values)
    if (value.dtype == ScalarType::float32) value.dtype = ScalarType::bfloat16;
  for (Argument& argument : tables.graph_module.arguments)
    if (argument.kind == ArgumentKind::scalar_type && argument.payload == static_cast<std::int64_t>(ScalarType::float32))
      argument.payload = static_cast<std::int64_t>(ScalarType::bfloat16);
  for (std::vector<NamedTensor>* list : {&tables.state_dict, &tables.constants})
    for (NamedTensor& entry : *list) entry.tensor = as_bfloat16(std::move(entry.tensor));
}

}  // namespace davit::testing
