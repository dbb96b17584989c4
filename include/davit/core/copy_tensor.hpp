// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "davit/core/tensor_view.hpp"

namespace davit {

/// Copies the elements of `from` to `to`, for any strides. Both must have the same dtype and sizes and must not
/// overlap. O(elements); contiguous tensors are one memcpy.
void copy_tensor(const TensorView& from, const TensorView& to) noexcept;
/// Copies the elements if dtype and sizes agree; else returns false and copies nothing.
[[nodiscard]] bool copy_if_same(const TensorView& from, const TensorView& to) noexcept;

/// Memory range [begin, end) of a tensor's elements; empty for a tensor without elements.
struct MemoryRange {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};
[[nodiscard]] MemoryRange memory_range(const TensorView& t) noexcept;
[[nodiscard]] inline bool overlap(const MemoryRange& a, const MemoryRange& b) noexcept {
  return a.begin < b.end && b.begin < a.end;
}

/// True if two indices name the same element because a stride is 0: an expanded tensor, which must not be written in
/// place.
[[nodiscard]] inline bool repeats_elements(const TensorView& t) noexcept {
  if (t.numel() == 0) return false;
  for (std::size_t d = 0; d < t.rank; ++d)
    if (t.size(d) > 1 && t.stride(d) == 0) return true;
  return false;
}

}  // namespace davit
