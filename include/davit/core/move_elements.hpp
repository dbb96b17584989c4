// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/core/config.hpp"
#include "davit/core/tensor_view.hpp"
#include "davit/core/walk.hpp"

namespace davit {

/// Moves elements of 1, 2, 4, 8 or 16 bytes along a collapsed walk of two operands, source and target, which must not
/// overlap. O(elements). Rows that are contiguous in both are one memcpy; transposed dimensions are moved in tiles.
void move_elements(std::size_t element, const Walk& walk, const void* from, void* to) noexcept;
/// Moves elements from one tensor to another of the same sizes, for any strides (in elements).
void move_elements(std::size_t element, std::span<const std::int64_t> sizes, const void* from,
                   std::span<const std::int64_t> from_strides, void* to,
                   std::span<const std::int64_t> to_strides) noexcept;
/// Moves the elements of `from` to `to`, of the same dtype and sizes.
void move_elements(const TensorView& from, const TensorView& to) noexcept;

}  // namespace davit
