// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"

namespace davit::testing {

/// A value of an eager run: a tensor that shares its storage with its views, or another value.
struct EagerValue {
  EValue plain{};  ///< a number or text; none for a tensor
  std::optional<Tensor> tensor{};

  [[nodiscard]] EValue value() const { return tensor ? EValue(*tensor) : plain; }
};

/// Copies a view's elements to a new storage, in the same layout.
[[nodiscard]] inline Tensor copy_of(const TensorView& view) { return keep_tensor(view); }
[[nodiscard]] inline Tensor copy_of(const Tensor& tensor) { return copy_of(tensor.view()); }
[[nodiscard]] inline EagerValue copy_of(const EagerValue& value) {
  return value.tensor ? EagerValue{.tensor = copy_of(*value.tensor)} : value;
}
[[nodiscard]] inline bool differs(const Tensor& tensor, const TensorView& view) {
  const Tensor own = copy_of(view);
  return !std::ranges::equal(tensor.storage.bytes(), own.storage.bytes());
}

}  // namespace davit::testing
