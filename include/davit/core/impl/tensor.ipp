// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/tensor.hpp"

namespace davit {

DAVIT_INLINE Tensor Tensor::zeros(ScalarType dtype, std::span<const std::int64_t> sizes) {
  Tensor tensor{.dtype = dtype, .sizes = {sizes.begin(), sizes.end()}, .strides = {}, .storage = {}};
  tensor.strides.resize(sizes.size());
  contiguous_strides(tensor.sizes, tensor.strides);
  tensor.storage = SharedBytes::allocate(static_cast<std::size_t>(tensor.numel()) * size_of(dtype));
  return tensor;
}

}  // namespace davit
