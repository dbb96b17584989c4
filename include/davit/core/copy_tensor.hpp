// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "davit/core/tensor_view.hpp"

namespace davit {

/// Copies the elements of `from` to `to`, whatever their strides. Both must have the same dtype and sizes and must not
/// overlap. O(elements); contiguous tensors are one memcpy.
void copy_tensor(const TensorView& from, const TensorView& to) noexcept;

/// The bytes a tensor's elements lie in: [begin, end), empty for a tensor without elements.
struct Footprint {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};
[[nodiscard]] Footprint footprint(const TensorView& t) noexcept;
[[nodiscard]] inline bool overlap(const Footprint& a, const Footprint& b) noexcept {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/core/impl/copy_tensor.ipp"
#endif
