// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/core/scalar_type.hpp"

namespace davit {

/// Largest rank of a tensor.
inline constexpr std::size_t max_rank = 16;

/// Wraps a negative dimension, which counts from the end; returns false if the rank has no such dimension. A tensor of
/// rank 0 has dimension 0, as in ATen. Source: c10::maybe_wrap_dim.
[[nodiscard]] constexpr bool wrap_dim(std::int64_t& dim, std::size_t rank) noexcept {
  const auto n = static_cast<std::int64_t>(rank == 0 ? 1 : rank);
  if (dim < -n || dim >= n) return false;
  if (dim < 0) dim += n;
  return true;
}

/// Returns the product of the sizes; -1 if a size is negative, or if the product of the nonzero sizes exceeds `most`:
/// then no memory can hold the tensor, and partial products may overflow. Call it on every shape of unknown origin (a
/// file, a shape from arguments) before any other code multiplies its sizes. O(rank).
[[nodiscard]] constexpr std::int64_t checked_numel(std::span<const std::int64_t> sizes,
                                                   std::int64_t most = INT64_MAX / 64) noexcept {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0 || (size > 1 && count > most / size)) return -1;
    if (size == 0) empty = true;
    if (size > 1) count *= size;
  }
  return empty ? 0 : count;
}

/// A non-owning view of a tensor: data, element type, sizes and strides (in elements, in the order of dimensions).
/// Trivially copyable. `data` points at the element with all indices zero.
struct TensorView {
  void* data = nullptr;
  const std::int64_t* sizes_data = nullptr;
  const std::int64_t* strides_data = nullptr;
  std::uint8_t rank = 0;
  ScalarType dtype = ScalarType::undefined;
  std::uint32_t storage_offset = 0;  ///< elements before `data` in its storage; 0 if unknown

  [[nodiscard]] constexpr std::span<const std::int64_t> sizes() const noexcept { return {sizes_data, rank}; }
  [[nodiscard]] constexpr std::span<const std::int64_t> strides() const noexcept { return {strides_data, rank}; }
  [[nodiscard]] constexpr std::int64_t size(std::size_t dim) const noexcept { return sizes_data[dim]; }
  [[nodiscard]] constexpr std::int64_t stride(std::size_t dim) const noexcept { return strides_data[dim]; }

  /// Number of elements; 1 for rank 0.
  [[nodiscard]] constexpr std::int64_t numel() const noexcept {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < rank; ++d) count *= sizes_data[d];
    return count;
  }
  /// Size of the elements in bytes when contiguous.
  [[nodiscard]] constexpr std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(numel()) * size_of(dtype);
  }
  /// True if the elements are in row-major order without gaps (ignoring dimensions of size 1).
  [[nodiscard]] constexpr bool is_contiguous() const noexcept {
    std::int64_t expected = 1;
    bool gaps = false;
    for (std::size_t d = rank; d-- > 0;) {
      gaps = gaps || (sizes_data[d] != 1 && strides_data[d] != expected);
      expected *= sizes_data[d];
    }
    return !gaps || expected == 0;
  }
  /// Returns the address of the element at an offset in elements (the sum of indices times strides); null if a tensor
  /// without elements has no memory.
  [[nodiscard]] std::byte* element_at(std::int64_t elements) const noexcept {
    return data == nullptr ? nullptr
                           : static_cast<std::byte*>(data) + elements * static_cast<std::int64_t>(size_of(dtype));
  }
  /// The elements as `T`; the caller has checked `dtype`.
  template <class T>
  [[nodiscard]] T* as() const noexcept {
    return static_cast<T*>(data);
  }
};

/// Fills `strides` with the row-major strides of `sizes`; a size of 0 counts as 1, as in torch.
constexpr void contiguous_strides(std::span<const std::int64_t> sizes, std::span<std::int64_t> strides) noexcept {
  std::int64_t step = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    if (sizes[d] > 1 && __builtin_mul_overflow(step, sizes[d], &step)) step = INT64_MAX;  // no such tensor exists
  }
}

/// Fills `strides` with dimension 1 innermost (channels last); row-major below three dimensions. Source:
/// c10::get_channels_last_strides_2d.
constexpr void channels_last_strides(std::span<const std::int64_t> sizes, std::span<std::int64_t> strides) noexcept {
  contiguous_strides(sizes, strides);
  if (sizes.size() < 3) return;
  for (std::size_t d = 2; d < sizes.size(); ++d)
    if (__builtin_mul_overflow(strides[d], sizes[1] > 1 ? sizes[1] : 1, &strides[d])) strides[d] = INT64_MAX;
  strides[1] = 1;
}

}  // namespace davit
