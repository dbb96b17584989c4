// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/copy_tensor.hpp"
#include "davit/core/tensor.hpp"

namespace davit {

/// Returns a contiguous copy of a tensor of any strides; the copy has no storage if there is no memory. O(elements).
/// Source: torch.Tensor.contiguous.
[[nodiscard]] inline Tensor contiguous(const TensorView& view) {
  Tensor copy = Tensor::zeros(view.dtype, view.sizes());
  if (copy.storage.writable() != nullptr) copy_tensor(view, copy.view());
  return copy;
}

}  // namespace davit
