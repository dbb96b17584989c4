// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/evalue.hpp"

namespace davit {

/// The sizes and numbers of a call's inputs, the key of plans and codes.
using ShapeKey = std::vector<std::int64_t>;

/// Writes the key of a call. O(sizes).
inline void shape_key(std::span<const EValue> inputs, ShapeKey& key) {
  key.clear();
  for (const EValue& input : inputs) {
    if (input.is_int()) key.push_back(input.as_int());
    if (const TensorView* const tensor = input.tensor_if())
      key.insert(key.end(), tensor->sizes().begin(), tensor->sizes().end());
  }
}

}  // namespace davit
