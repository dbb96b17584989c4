// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/shared_bytes.hpp"
#include "davit/core/tensor_view.hpp"

namespace davit {

/// A tensor that shares in the ownership of its storage: a view of a mapped file, of static data, or of a heap block.
///
/// Sizes and strides are in elements. Several tensors may view one storage (tied parameters, slices).
struct Tensor {
  ScalarType dtype = ScalarType::undefined;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t storage_offset = 0;  ///< in elements
  SharedBytes storage;
  bool requires_grad = false;

  /// The view; data of a tensor without elements may be null. The tensor must outlive it.
  [[nodiscard]] TensorView view() const noexcept {
    std::byte* data = storage.writable();
    if (data != nullptr) data += static_cast<std::size_t>(storage_offset) * size_of(dtype);
    return {data, sizes.data(), strides.data(), static_cast<std::uint8_t>(sizes.size()), dtype,
            static_cast<std::uint32_t>(storage_offset)};
  }
  [[nodiscard]] constexpr std::int64_t numel() const noexcept {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d) count *= sizes[d];
    return count;
  }

  /// A zeroed contiguous tensor on the heap. Sizes must be >= 0 and their product must fit in memory.
  [[nodiscard]] static Tensor zeros(ScalarType dtype, std::span<const std::int64_t> sizes);
};

/// Bytes from the start of a storage that a tensor of these sizes and strides touches, or -1 on overflow or a
/// negative size or stride.
[[nodiscard]] constexpr std::int64_t storage_extent(std::span<const std::int64_t> sizes,
                                                    std::span<const std::int64_t> strides,
                                                    std::int64_t storage_offset, std::size_t element_size) noexcept {
  constexpr std::int64_t limit = INT64_MAX / 64;
  if (storage_offset < 0 || storage_offset > limit) return -1;
  std::int64_t last = storage_offset;
  bool empty = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || strides[d] < 0) return -1;
    if (sizes[d] == 0) empty = true;
    if (sizes[d] <= 1 || strides[d] == 0) continue;
    if (strides[d] > (limit - last) / (sizes[d] - 1)) return -1;
    last += strides[d] * (sizes[d] - 1);
  }
  if (empty) return 0;
  return (last + 1) * static_cast<std::int64_t>(element_size);
}

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/core/impl/tensor.ipp"
#endif
